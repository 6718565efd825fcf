/** `trials collect`: the result line of every trial, from the cluster into trials.jsonl. */
import { join } from 'node:path';
import type { Trial, Trials } from '../../schemas/trials.ts';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';
import { tryLock } from '../../shared/files.ts';
import { openRun, type RunDirectory } from '../../shared/rundir.ts';
import { collectWords, lossWords } from './collect/words.ts';
import { type Collecting, Settling, type Standing, standings } from './collect/collecting.ts';
import { Observer } from './collect/observe.ts';
import { progressOn } from './collect/progress.ts';
import { clusterOf } from './connection.ts';
import { readTrials, TRIALS_FILE } from './run-trials.ts';
import { LINES_FILE } from '../../shared/trials-results.ts';
import { addLines, isFinal, keyOf, knownOf, readLines } from './trials-file.ts';
import type { TrialsCall, TrialsVerb } from './flags.ts';

/** Held by `trials apply` while it has Jobs to submit. */
export const APPLY_LOCK = '.trials-apply.lock';

/** Lines are gathered this long before they are written: one write for many. */
const GATHER_MS = 500;
const TICK_MS = 5000;
/** Trials without a Job are waited for so long: whoever submits them may have been started a moment later. */
const SUBMITTING_MS = 10_000;
/** Trials that a message names. */
const NAMED = 5;

const isApplying = (run: RunDirectory): boolean => {
  if (!run.has(APPLY_LOCK)) return false;
  const release = tryLock(run.file(APPLY_LOCK));
  release?.();
  return release === undefined;
};

/** Whether a trial may still get a line, or a better one. */
const isOpen = (standing: Standing, known: TrialLine | undefined): boolean =>
  standing.is === 'open' && (known === undefined || !standing.cause || standing.cause.kind !== 'structural');

interface Round {
  known: Map<string, TrialLine>;
  found: Map<Trial, Standing>;
}

/** One look at everything that is not settled; what is new is written. */
const lookOnce = async (
  about: Collecting,
  run: RunDirectory,
  { talk }: TrialsCall,
  before: Round['known'],
): Promise<Round> => {
  const wanted = about.trials.trials.filter((one) => {
    const line = before.get(keyOf(one));
    return !line || !isFinal(line);
  });
  const found = await standings(about, wanted);
  const lines = [...found.values()].flatMap((one) => (one.is === 'line' ? [one.line] : []));
  return { found, known: lines.length > 0 ? addLines(run, lines, talk) : before };
};

const missingFailure = (
  run: RunDirectory,
  { trials }: Trials,
  { known, found }: Round,
): Failure | undefined => {
  const missing = trials.filter((one) => !known.has(keyOf(one)));
  if (missing.length === 0) return undefined;
  const [absent, open] = [
    missing.filter((one) => found.get(one)?.is === 'absent'),
    missing.filter((one) => found.get(one)?.is !== 'absent'),
  ];
  const named = (all: readonly Trial[]): string =>
    all
      .slice(0, NAMED)
      .map((one) => `'${one.job}'`)
      .join(', ') + (all.length > NAMED ? ` and ${all.length - NAMED} more` : '');
  const are = (all: readonly Trial[]): string =>
    `${all.length} of ${trials.length} trials ${all.length === 1 ? 'has' : 'have'}`;
  return failed([
    ...(absent.length > 0
      ? [`${are(absent)} no Job: ${named(absent)}; 'k8sbench trials apply --run ${run.shown}' submits them`]
      : []),
    ...(open.length > 0
      ? [`${are(open)} not ended: ${named(open)}; 'k8sbench trials collect --run ${run.shown}' goes on`]
      : []),
  ]);
};

const gather = async (
  call: TrialsCall,
  run: RunDirectory,
  trials: Trials,
  stop: AbortSignal,
): Promise<Round> => {
  const { world, talk, flags } = call;
  const cluster = clusterOf(flags, world);
  const signal = AbortSignal.any([world.interrupted, stop]);
  const progress = progressOn(world, talk);
  const about: Collecting = {
    cluster,
    trials,
    observer: new Observer(cluster, trials, signal, progress.say),
    settling: new Settling(flags.settle! * 1000),
    signal,
    settled: new Map(),
    now: () => world.now(),
  };
  let round: Round = { known: knownOf(readLines(run)), found: new Map() };
  let away = false;
  let idleSince = performance.now();
  try {
    for (;;) {
      await about.observer.changed(TICK_MS, signal);
      if (world.interrupted.aborted)
        throw new Failure(EXIT.interrupted, 'interrupted; what was collected is kept');
      if (about.observer.away && !away) progress.say(`${about.observer.away.trouble}; waiting for it`);
      away = about.observer.away !== undefined;
      if (!about.observer.listed || away) continue;
      round = await lookOnce(about, run, call, round.known);
      progress.show(collectWords(trials, round.known, round.found));
      const standing = [...round.found];
      const goesOn =
        standing.some(([trial, one]) => isOpen(one, round.known.get(keyOf(trial)))) || isApplying(run);
      if (goesOn) idleSince = performance.now();
      const missing = standing.some(([trial, one]) => one.is === 'absent' && !round.known.has(keyOf(trial)));
      const expected = missing && performance.now() - idleSince < SUBMITTING_MS;
      if (!flags.wait || !(goesOn || expected)) return round;
      await Bun.sleep(GATHER_MS);
    }
  } finally {
    progress.end();
  }
};

export const collect: TrialsVerb = {
  about: "waits for the Jobs' results and keeps them: complete, or an error that names what is missing",
  flags: ['run', 'wait', 'settle', 'kubeconfig', 'context'],
  async run(call): Promise<Exit> {
    const { flags, world, talk } = call;
    const run = await openRun(flags.run, world, [TRIALS_FILE]);
    const { trials } = readTrials(run);
    const controller = new AbortController();
    const round = await gather(call, run, trials, controller.signal).finally(() => controller.abort());
    talk.info(`'${join(run.shown, LINES_FILE)}': ${collectWords(trials, round.known, round.found)}`);
    for (const one of lossWords(round.known, run.shown)) talk.warn(one);
    const missing = missingFailure(run, trials, round);
    if (missing) throw missing;
    await world.stdout.write(`${run.shown}\n`);
    return EXIT.done;
  },
};
