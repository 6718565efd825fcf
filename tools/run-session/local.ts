/** Delivery `local`: the pod program runs as a child process on this machine (DESIGN §4.5). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failed, usage } from '../../shared/failure.ts';
import { machineAt } from '../../shared/machine.ts';
import { holdData, removeAbandonedData, removeAbandonedLeaves } from './abandoned.ts';
import { enterLeaf, parentOfLeaf } from './accounting-cgroup.ts';
import { type Ending, endingOf } from './ending.ts';
import { followLog } from './follow.ts';
import {
  cleanUp,
  dataPath,
  killSession,
  killStray,
  leafName,
  type Leftovers,
  makeData,
  MARK,
} from './leftovers.ts';
import { liveOn } from './live.ts';
import { startPod } from './pod-process.ts';
import type { Delivery, Task } from './task.ts';

/** How late the session's own limit may be before the runner steps in, s. */
const LATE_S = 60;

/** Where the session runs comes from its environment, never from its plan; nothing of ours is inherited by chance. */
const environment = ({ about, world }: Task, data: string): Record<string, string> => {
  const ours = {
    K8SBENCH_PLAN: undefined,
    K8SBENCH_IMAGE_REF: undefined,
    K8SBENCH_BUNDLE_SHA256: undefined,
    POD_NAME: undefined,
    K8SBENCH_DELIVERY: 'local',
    K8SBENCH_DATA: data,
    [MARK]: data,
    NODE_NAME: about.host ?? world.host,
    K8SBENCH_ROOT: about.root,
    K8SBENCH_COMMIT: about.commit,
  };
  return Object.fromEntries(
    Object.entries({ ...world.env, ...ours }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    ),
  );
};

const admit: Delivery['admit'] = async ({ run, about, world }) => {
  if (about.host !== undefined && about.host !== world.host)
    throw usage(`'${run.shown}' was planned on '${about.host}', this is '${world.host}'; plan it here`);
  const missing = [about.root, about.cwd].filter((path) => path !== undefined && !existsSync(path));
  const programs = Object.entries(about.programs ?? {}).filter(([, path]) => !existsSync(path));
  const problems = [
    ...missing.map((path) => `'${path}', where '${run.shown}' is to run, does not exist; plan again`),
    ...programs.map(
      ([target, path]) =>
        `'${path}', which target '${target}' of '${run.shown}' starts, does not exist any more; make it again, as it was`,
    ),
  ];
  if (problems.length > 0) throw failed(problems);
  return {};
};

/** One session from the start of the pod program to its end; what exists on this machine is noted in `left` as it comes. */
const session = async (
  task: Task,
  left: Leftovers & { data: string },
  signal: AbortSignal,
): Promise<Ending> => {
  const { about, job, world, talk } = task;
  const pod = await startPod(world.program('pod'), {
    cwd: about.cwd ?? left.data,
    env: environment(task, left.data),
  });
  left.pod = pod.identity;
  const parent = parentOfLeaf(machineAt('/'));
  if (parent !== undefined) removeAbandonedLeaves(parent, Date.now());
  const wanted = parent === undefined ? undefined : join(parent, leafName(about.run));
  // Noted before it is made: a kill between the two leaves nothing unknown.
  if (wanted !== undefined) job.leaves({ ...left, cgroup: wanted });
  // It waits for its plan, so everything it does is counted in its cgroup.
  const leaf = wanted !== undefined && enterLeaf(wanted, pod.identity.pid) ? wanted : undefined;
  if (leaf !== undefined) left.cgroup = leaf;
  job.leaves(left);
  job.note('started');
  if (about.session_s !== undefined) pod.limit(about.session_s + LATE_S);
  world.interrupted.addEventListener('abort', pod.stop, { once: true, signal });
  if (world.interrupted.aborted) pod.stop();

  const live = liveOn(world, talk);
  // Its last words stand in the log as well, and are told once, in the end.
  const lastWords: string[] = [];
  pod.begin(task.compact, (line) =>
    line.startsWith('pod: error: ') ? void lastWords.push(line) : live.say(line),
  );
  // What it left running may hold its output open.
  const stayed = pod.exited.then(() => killStray(left));
  const { log, error } = await followLog(task, pod.stdout, live);
  const { overran, ...ended } = await pod.ended;
  if (!error) lastWords.forEach(live.say);
  if ((await stayed) > 0) talk.warn(`killed ${await stayed} process(es) that the session left behind`);
  return endingOf({
    ...ended,
    log,
    error,
    ...(world.interrupted.aborted ? { interrupted: String(world.interrupted.reason) } : {}),
    ...(overran ? { overran: about.session_s! } : {}),
  });
};

/** A terminal that hangs up ends the talking, not the session. */
const stay = (): void => undefined;

const measure: Delivery['measure'] = async (task) => {
  const { about, job, world, talk, keep } = task;
  const data = dataPath(about.run, world);
  const left: Leftovers & { data: string } = { data };
  let release = (): void => undefined;
  await removeAbandonedData(dirname(data), Date.now());
  const die = (): void => void killSession(left);
  const over = new AbortController();
  process.on('exit', die);
  process.on('SIGHUP', stay);
  try {
    job.leaves(left);
    makeData(data);
    // Fixtures that are to be kept stay, whatever becomes of their runner.
    if (!keep) release = holdData(data);
    return await session(task, left, over.signal);
  } finally {
    over.abort();
    process.off('exit', die);
    process.off('SIGHUP', stay);
    const { data: _kept, ...others } = left;
    for (const problem of await cleanUp(keep ? others : left)) talk.warn(problem);
    release();
    if (keep) talk.info(`fixtures kept in '${data}'`);
    job.leaves(keep ? { data } : undefined);
  }
};

const wouldDo: Delivery['wouldDo'] = ({ about, world }) => ({
  starts: world.program('pod'),
  root: about.root,
  cwd: about.cwd,
});

export const local: Delivery = { attaches: false, admit, wouldDo, measure };
