/** `tracker changes`: where a history changed, and by how much. */
import type { Change as ChangeLine } from '../../schemas/changes.ts';
import { EXIT } from '../../shared/exit.ts';
import { stepText } from '../../shared/history-words.ts';
import { pShown } from '../../shared/p-value.ts';
import { sizeHead } from '../../shared/sizes.ts';
import { table } from '../../shared/terminal.ts';
import type { Ordered } from './commit-order.ts';
import { changesIn, readSeries, shortCommit } from './read-series.ts';
import type { Change } from '../../shared/evidence/changes.ts';
import type { TrackerVerb } from './call.ts';

/** Runs of this purpose make the history (DESIGN §5). */
const MAIN = 'main';

const lineOf = (
  { points, rule, turns, counted, metric, nodeType, order }: Ordered,
  found: Change,
): ChangeLine => {
  const beside = (at: number, value: number) => {
    const { run, commit, at: time } = points[at]!;
    return { run, commit, at: new Date(time).toISOString(), ratio: Math.exp(value) };
  };
  return {
    format: 'change/1',
    rule,
    turns,
    ...(counted === undefined ? {} : { counted }),
    metric,
    nodeType,
    order,
    before: beside(found.at - 1, found.before),
    after: beside(found.at, found.after),
    step: Math.exp(found.after - found.before),
    p: found.p,
    runs: points.length,
  };
};

const rowOf = (one: ChangeLine): string[] => [
  one.rule,
  String(one.turns),
  one.metric,
  one.before.ratio.toFixed(3),
  one.after.ratio.toFixed(3),
  stepText(one.step),
  shortCommit(one.before.commit) || one.before.run,
  shortCommit(one.after.commit) || one.after.run,
  one.after.at.slice(0, 10),
  pShown(one.p),
  one.nodeType,
];

const headOf = (lines: readonly ChangeLine[]): string[] => [
  'rule',
  sizeHead(lines),
  'metric',
  'ratio before',
  'after',
  'step',
  'last before',
  'first after',
  'on',
  'p',
  'node type',
];

/** The table; the node type only where histories of several are looked at. */
const tableOf = (lines: readonly ChangeLine[], nodeTypes: number): string =>
  table(
    [headOf(lines), ...lines.map(rowOf)].map((row) => row.slice(0, nodeTypes > 1 ? undefined : -1)),
    [1, 3, 4, 5, 9],
  );

export const changes: TrackerVerb = {
  about: 'finds where candidate/reference ratios changed, with the commits on either side',
  flags: ['run', 'track', 'purpose', 'rule', 'turns', 'metric', 'within', 'fail-on', 'json'],
  async run(call) {
    const { flags, world, talk } = call;
    const purpose = flags.purpose ?? MAIN;
    const { track, series } = await readSeries(call, [purpose]);
    const recent = flags.within ?? Infinity;
    const lines = changesIn(series).flatMap(([one, found]) =>
      found.filter(({ at }) => at >= one.points.length - recent).map((change) => lineOf(one, change)),
    );
    if (flags.json) await world.stdout.write(lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
    else if (lines.length > 0)
      await world.stdout.write(tableOf(lines, new Set(series.map((one) => one.nodeType)).size));
    const runs = Math.max(0, ...series.map((one) => one.points.length));
    if (series.length === 0) talk.info(`'${track}' has no run of purpose '${purpose}' with exact values`);
    else if (lines.length === 0)
      talk.info(
        `no change ${runs > recent ? `within the newest ${recent} runs of` : 'in'} ${series.length} ${series.length === 1 ? 'history' : 'histories'} of up to ${runs} ${runs === 1 ? 'run' : 'runs'}` +
          (runs < 6 ? '; six are the fewest that can show one' : ''),
      );
    return lines.length > 0 && flags['fail-on'] === 'change' ? EXIT.judgedBad : EXIT.done;
  },
};
