/** `tracker append`: a judged run's lines, one per size and candidate, at the end of the history. */
import { dirname, join, resolve } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import { run as runSchema } from '../../schemas/run.ts';
import { trackerLine } from '../../schemas/tracker.ts';
import { appendUnderLock, type Repair } from '../../shared/append.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { runName } from '../../shared/history-words.ts';
import { problemsOf } from '../../shared/read.ts';
import { openRun, type RunDirectory } from '../../shared/rundir.ts';
import { invalidity, readAnalysis } from '../../shared/run-results.ts';
import type { Talk } from '../../shared/talk.ts';
import { atSize } from '../../shared/sizes.ts';
import { plainJson } from '../../shared/terminal.ts';
import { referenceKey } from '../../shared/verdict.ts';
import { matchBaselines, readBaseline } from './baselines.ts';
import { sayBroken } from './broken-lines.ts';
import { clockWarning } from './clock.ts';
import { type History, readHistory } from './history.ts';
import { type Identity, isOther, Rolling } from './rolling.ts';
import { trackLineOf } from './track-line.ts';
import type { TrackerVerb } from './call.ts';

/** The run's analysis, when it may have tracker lines. */
const judgedAnalysis = async (run: RunDirectory): Promise<Analysis> => {
  const analysis = await readAnalysis(run).catch((error: unknown) => {
    // One that was invalid before it had a log was never analyzed.
    const invalid = invalidity(run);
    if (invalid === undefined) throw error;
    throw new Failure(EXIT.invalid, `'${run.shown}' gets no tracker line, it must not be judged: ${invalid}`);
  });
  if (analysis.mode === 'calibrate')
    throw usage(
      `'${run.shown}' is a calibration: it has no tracker line, 'tracker append' takes comparisons`,
    );
  if (!analysis.judged)
    throw new Failure(analysis.exit === EXIT.done ? EXIT.notJudged : analysis.exit, [
      `'${run.shown}' was not judged, so it gets no tracker line`,
      ...analysis.reasons,
      ...analysis.advice.map((one) => `what to do: ${one}`),
    ]);
  return analysis;
};

/** What the plan says of the run: its purpose, and whether its parent has the only tracker line. */
const plannedPurpose = (run: RunDirectory): string | undefined => {
  if (!run.has('run.json')) return undefined;
  const { parent, purpose } = run.json('run.json', runSchema);
  if (parent !== undefined)
    throw usage(
      `'${run.shown}' is one session of '${parent}', which has the only tracker line; append that one`,
    );
  return purpose;
};

const sayRepair = (repair: Repair | undefined, track: string, talk: Talk): void => {
  if (repair?.kind === 'ended')
    talk.warn(`'${track}' ended without a newline; its last line is whole and now ends`);
  if (repair?.kind === 'torn')
    talk.warn(
      `'${track}' ended in a line torn by a crash; its ${repair.bytes} bytes are in '${repair.side}' now, out of the history`,
    );
};

/** Runs of the rolling window with another reference than this run's. */
const others = ({ references }: Rolling, own: Identity = {}): number =>
  references.filter((one) => isOther(one, own)).length;

export const append: TrackerVerb = {
  about: "appends a judged run's lines to the history and prints them",
  flags: ['run', 'track', 'baseline', 'history', 'purpose'],
  async run({ flags, world, talk }) {
    const run = await openRun(flags.run, world);
    const planned = plannedPurpose(run);
    const purpose = flags.purpose ?? planned;
    const analysis = await judgedAnalysis(run);
    const rules = [...new Set(analysis.comparisons.map((one) => one.rule))];
    const baselines = matchBaselines(
      flags.baseline.flat().map((one) => readBaseline(one, world)),
      rules,
    );
    const track = flags.track ?? join(dirname(run.shown), 'track.jsonl');
    const path = resolve(world.cwd, flags.track ?? join(dirname(run.path), 'track.jsonl'));
    const given = flags.history.length > 0 ? flags.history : [track];
    const wanted = new Set(analysis.comparisons.map((one) => `${one.rule}\n${one.turns}`));
    const broken: string[] = [];
    const doubts = new Set<string>();
    let lines = '';
    let clock: string | undefined;
    const repair = appendUnderLock(path, () => {
      // Under the lock, so that lines stand in the order of their times.
      const now = world.now();
      const at = new Date(now).toISOString();
      const histories: History[] = given.map((shown) => {
        const place = shown === track ? path : resolve(world.cwd, shown);
        return readHistory(place, shown, (one) => wanted.has(`${one.rule}\n${one.turns}`), shown === track);
      });
      broken.push(...histories.flatMap((one) => one.broken));
      clock = clockWarning(histories, runName(analysis.run), now);
      for (const comparison of analysis.comparisons) {
        const rolling = new Rolling(histories, comparison.rule, comparison.turns, runName(analysis.run));
        rolling.prepare(Object.keys(comparison.verdicts).map(referenceKey));
        const line = trackLineOf(analysis, comparison, {
          at,
          baseline: baselines.get(comparison.rule),
          rolling: (key, own) => rolling.median(key, own),
          purpose,
          otherReferences: others(rolling, analysis.identities[comparison.reference]),
        });
        for (const { name, sentence } of line.more?.doubts ?? [])
          doubts.add(
            `doubt '${name}': ${comparison.rule} ${atSize(comparison.turns, analysis)}: ${sentence}`,
          );
        broken.push(...rolling.broken);
        // What was appended stays for years: an analysis that doesn't fit together ends here.
        const unfit = problemsOf(trackerLine, { value: line }, `${run.shown}/analysis.json`);
        if (unfit.length > 0)
          throw failed([...unfit, `'k8sbench analyze --run ${run.shown} --force' makes it anew`]);
        lines += `${plainJson(JSON.stringify(line))}\n`;
      }
      return lines;
    });
    sayRepair(repair, track, talk);
    sayBroken([...new Set(broken)], talk);
    if (clock !== undefined) talk.warn(clock);
    for (const one of doubts) talk.warn(one);
    if (lines === '')
      throw failed(`'${run.shown}' compared nothing; 'k8sbench analyze --run ${run.shown} --force'`);
    await world.stdout.write(lines);
    return EXIT.done;
  },
};
