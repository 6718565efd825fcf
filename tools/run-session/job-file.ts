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
import { MANIFEST } from './manifest-file.ts';
import { identityOf, isAlive } from './processes.ts';

export interface JobFile {
  /** Adds to the timeline. */
  note(event: string): void;
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
    leaves(left) {
      const { local: _before, ...rest } = job;
      save(left ? { ...rest, local: left } : rest);
    },
    end({ outcome, exit, message, log }) {
      // Nobody needs to find the runner any more, and a session measured again from the same log gives the same bytes.
      const { runner: _runner, ...rest } = job;
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

/**
 * Takes a run for this process: one runner at a time, decided under a lock. Gives the new job.json and the one that stood
 * there before; a run that somebody is measuring is refused.
 */
export const claim = (
  run: RunDirectory,
  about: Run,
  world: World,
): { job: JobFile; before: Job | undefined } =>
  withLock(run.file('run.json'), () => {
    const before = readJob(run);
    if (before?.outcome === 'running') {
      const { runner, host } = before;
      if (runner && host !== undefined && host !== world.host)
        throw failed(
          `'${run.shown}' is being measured by process ${runner.pid} on '${host}'; should that one be dead, remove '${run.shown}/job.json'`,
        );
      if (runner && isAlive(runner))
        throw failed(
          `'${run.shown}' is being measured by process ${runner.pid}; wait for it, or stop it with 'kill ${runner.pid}'`,
        );
    }
    rmSync(run.file(MANIFEST), { force: true });
    const runner = identityOf(process.pid);
    const job = jobFile(run, world, {
      format: 'job/1',
      run: run.name,
      delivery: about.delivery,
      ...(about.delivery === 'local' ? { host: world.host } : {}),
      ...(runner ? { runner } : {}),
      // Until they are removed; a runner killed before that leaves them to the next.
      ...(before?.outcome === 'running' && before.local ? { local: before.local } : {}),
      timeline: [{ at: new Date(world.now()).toISOString(), event: 'claimed' }],
      outcome: 'running',
    });
    return { job, before };
  });
