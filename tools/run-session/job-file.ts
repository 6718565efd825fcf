/** job.json: written when a session begins, at each event, and when it has ended. */
import { rmSync } from 'node:fs';
import { type Job, job as jobSchema } from '../../schemas/job.ts';
import type { Run } from '../../schemas/run.ts';
import { failed } from '../../shared/failure.ts';
import { withLock } from '../../shared/files.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { World } from '../../shared/world.ts';
import type { Ending } from './ending.ts';
import type { Leftovers } from './leftovers.ts';
import { setLogsAside } from './log-file.ts';
import { MANIFEST } from './manifest-file.ts';
import { identityOf, isAlive } from './processes.ts';

export interface JobFile {
  /** Adds to the timeline. */
  note(event: string): void;
  /** Sets fields and adds to the timeline, in one write. */
  set(fields: Partial<Job>, event: string): void;
  /** The session goes on without a runner. */
  release(event: string): void;
  /** What a killed runner would leave on this machine; undefined: nothing. */
  leaves(left: Leftovers | undefined): void;
  end(ending: Ending): void;
  readonly job: Job;
}

const FILE = 'job.json';

export const readJob = (run: RunDirectory): Job | undefined =>
  run.has(FILE) ? run.json(FILE, jobSchema) : undefined;

const jobFile = (run: RunDirectory, world: World, begun: Job): JobFile => {
  let job = begun;
  const save = (next: Job): void => {
    job = next;
    run.writeJson(FILE, job);
  };
  const at = (): string => new Date(world.now()).toISOString();
  save(begun);
  return {
    note: (event) => save({ ...job, timeline: [...job.timeline, { at: at(), event }] }),
    set: (fields, event) => save({ ...job, ...fields, timeline: [...job.timeline, { at: at(), event }] }),
    release(event) {
      const { runner: _runner, ...rest } = job;
      save({ ...rest, timeline: [...job.timeline, { at: at(), event }] });
    },
    leaves(left) {
      const { local: _before, ...rest } = job;
      save(left ? { ...rest, local: left } : rest);
    },
    end({ outcome, exit, message, log }) {
      // Nobody needs to find the runner any more, and a session measured again from the same log gives the same bytes.
      const { runner: _runner, ending: _ending, ...rest } = job;
      save({
        ...rest,
        timeline: [...job.timeline, { at: at(), event: 'ended' }],
        outcome,
        exit,
        ...(message === undefined ? {} : { message }),
        ...(log ? { log } : {}),
      });
    },
    get job() {
      return job;
    },
  };
};

export interface Claimed {
  job: JobFile;
  before: Job | undefined;
  /** The session that was begun goes on; its job.json is kept. */
  attaching: boolean;
  /** Names under which logs of earlier attempts are kept now. */
  aside: readonly string[];
}

/** A word that only this run directory knows; Jobs that carry it are its own (see cluster/submit.ts). */
const newWord = (world: World): string => Buffer.from(world.random(16)).toString('hex');

/** Words of Jobs that earlier attempts may have left. One whose Job was made had removed those before it. */
const earlierWords = (before: Job | undefined): Pick<Job, 'earlierSubmissions'> => {
  const words = [
    ...(before?.job ? [] : (before?.earlierSubmissions ?? [])),
    ...(before?.submission === undefined ? [] : [before.submission]),
  ];
  return words.length === 0 ? {} : { earlierSubmissions: words };
};

/**
 * Takes a run for this process: one runner at a time, decided under a lock. Gives the new job.json and the one that stood
 * there before; a run that somebody is measuring is refused. `attaches`: a session that was begun is taken up; `seen`: what
 * a new job.json keeps of what it was begun with.
 */
export const claim = (
  run: RunDirectory,
  about: Run,
  world: World,
  { attaches, seen }: { attaches: boolean; seen: Pick<Job, 'manifest'> },
): Claimed =>
  withLock(run.file('run.json'), () => {
    const before = readJob(run);
    if (before?.outcome === 'running') {
      const { runner, host } = before;
      // A session in a cluster is only read: whoever comes last has it.
      if (runner && host !== undefined && host !== world.host && !attaches)
        throw failed(
          `'${run.shown}' is being measured by process ${runner.pid} on '${host}'; should that one be dead, remove '${run.shown}/job.json'`,
        );
      if (runner && (host === undefined || host === world.host) && isAlive(runner))
        throw failed(
          `'${run.shown}' is being measured by process ${runner.pid}; wait for it, or stop it: k8sbench run-session cancel --run ${run.shown}`,
        );
    }
    rmSync(run.file(MANIFEST), { force: true });
    const runner = identityOf(process.pid);
    const at = new Date(world.now()).toISOString();
    const attaching = attaches && before?.outcome === 'running';
    if (attaching) {
      const timeline = [...before.timeline, { at, event: 'attached' }];
      const job = { ...before, host: world.host, ...(runner ? { runner } : {}), timeline };
      return { job: jobFile(run, world, job), before, attaching, aside: [] };
    }
    // Before job.json says that another session is measured: what a killed runner leaves is never taken for that one's.
    const aside = setLogsAside(
      run,
      before?.outcome === 'running' ? 'killed' : (before?.outcome ?? 'earlier'),
    );
    // The node that an earlier attempt ran on is not this one's.
    rmSync(run.file('cluster.json'), { force: true });
    const job = jobFile(run, world, {
      format: 'job/1',
      run: about.run,
      delivery: about.delivery,
      host: world.host,
      ...(runner ? { runner } : {}),
      ...(about.delivery !== 'local' && about.children === undefined
        ? { submission: newWord(world), ...earlierWords(before) }
        : {}),
      ...seen,
      // Until they are removed; a runner killed before that leaves them to the next.
      ...(before?.outcome === 'running' && before.local ? { local: before.local } : {}),
      timeline: [{ at, event: 'claimed' }],
      outcome: 'running',
    });
    return { job, before, attaching: false, aside };
  });
