// The switch that stops every effect, whatever was approved: nothing that changes anything is started while it is off.
import { Argument, type Command } from 'commander';
import {
  effectsState,
  switchEffects,
  type EffectsState,
  type EffectsSwitch,
} from '../../../prisma/stores/switches.js';
import type { CliDeps } from '../deps.js';
import { ago } from '../output.js';

export function addSwitchCommands(program: Command, deps: CliDeps): void {
  const switches = program
    .command('switch')
    .description('stop every effect at once, and let them go on')
    .helpCommand(false);
  switches
    .command('show')
    .description('whether effects are on, and who switched them')
    .action(() => show(deps));
  switches
    .command('effects')
    .description('off: no booking, no message of a tool, no change is started any more; on: they go on')
    .addArgument(new Argument('<state>').choices(['on', 'off']))
    .requiredOption('--as <owner>', 'the id of the owner who switches')
    .action((to: EffectsSwitch, options: { as: string }) => switchTo(deps, to, options));
}

async function show(deps: CliDeps): Promise<void> {
  const state = await deps.inScope(effectsState);
  deps.output.answer({ effects: state }, (print) => print.line(inWords(state)));
}

async function switchTo(deps: CliDeps, to: EffectsSwitch, options: { as: string }): Promise<void> {
  const by = `owner:${deps.owner(options.as)}`;
  const { changed } = await deps.inScope((scope) => switchEffects(scope, { to, by }));
  deps.output.answer({ effects: to, changed }, (print) => {
    print.line(changed ? `Effects are ${to} now.` : `Effects were ${to} already.`);
  });
}

function inWords({ value, changedBy, changedAt }: EffectsState): string {
  const since = changedAt ? `, switched ${ago(changedAt, new Date())} by ${changedBy ?? 'nobody'}` : '';
  return `Effects are ${value}${since}.`;
}
