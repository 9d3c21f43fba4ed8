// The audit from the command line: computed again, and exported line by line.
import { InvalidArgumentError, type Command } from 'commander';
import { startOfTail, type AuditRange } from '../../../prisma/stores/audit.js';
import { exportAudit } from '../../../prisma/stores/audit-export.js';
import { verifyAudit, type AuditReport } from '../../../prisma/stores/audit-verification.js';
import { readCount, readTime } from '../arguments.js';
import type { CliDeps } from '../deps.js';
import { ago, type Print } from '../output.js';
import { CommandProblem } from '../problem.js';

export function addAuditCommands(program: Command, deps: CliDeps): void {
  const audit = program
    .command('audit')
    .description('the record of everything that was done and decided')
    .helpCommand(false);
  audit
    .command('verify')
    .description('computes every line again, and names the first wrong one of each stream')
    .option(
      '--root <hex>',
      'the root of an anchor that was written down earlier: it has to be there',
      readRoot,
    )
    .action((options: { root?: string }) => verify(deps, options));
  audit
    .command('export')
    .description('prints the lines as JSON Lines, in the order of time')
    .option('--from <time>', 'a date or time (ISO 8601, in the time zone of the business), included')
    .option('--to <time>', 'a date or time, not included')
    .option('--stream <name>', '“tenant”, or the id of a chat')
    .option('--tail <n>', 'only the last n', readCount)
    .option('--follow', 'goes on with what is written, until Ctrl-C')
    .action((options: ExportOptions) => exportLines(deps, options));
}

function readRoot(text: string): string {
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new InvalidArgumentError('64 hexadecimal digits, as verify prints them.');
  return text.toLowerCase();
}

async function verify(deps: CliDeps, { root }: { root?: string }): Promise<void> {
  const report = await verifyAudit(deps.database(), { tenantId: await deps.tenantId(), knownRoot: root });
  const problems = report.findings.length + report.anchors.findings.length + report.unguarded.length;
  deps.output.answer({ ok: problems === 0, ...report }, (print) => printReport(print, report));
  if (problems > 0) {
    throw new CommandProblem(
      `The audit is not what was written: ${problems} ${problems === 1 ? 'finding' : 'findings'}.`,
    );
  }
}

function printReport(print: Print, { streams, rows, findings, anchors, unguarded }: AuditReport): void {
  const [inStreams, inAnchors] = [counted(streams, 'stream'), counted(anchors.count, 'anchor')];
  print.line(`${counted(rows, 'line')} in ${inStreams} and ${inAnchors} computed again.`);
  if (anchors.newest) {
    const { number, root, anchoredAt } = anchors.newest;
    print.line(`Anchor ${number}, ${ago(anchoredAt, new Date())}: ${root}`);
  }
  if (findings.length > 0) {
    print.line();
    print.table(
      ['STREAM', 'LINE', 'FINDING', 'WHAT'],
      findings.map(({ stream, number, kind, what }) => [stream, number, kind, what]),
    );
  }
  if (anchors.findings.length > 0) {
    print.line();
    print.table(
      ['ANCHOR', 'WHAT'],
      anchors.findings.map(({ anchor, what }) => [anchor ?? 'all', what]),
    );
  }
  for (const table of unguarded)
    print.line(`Nothing keeps rows of ${table} from being changed: its triggers are off.`);
  if (findings.length + anchors.findings.length + unguarded.length === 0)
    print.line('All of it is as it was written.');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

interface ExportOptions {
  from?: string;
  to?: string;
  stream?: string;
  tail?: number;
  follow?: true;
}

async function exportLines(deps: CliDeps, options: ExportOptions): Promise<void> {
  const tenantId = await deps.tenantId();
  const { tail, follow, stream } = options;
  const range: AuditRange = {
    from: timeOf(deps, '--from', options.from),
    to: timeOf(deps, '--to', options.to),
    stream,
  };
  if (follow && range.to) throw new CommandProblem('--follow has no end: leave --to away.');
  const source = { database: deps.database(), tenantId };
  const start =
    tail === undefined ? undefined : await deps.inTenant((tx) => startOfTail(tx, { count: tail, ...range }));
  if (tail !== undefined && !start && !follow) return;
  for await (const line of exportAudit(source, { ...range, start, follow })) {
    await deps.output.write(line);
  }
}

function timeOf(deps: CliDeps, option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text, deps.configuration().business.timeZone);
  if (!time)
    throw new CommandProblem(
      `${option}: “${text}” is no date or time such as 2026-12-01 or 2026-12-01T10:30.`,
    );
  return time;
}
