// The figures of a detector over cases: who was flagged, with which tool first, and how long it took.
import type { TenantConfiguration } from '../../config/configuration.js';
import type { Detector } from '../../activities/detection/detector.js';
import { createLexicalDetector } from '../../activities/detection/lexical-detector.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import type { Item } from './data.js';

export interface Scored {
  item: Item;
  /** The best candidate's score, whatever the threshold; 0 when no tool is touched. */
  score: number;
  /** The candidates that would be offered, best first. */
  tools: string[];
}

/** Detects with a threshold that everything passes, so that one run serves every threshold. */
export function createOpenDetector(
  configuration: TenantConfiguration,
  tools: readonly ToolDefinition[],
): Detector {
  const detection = { ...configuration.detection, threshold: Number.MIN_VALUE };
  return createLexicalDetector({ ...configuration, detection }, tools);
}

export function scoreItems(detector: Detector, items: readonly Item[]): Scored[] {
  return items.map((item) => {
    const { candidates } = detector.detect({ text: item.message, recentTools: [] });
    return { item, score: candidates[0]?.score ?? 0, tools: candidates.map(({ tool }) => tool) };
  });
}

export function share<T>(all: readonly T[], is: (one: T) => boolean): number {
  return all.length === 0 ? 0 : all.filter(is).length / all.length;
}

/** The lowest threshold at which at most this share of the chat items is flagged. */
export function thresholdFor(chat: readonly Scored[], falseFlags: number): number {
  const scores = chat.map(({ score }) => score).sort((one, other) => other - one);
  const next = scores[Math.floor(scores.length * falseFlags)] ?? 0;
  return next + 1e-9;
}

/** Share of the items whose right tool stands among the first candidates, flagged or not. */
export function rightAt(scored: readonly Scored[], places: number): number {
  return share(scored, ({ item, tools }) => item.tools.some((tool) => tools.slice(0, places).includes(tool)));
}

/** Median and slowest twentieth of one detection, in milliseconds. */
export function timePerMessage(
  detector: Detector,
  items: readonly Item[],
): { medianMs: number; p95Ms: number } {
  const times = items
    .map(({ message }) => {
      const start = performance.now();
      detector.detect({ text: message, recentTools: [] });
      return performance.now() - start;
    })
    .sort((one, other) => one - other);
  return {
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    p95Ms: times[Math.floor(times.length * 0.95)] ?? 0,
  };
}

/** Sorted by key. */
export function groupsOf<T>(all: readonly T[], keyOf: (one: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}
