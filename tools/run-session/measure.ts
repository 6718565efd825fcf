/** One session of one run directory: skipped when finished, refused while somebody measures it, else measured. */
import type { Plan } from '../../schemas/plan.ts';
import { run as runSchema, type Run } from '../../schemas/run.ts';
import type { Attempt } from '../../schemas/attempt.ts';
import type { Job } from '../../schemas/job.ts';
import { recordAttempt } from '../../shared/attempts.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed, isSystemError } from '../../shared/failure.ts';
import { firstFew } from '../../shared/first-few.ts';
import { MANIFEST_FILE } from '../../shared/job/manifest-file.ts';
import { buildsIn, holdBuild } from '../../shared/kept-builds.ts';
import { readPlan } from '../../shared/plan-file.ts';
import { type RunDirectory, runDirectory, touchAll } from '../../shared/rundir.ts';
import { deliveryOf } from './deliveries.ts';
import type { Ending } from './ending.ts';
import { type Claimed, claim, type JobFile, readJob } from './job-file.ts';
import { cleanUp, ownedBy } from './leftovers.ts';
import { LOG, PARTIAL, REST, savedLog } from './log-file.ts';
import { MANIFEST, manifestProblems, writeManifest } from './manifest-file.ts';
import type { Delivery, Manner, Unclaimed } from './task.ts';

export interface Prepared {
  delivery: Delivery;
  task: Unclaimed;
  /** What job.json keeps of what was seen. */
  seen: Pick<Job, 'manifest'>;
}

const OUTPUTS = ['job.json', LOG, 'spread.json', MANIFEST];

export const readRun = (run: RunDirectory): Run => run.json('run.json', runSchema);

/** The files that the run was planned as, unchanged since: what is measured must be what was planned. */
const refuseChanged = async (run: RunDirectory, about: Run): Promise<void> => {
  const now = await run.digests(Object.keys(about.files));
  const changed = Object.entries(about.files).filter(([name, digest]) => now[name] !== digest);
  if (changed.length > 0)
    throw failed(
      changed.map(
        ([name]) =>
          `'${run.shown}/${name}' is not the file that 'plan' wrote; plan a run of its own for other inputs`,
      ),
    );
};

/** Whether a run was measured and only lacks its manifest: its runner was killed between its last two writes. */
const lacksManifest = (run: RunDirectory, children: readonly string[]): boolean => {
  const job = readJob(run);
  if (run.has(MANIFEST) || job?.outcome !== 'done') return false;
  if (children.length > 0)
    return run.has('spread.json') && children.every((name) => run.has(`${name}/${MANIFEST}`));
  if (job.log === undefined || !run.has(LOG)) return false;
  const { complete, sha256 } = savedLog(run).state;
  return complete && sha256 === job.log.sha256;
};

/** Whether a run is finished and as it was then; a finished run that was changed is an error. */
export const isFinished = async (
  run: RunDirectory,
  about: Run,
  { force, talk }: Manner,
): Promise<boolean> => {
  const { children = [] } = about;
  if (force) return false;
  if (lacksManifest(run, children)) {
    await refuseChanged(run, about);
    await writeManifest(run, children);
  }
  if (!run.has(MANIFEST)) return false;
  const problems = await manifestProblems(run, children);
  if (problems.length > 0)
    throw failed([
      ...problems,
      `'${run.shown}' is no longer what was measured; restore it, or measure it again with --force`,
    ]);
  talk.info(`'${run.shown}' is measured already; nothing to do (--force measures it again)`);
  touchAll(run, OUTPUTS);
  return true;
};

/** How an ending is called in attempts.jsonl; one that is done is recorded once it is judged. */
const RECORDED: Partial<Record<Ending['outcome'], Attempt['outcome']>> = {
  failed: 'failed',
  interrupted: 'void',
  invalid: 'invalid',
};

/** Attempts of runs that stand for themselves; a child's is its parent's. */
const record = (run: RunDirectory, about: Run, job: Job, ending: Ending): void => {
  const outcome = RECORDED[ending.outcome];
  if (about.parent !== undefined || outcome === undefined) return;
  recordAttempt(run, {
    at: job.timeline.at(-1)!.at,
    run: about.run,
    profile: about.profile,
    rule: about.rule,
    mode: about.mode,
    commit: about.commit ?? '',
    outcome,
    exit: ending.exit,
    reasons: [ending.message ?? ending.outcome],
  });
};

/** Takes the run for this process: takes up a session that goes on, or does away with what a killed runner left. */
const begin = async (
  run: RunDirectory,
  about: Run,
  { world, talk, force }: Manner,
  seen: Prepared['seen'],
): Promise<Pick<Claimed, 'job' | 'attaching'>> => {
  const attaches = !force && deliveryOf(about).attaches;
  const { job, before, attaching, aside } = claim(run, about, world, { attaches, seen });
  if (attaching) {
    talk.info(`attaching to '${run.shown}'`);
    return { job, attaching };
  }
  for (const one of firstFew(seen.manifest?.edited ?? []))
    talk.warn(`'${run.shown}/${MANIFEST_FILE}' was edited: ${one}`);
  const killed = before?.outcome === 'running';
  if (killed) {
    const message = 'its runner was killed';
    record(run, about, before, { outcome: 'interrupted', exit: EXIT.interrupted, message });
    talk.warn(`an earlier attempt at '${run.shown}' was killed: recorded as void, measured anew`);
    if (before.local)
      for (const problem of await cleanUp(ownedBy(about.run, before.local))) talk.warn(problem);
    job.leaves(undefined);
  }
  for (const name of aside) talk.info(`the earlier log is kept as '${run.shown}/${name}'`);
  return { job, attaching };
};

/** A session that is left to itself needs no runner in job.json; a disk that is full leaves one there that is dead soon. */
const release = (job: JobFile): void => {
  try {
    job.release('left running');
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
};

/**
 * Claims a run, does `work`, and writes down how it ended: job.json, attempts.jsonl, and for a run that is done the
 * manifest, last. What `work` throws is an ending too.
 */
export const attempt = async (
  run: RunDirectory,
  about: Run,
  manner: Manner,
  work: (job: JobFile, attaching: boolean) => Promise<Ending>,
  seen: Prepared['seen'] = {},
): Promise<Ending> => {
  const { job, attaching } = await begin(run, about, manner, seen);
  let ending: Ending;
  let thrown: unknown;
  try {
    ending = await work(job, attaching);
    if (ending.outcome === 'running') {
      release(job);
      return ending;
    }
  } catch (error) {
    thrown = error;
    const exit = error instanceof Failure ? error.exit : EXIT.failed;
    ending = { outcome: 'failed', exit, message: error instanceof Error ? error.message : String(error) };
  }
  try {
    job.end(ending);
    record(run, about, job.job, ending);
    if (ending.outcome === 'done') await writeManifest(run, about.children ?? []);
  } catch (error) {
    // A full disk stops the writing down as well; the first error is the one to report.
    throw thrown ?? error;
  }
  if (thrown !== undefined) throw thrown;
  return ending;
};

/** Where the log of a session that failed is, for its message. */
const logOf = (run: RunDirectory): string => {
  const name = [LOG, PARTIAL].find((one) => run.has(one));
  const log = name === undefined ? [] : [`its log is '${run.shown}/${name}'`];
  const rest = run.has(REST) ? [`what came after the missing lines is in '${run.shown}/${REST}'`] : [];
  return [...log, ...rest].map((one) => `; ${one}`).join('');
};

/** A session that may be measured from here, and all that it is measured by; what can't is refused before the run is claimed. */
export const prepare = async (run: RunDirectory, about: Run, manner: Manner): Promise<Prepared> => {
  const delivery = deliveryOf(about);
  await refuseChanged(run, about);
  const task = { ...manner, run, about, ...readPlan(run) };
  return { delivery, task, seen: await delivery.admit(task) };
};

/** Does `work` while nobody removes the kept builds of commits that a plan's programs come from. */
export const holdingBuilds = async <T>({ compact }: Plan, work: () => Promise<T>): Promise<T> => {
  const words = compact.profile.targets.flatMap((one) =>
    [one.seed, one.sample, one.command, one.prepare].flatMap((command) => command ?? []),
  );
  const held = buildsIn(words).map(holdBuild);
  try {
    return await work();
  } finally {
    for (const letGo of held) letGo();
  }
};

/** Measures one session. Gives its ending; a session that failed is an error with its cause and the place of its log. */
export const measure = async (run: RunDirectory, about: Run, manner: Manner): Promise<Ending> => {
  const { delivery, task, seen } = await prepare(run, about, manner);
  const ending = await holdingBuilds(task.plan, () =>
    attempt(run, about, manner, (job, attaching) => delivery.measure({ ...task, job, attaching }), seen),
  );
  if (ending.outcome === 'failed')
    throw new Failure(ending.exit, `'${run.shown}' failed: ${ending.message}${logOf(run)}`);
  return ending;
};

/** For --dry-run: what would be done for each session, as data; contacts nothing. */
export const wouldDo = async (run: RunDirectory, about: Run, manner: Manner): Promise<object> => {
  const children = (about.children ?? []).map((name) => runDirectory(run.file(name), `${run.shown}/${name}`));
  const all: object[] = [];
  for (const one of children.length > 0 ? children : [run]) {
    const { delivery, task, seen } = await prepare(one, readRun(one), manner);
    all.push({ run: one.name, ...seen, ...delivery.wouldDo(task) });
  }
  return { format: 'dry-run/1', sessions: all };
};
