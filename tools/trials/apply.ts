/** `trials apply`: submits a run's Jobs, at most so many at once; called again it goes on where it stopped. */
import type { Trials } from '../../schemas/trials.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed } from '../../shared/failure.ts';
import { tryLock } from '../../shared/files.ts';
import type { Cluster } from '../../shared/kubernetes.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun, type RunDirectory } from '../../shared/rundir.ts';
import { documentsOf } from './apply/documents.ts';
import { toSubmit, type ToSubmit } from './apply/plan.ts';
import { queued, queueOf } from './apply/queue.ts';
import { submitAll } from './apply/submitting.ts';
import { APPLY_LOCK } from './collect.ts';
import { type Collecting, Settling, standings } from './collect/collecting.ts';
import { Observer } from './collect/observe.ts';
import { progressOn } from './collect/progress.ts';
import { clusterOf } from './connection.ts';
import { readTrials, TRIALS_FILE } from './run-trials.ts';
import { isFinal, knownOf, readLines } from './trials-file.ts';
import type { TrialsCall, TrialsVerb } from './flags.ts';

const LISTING_MS = 1000;

/** Removes Jobs that were lost to the place, each by its UID; one that came to something meanwhile is kept for `collect`. */
const removeLost = async (
  about: Collecting,
  { replace }: ToSubmit,
  talk: TrialsCall['talk'],
): Promise<ToSubmit['submit']> => {
  const found = await standings(
    about,
    replace.map((one) => one.trial),
  );
  const removed: ToSubmit['submit'] = [];
  for (const { trial, uid } of replace) {
    const standing = found.get(trial)!;
    const goesOn = standing.is === 'open' && standing.started;
    if (goesOn || (standing.is === 'line' && isFinal(standing.line))) {
      talk.warn(
        `the Job '${trial.job}' ${goesOn ? 'goes on after all' : 'has a result after all'}; 'trials collect' first`,
      );
      continue;
    }
    await about.cluster.delete('jobs', { namespace: about.trials.namespace, name: trial.job }, uid);
    removed.push(trial);
  }
  return removed;
};

/** A collector that looks whether somebody holds it has it for a moment itself. */
const lockOf = async (run: RunDirectory): Promise<(() => void) | undefined> => {
  for (let tries = 0; tries < 20; tries++) {
    const release = tryLock(run.file(APPLY_LOCK));
    if (release) return release;
    await Bun.sleep(50);
  }
  return undefined;
};

const applied = async (
  call: TrialsCall,
  run: RunDirectory,
  trials: Trials,
  stop: AbortSignal,
): Promise<void> => {
  const { flags, world, talk } = call;
  const manifestOf = documentsOf(run, trials);
  const cluster: Cluster = clusterOf(flags, world);
  const queue = await queueOf(cluster, trials.namespace, flags.queue);
  if (queue !== undefined) talk.info(`Jobs wait in Kueue's queue '${queue}'`);
  const signal = AbortSignal.any([world.interrupted, stop]);
  const progress = progressOn(world, talk);
  const observer = new Observer(cluster, trials, signal, progress.say);
  while (!observer.listed && !signal.aborted) await observer.changed(LISTING_MS, signal);
  const jobs = observer.jobsNamed();
  const plan = toSubmit(trials.trials, knownOf(readLines(run)), jobs, flags.again);
  const settle_ms = flags.settle! * 1000;
  const about: Collecting = {
    cluster,
    trials,
    observer,
    // What was given up once is not waited for again.
    settling: new Settling(0),
    signal,
    settled: new Map(),
    now: () => world.now(),
  };
  const replaced = await removeLost(about, plan, talk);
  const wanted = trials.trials.filter((one) => plan.submit.includes(one) || replaced.includes(one));
  const submitted = await submitAll(
    {
      cluster,
      trials,
      observer,
      atOnce: flags['at-once']!,
      manifestOf: (trial) => queued(manifestOf(trial), queue),
      progress,
      signal,
      settle_ms,
      now: () => world.now(),
    },
    wanted,
  ).finally(() => progress.end());
  const there = plan.there - replaced.length;
  talk.info(
    `${submitted} Jobs submitted${there > 0 ? `, ${there} were there already` : ''}; 'k8sbench trials collect --run ${run.shown}' waits for their results`,
  );
  if (plan.lost.length > 0)
    talk.warn(`${plan.lost.length} trials were lost, and not by an agent; '--again' tries only them again`);
};

export const apply: TrialsVerb = {
  about: 'submits the Jobs that are not there yet, at most so many at once; goes on where it stopped',
  flags: ['run', 'at-once', 'again', 'queue', 'settle', 'kubeconfig', 'context', 'dry-run'],
  async run(call): Promise<Exit> {
    const { flags, world } = call;
    const run = await openRun(flags.run, world, [TRIALS_FILE]);
    const { trials } = readTrials(run);
    if (flags['dry-run']) {
      const manifestOf = documentsOf(run, trials);
      const { submit, lost } = toSubmit(trials.trials, knownOf(readLines(run)), new Map(), flags.again);
      const { server, context } = clusterOf(flags, world);
      await world.stdout.write(
        jsonText({
          server,
          context,
          namespace: trials.namespace,
          atOnce: flags['at-once'],
          applies: submit.map((one) => manifestOf(one).metadata.name),
          leaves: lost.map((one) => one.job),
        }),
      );
      return EXIT.done;
    }
    const release = await lockOf(run);
    if (!release) throw failed(`another 'trials apply' submits the Jobs of '${run.shown}' already`);
    const controller = new AbortController();
    try {
      await applied(call, run, trials, controller.signal);
    } finally {
      controller.abort();
      release();
    }
    await world.stdout.write(`${run.shown}\n`);
    return EXIT.done;
  },
};
