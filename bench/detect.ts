// npm run bench:detect -- --data DIR [--json FILE]
// How often the detector flags what it must not, finds what it should, and how long it takes. Exits 0 only if at most 1 %
// of the chat items are flagged with the sample catalogue; the rest is printed and promised nowhere.
import { writeFileSync } from 'node:fs';
import cliProgress from 'cli-progress';
import { Command } from 'commander';
import { loadConfiguration } from '../config/load.js';
import type { ToolDefinition } from '../workflows/domain/tool.js';
import { readDetectionData, type DetectionData } from './detection/data.js';
import { createReport } from './detection/report.js';
import {
  createOpenDetector,
  groupsOf,
  rightAt,
  scoreItems,
  share,
  thresholdFor,
  timePerMessage,
  type Scored,
} from './detection/measure.js';

const PROMISED_FALSE_FLAGS = 0.01;
const SAMPLE = 'sample';
const SIZES = [12, 50, 500, 2800];

const options = new Command()
  .description('Measures the detector over a folder of cases.')
  .requiredOption('--data <dir>', 'folder with *.jsonl and catalogs/')
  .option('--json <file>', 'also write the figures to this file')
  .option('--config <dir>', 'configuration directory', 'config')
  .option('--tenant <slug>', 'the tenant whose catalogue and settings are measured; the first by default')
  .option('--list <count>', 'print so many false flags', '0')
  .parse()
  .opts<{ data: string; json?: string; config: string; tenant?: string; list: string }>();

const { tenants } = loadConfiguration({ directory: options.config });
const configuration = options.tenant === undefined ? [...tenants.values()][0] : tenants.get(options.tenant);
if (!configuration) throw new Error(`there is no tenant "${options.tenant}"`);
const { threshold } = configuration.detection;
const data = readDetectionData(options.data);
const catalogues = new Map<string, ToolDefinition[]>([
  [SAMPLE, configuration.tools.filter((tool) => tool.enabled)],
  ...data.catalogues,
]);
const report = createReport();

const steps = catalogues.size * 3 + SIZES.length;
const bar = new cliProgress.SingleBar({ stream: process.stderr, format: '{bar} {value}/{total} {what}' });
bar.start(steps, 0, { what: '' });
const chatScores = new Map<string, Scored[]>();
for (const [name, tools] of catalogues) {
  chatScores.set(name, chatOf(data, tools));
  bar.increment({ what: `chat × ${name}` });
}
reportChat();
for (const [name, tools] of data.catalogues) {
  reportTools(name, tools, '');
  bar.increment({ what: `tools × ${name}` });
  if (!tools.some((tool) => tool.examples.length > 0)) continue;
  reportTools(
    name,
    tools.map((tool) => ({ ...tool, examples: [] })),
    '_without_examples',
  );
  bar.increment({ what: `tools × ${name} without examples` });
}
for (const size of SIZES) {
  reportSize(size);
  bar.increment({ what: `${size} tools` });
}
bar.stop();

report.print();
if (options.json !== undefined) report.write((text) => writeFileSync(options.json ?? '', text));
listFalseFlags(Number(options.list));
const kept = report.figure('false_flags_sample') <= PROMISED_FALSE_FLAGS;
console.log(
  `\nfalse flags with the sample catalogue ≤ ${PROMISED_FALSE_FLAGS * 100} %: ${kept ? 'kept' : 'BROKEN'}`,
);
process.exitCode = kept ? 0 : 1;

/** Chat items without history that must stay chat with any catalogue. */
function chatOf({ items }: DetectionData, tools: readonly ToolDefinition[]): Scored[] {
  const chat = items.filter(
    ({ label, catalog, history, soft }) =>
      label === 'chat' && history.length === 0 && (catalog === '*' || soft === true),
  );
  return scoreItems(createOpenDetector(configurationOrThrow(), tools), chat);
}

function reportChat(): void {
  for (const [name, scored] of chatScores) {
    const hard = scored.filter(({ item }) => item.soft !== true);
    const soft = scored.filter(({ item }) => item.soft === true);
    report.add(`false_flags_${name}`, share(hard, isFlagged), hard.length);
    report.add(`false_flags_${name}_soft`, share(soft, isFlagged), soft.length);
    if (name !== SAMPLE) continue;
    for (const [language, group] of groupsOf(hard, ({ item }) => item.lang)) {
      report.add(`false_flags_${name}_lang_${language}`, share(group, isFlagged), group.length);
    }
    for (const [source, group] of groupsOf(hard, ({ item }) => `${item.source}_${item.lang}`)) {
      report.add(`false_flags_${name}_source_${source}`, share(group, isFlagged), group.length);
    }
  }
}

function reportTools(name: string, tools: readonly ToolDefinition[], suffix: string): void {
  const detector = createOpenDetector(configurationOrThrow(), tools);
  const here = data.items.filter(({ catalog, soft }) => catalog === name && soft !== true);
  const scored = scoreItems(
    detector,
    here.filter(({ label }) => label === 'tool'),
  );
  const chat = chatOf(data, tools).filter(({ item }) => item.soft !== true);
  const none = scoreItems(
    detector,
    here.filter(({ sub }) => sub === 'no_tool_in_catalog'),
  );
  const [atOne, atFive] = [thresholdFor(chat, 0.01), thresholdFor(chat, 0.05)];
  const key = `${name}${suffix}`;
  if (suffix !== '') report.add(`false_flags_${key}`, share(chat, isFlagged), chat.length);
  if (none.length > 0) report.add(`no_tool_in_catalog_${key}`, share(none, isFlagged), none.length);
  if (scored.length === 0) return;
  report.add(`recall_${key}`, share(scored, isFlagged), scored.length);
  report.add(
    `recall_at_1_percent_${key}`,
    share(scored, ({ score }) => score >= atOne),
    scored.length,
  );
  report.add(
    `recall_at_5_percent_${key}`,
    share(scored, ({ score }) => score >= atFive),
    scored.length,
  );
  report.add(`right_tool_top_1_${key}`, rightAt(scored, 1), scored.length);
  report.add(`right_tool_top_5_${key}`, rightAt(scored, 5), scored.length);
  for (const [language, group] of groupsOf(scored, ({ item }) => item.lang)) {
    report.add(`recall_${key}_lang_${language}`, share(group, isFlagged), group.length);
  }
}

/** The sample catalogue grown by foreign tools: false flags and time. */
function reportSize(size: number): void {
  const own = catalogues.get(SAMPLE) ?? [];
  const tools = [...own, ...data.distractors.slice(0, Math.max(0, size - own.length))];
  if (tools.length < size && size !== SIZES[0]) return;
  const scored = chatOf(data, tools).filter(({ item }) => item.soft !== true);
  report.add(`false_flags_${size}_tools`, share(scored, isFlagged), scored.length);
  const detector = createOpenDetector(configurationOrThrow(), tools);
  const { medianMs, p95Ms } = timePerMessage(detector, data.items);
  report.add(`ms_per_message_${size}_tools`, medianMs, data.items.length);
  report.add(`ms_per_message_p95_${size}_tools`, p95Ms, data.items.length);
}

function listFalseFlags(count: number): void {
  const flagged = (chatScores.get(SAMPLE) ?? []).filter(isFlagged);
  for (const { item, score, tools } of flagged.slice(0, count)) {
    console.log(`${score.toFixed(2)} ${tools[0]} ${item.source} ${item.lang}: ${item.message.slice(0, 160)}`);
  }
}

function isFlagged({ score }: Scored): boolean {
  return score >= threshold;
}

function configurationOrThrow(): NonNullable<typeof configuration> {
  if (!configuration) throw new Error('there is no configuration');
  return configuration;
}
