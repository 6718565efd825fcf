/** What k8sbench has in a namespace, and how it is removed without a run directory. */
import { type Cluster, isNotFound } from '../../../shared/kubernetes.ts';
import { failed } from '../../../shared/failure.ts';
import { conditionOf, isOverdue } from '../../../shared/job/pod-causes.ts';
import { table } from '../../../shared/terminal.ts';
import { timeInWords } from '../../../shared/time-words.ts';
import { isUnheardOf } from './causes.ts';
import { endedState, lingers } from './lingering.ts';
import type { JobObject, Pod } from './objects.ts';

/** What a Job of a session has for a component; trials, and Jobs that other tools wait for, have others. */
const SESSIONS = ['compare', 'calibrate'];
export const OURS = `app.kubernetes.io/managed-by=k8sbench,app.kubernetes.io/component in (${SESSIONS.join()})`;
const INSTANCE = 'app.kubernetes.io/instance';
/** A Job that has had no pod for so long has lost it, or was never given one, ms. */
const LOST_AFTER = 60_000;
/** How long the logs of sessions that run may take to tell more, all together, ms. */
const LOOKING_MS = 5000;

export interface Listed {
  name: string;
  state: 'waiting' | 'running' | 'done, not collected' | 'failed' | 'lost';
  node?: string;
  age_s: number;
}

const isTrue = (job: JobObject, type: string): boolean => conditionOf(job, type)?.status === 'True';

/** A Job's conditions come a moment after its pod has ended, and never while the pod's node is away. */
const stateOfJob = (job: JobObject, pod: Pod | undefined, now: number): Listed['state'] => {
  const phase = pod?.status.phase;
  if (isTrue(job, 'Complete') || phase === 'Succeeded') return 'done, not collected';
  if (isTrue(job, 'Failed') || phase === 'Failed') return 'failed';
  if (pod) {
    if (isUnheardOf(pod) || isOverdue(pod, now)) return 'lost';
    return phase === 'Running' ? 'running' : 'waiting';
  }
  return now - Date.parse(job.metadata.creationTimestamp ?? '') < LOST_AFTER ? 'waiting' : 'lost';
};

const podOf = (name: string, pods: readonly Pod[]): Pod | undefined =>
  pods.find((one) => one.metadata.labels?.[INSTANCE] === name);

/** The namespace's runs, oldest first. Pure. */
export const inventory = (jobs: readonly JobObject[], pods: readonly Pod[], now: number): Listed[] =>
  jobs
    .map((job) => {
      const { name, creationTimestamp } = job.metadata;
      const pod = podOf(name, pods);
      const age = now - Date.parse(creationTimestamp ?? '');
      const node = pod?.spec.nodeName;
      return {
        name,
        state: stateOfJob(job, pod, now),
        ...(node === undefined ? {} : { node }),
        age_s: Math.max(0, Math.round(age / 1000)),
      };
    })
    .toSorted((a, b) => b.age_s - a.age_s || (a.name < b.name ? -1 : 1));

export const listRuns = async (cluster: Cluster, namespace: string, now: number): Promise<Listed[]> => {
  const scope = { namespace, labelSelector: OURS };
  const [jobs, pods] = await Promise.all([
    cluster.list<JobObject>('jobs', scope),
    cluster.list<Pod>('pods', scope),
  ]);
  const signal = AbortSignal.timeout(LOOKING_MS);
  return Promise.all(
    inventory(jobs, pods, now).map(async (one) => {
      const pod = one.state === 'running' ? podOf(one.name, pods) : undefined;
      if (pod === undefined || !lingers(pod)) return one;
      return { ...one, state: (await endedState(cluster, namespace, pod, signal)) ?? one.state };
    }),
  );
};

export const inventoryTable = (runs: readonly Listed[]): string =>
  table([
    ['run', 'state', 'node', 'age'],
    ...runs.map(({ name, state, node, age_s }) => [name, state, node ?? '', timeInWords(age_s)]),
  ]);

/** Deletes a run's Job by its name; only one that k8sbench made. */
export const deleteByName = async (cluster: Cluster, namespace: string, name: string): Promise<void> => {
  let job: JobObject;
  try {
    job = await cluster.get<JobObject>('jobs', { namespace, name });
  } catch (error) {
    if (isNotFound(error)) throw failed(`namespace '${namespace}' has no Job '${name}'`);
    throw error;
  }
  const { labels = {} } = job.metadata;
  if (labels['app.kubernetes.io/managed-by'] !== 'k8sbench')
    throw failed(`the Job '${name}' in namespace '${namespace}' is not k8sbench's; it is left alone`);
  const component = labels['app.kubernetes.io/component'] ?? '';
  if (!SESSIONS.includes(component))
    throw failed(
      `the Job '${name}' in namespace '${namespace}' is no run's but of kind '${component}'; it is left alone`,
    );
  await cluster.delete('jobs', { namespace, name }, job.metadata.uid);
};
