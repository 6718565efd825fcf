/** The series of a track file, as `changes` and `bisect` read them. */
import { dirname, join, resolve } from 'node:path';
import { changePoints, type Change } from '../../shared/evidence/changes.ts';
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { openRun } from '../../shared/rundir.ts';
import { readAnalysis } from '../../shared/run-results.ts';
import { sayBroken } from './broken-lines.ts';
import { commitsHere, type Commits, inOrder, type Ordered } from './commit-order.ts';
import { readable } from './counted-entries.ts';
import { type Entry, LineReader, readHistory } from './history.ts';
import { type Placed, seriesOf } from './series.ts';
import { linesText } from './show.ts';
import type { TrackerCall } from './call.ts';

export interface ReadSeries {
  track: string;
  series: Ordered[];
  commits: Commits | undefined;
}

/** Which file, and which of its lines: those of a run's rules and sizes, or those that the flags name. */
const wantedOf = async ({ flags, world }: TrackerCall) => {
  const named = (one: { rule: string; turns: number }): boolean =>
    (flags.rule === undefined || one.rule === flags.rule) &&
    (flags.turns === undefined || one.turns === flags.turns);
  if (flags.run === undefined) {
    const track = flags.track ?? 'out/track.jsonl';
    return { track, path: resolve(world.cwd, track), wanted: named };
  }
  const run = await openRun(flags.run, world);
  const { comparisons } = await readAnalysis(run);
  return {
    track: flags.track ?? join(dirname(run.shown), 'track.jsonl'),
    path: resolve(world.cwd, flags.track ?? join(dirname(run.path), 'track.jsonl')),
    wanted: (one: { rule: string; turns: number }): boolean =>
      named(one) && comparisons.some(({ rule, turns }) => rule === one.rule && turns === one.turns),
  };
};

/** Reads the history and says what of it does not count; `another` says how lines of other purposes are asked for. */
export const readSeries = async (
  call: TrackerCall,
  purposes: readonly string[],
  another = "; '--purpose' here asks for another",
): Promise<ReadSeries> => {
  const { flags, world, talk } = call;
  const { track, path, wanted } = await wantedOf(call);
  const history = readHistory(path, track, wanted);
  const reader = new LineReader();
  const read = new Map<Entry, Placed>();
  const { shown, broken } = readable(history, Number.POSITIVE_INFINITY, reader, (entry, line) =>
    read.set(entry, { line, run: entry.run, at: entry.at }),
  );
  const lines = shown.map((entry) => read.get(entry)!);
  reader.close();
  sayBroken([...history.broken, ...broken], talk);
  const found = seriesOf(lines, purposes, flags.metric);
  if (found.plain > 0)
    talk.info(
      `${linesText(found.plain)} without exact values left out: written by another program, or an older one`,
    );
  if (found.others > 0)
    talk.info(
      `${linesText(found.others)} of other purposes than ${purposes.join(' and ')} left out; 'tracker append --purpose' names it${another}`,
    );
  const commits = found.series.length > 0 ? commitsHere(world) : undefined;
  const series = found.series.map((one) => inOrder(one, commits));
  const byTime = series.filter((one) => one.order === 'time');
  if (commits && byTime.length > 0)
    talk.info(
      `${byTime.length} of ${series.length} histories with commits that this repository doesn't have: read in the order of time`,
    );
  return { track, series, commits };
};

/** The change points of each history; one error in twenty is allowed for all of them together. */
export const changesIn = (series: readonly Ordered[]): (readonly [Ordered, Change[]])[] =>
  series.map((one) => [
    one,
    changePoints(
      one.points.map(({ value }) => value),
      { level: DEFAULTS.level / series.length, seed: DEFAULTS.seed },
    ),
  ]);

/** First digits of a commit; `-dirty` stays. */
export const shortCommit = (commit: string): string => commit.replace(/^([0-9a-f]{10})[0-9a-f]*/, '$1');
