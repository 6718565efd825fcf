/** What a history's page is made from: tracker lines, and change points when they are given. */
import { resolve } from 'node:path';
import * as v from 'valibot';
import type { NodeType } from '../../schemas/analysis.ts';
import { historyLine, type HistoryLine } from '../../schemas/tracker.ts';
import { failed } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { runName } from '../../shared/history-words.ts';
import { nodeTypeName } from '../../shared/node-type.ts';
import { readText } from '../../shared/read.ts';
import { referenceKey } from '../../shared/verdict.ts';
import type { World } from '../../shared/world.ts';
import { type FoundChange, readChanges } from './changes-file.ts';
import { historyPage, MOST_RUNS } from './history-page.ts';
import type { HistoryPoint, HistorySeries } from './payload.ts';
import type { PagePlan } from './page-plan.ts';

const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Every metric with a candidate's and a reference's value above 0, exact where the line has exact values. */
const pairsOf = (line: HistoryLine): HistoryPoint['values'] => {
  const values = { ...line.values, ...object(object(line['more'])['values']) };
  return Object.fromEntries(
    Object.keys(values).flatMap((key) => {
      const [own, base] = [asNumber(values[key]), asNumber(values[referenceKey(key)])];
      return own !== undefined && base !== undefined && own > 0 && base > 0 ? [[key, [own, base]]] : [];
    }),
  );
};

const commitOf = (line: HistoryLine): string => {
  const identities = object(object(line['more'])['identities']);
  const own = object(identities[String(object(line['more'])['candidate'])])['commit'];
  return [own, line['core']].find((one): one is string => typeof one === 'string' && one !== '') ?? '';
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The kind of machine, in the tracker's words. */
const nodeTypeOf = (line: HistoryLine): string => {
  const type = object(object(line['more'])['nodeType']);
  return type['cpuModel'] === undefined ? '' : nodeTypeName(type as NodeType);
};

/** Lines that are no lines of a history are left out and counted. */
const linesOf = (text: string): { lines: HistoryLine[]; broken: number } => {
  const lines: HistoryLine[] = [];
  let broken = 0;
  for (const one of text.split('\n')) {
    if (one.trim() === '') continue;
    try {
      lines.push(v.parse(historyLine, JSON.parse(one)));
    } catch {
      broken++;
    }
  }
  return { lines, broken };
};

/** Runs of this purpose make a history; others of its commits are measured on the side (DESIGN §5). */
const MAIN = 'main';

const purposeOf = (line: HistoryLine): string => textOf(object(line['more'])['purpose']);

/** Where a history has runs of purpose `main`, these alone: runs for a pull request or to bisect come at other times. */
const ofMain = (lines: readonly HistoryLine[]): readonly HistoryLine[] => {
  const main = lines.filter((one) => purposeOf(one) === MAIN);
  return main.length > 0 ? main : lines;
};

/** The lines by rule, size and kind of machine, oldest first, each run by its newest line. */
const seriesOfHistory = (
  lines: readonly HistoryLine[],
  changes: readonly FoundChange[],
): { series: HistorySeries[]; left: number; others: number } => {
  const groups = new Map<string, Map<string, HistoryLine>>();
  for (const line of lines) {
    const key = JSON.stringify([line.rule, line.turns, nodeTypeOf(line)]);
    const runs = groups.get(key) ?? new Map<string, HistoryLine>();
    groups.set(key, runs);
    const before = runs.get(runName(line.run));
    if (!before || line.at >= before.at) runs.set(runName(line.run), line);
  }
  let [left, others] = [0, 0];
  const series = [...groups.values()].map((runs): HistorySeries => {
    const all = [...runs.values()];
    const ordered = ofMain(all).toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
    others += all.length - ordered.length;
    left += Math.max(0, ordered.length - MOST_RUNS);
    const [{ rule, turns }] = ordered as [HistoryLine];
    const nodeType = nodeTypeOf(ordered[0]!);
    const isOfProcesses = object(ordered.at(-1)!['more'])['counted'] === 'processes';
    return {
      rule,
      turns,
      ...(isOfProcesses ? { counted: 'processes' } : {}),
      ...(ordered.at(-1)!['origin'] === 'imported' ? { origin: 'imported' } : {}),
      nodeType,
      points: ordered.slice(-MOST_RUNS).map((line) => ({
        at: line.at,
        run: runName(line.run),
        commit: commitOf(line),
        purpose: purposeOf(line),
        values: pairsOf(line),
      })),
      changes: changes.filter((one) => one.rule === rule && one.turns === turns && one.nodeType === nodeType),
    };
  });
  return { series, left, others };
};

export const historyPlan = (track: string, changes: string | undefined, world: World): PagePlan => {
  const text = readText(resolve(world.cwd, track), track);
  const given = changes === undefined ? undefined : readText(resolve(world.cwd, changes), changes);
  const out = `${track.replace(/\.jsonl$/, '')}.html`;
  return {
    inputs: { track: sha256(text), ...(given === undefined ? {} : { changes: sha256(given) }) },
    out,
    printed: out,
    async make() {
      const { lines, broken } = linesOf(text);
      if (lines.length === 0)
        throw failed(
          `'${track}' has no line of a history${broken > 0 ? `; ${broken} lines are something else` : ''}; 'k8sbench tracker append' writes them`,
        );
      const found = given === undefined ? [] : readChanges(given, changes!);
      return historyPage(track, { ...seriesOfHistory(lines, found), broken, changes: given !== undefined });
    },
  };
};
