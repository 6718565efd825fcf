/** One session in a cluster, from its Job to its saved log. Every stage can be taken up by a later process. */
import { EXIT } from '../../../shared/exit.ts';
import { cause as causeOf } from '../../../shared/failure.ts';
import type { Ending } from '../ending.ts';
import { LOG, savedLog } from '../log-file.ts';
import type { InCluster } from './carrier.ts';
import { endingInCluster } from './ending.ts';
import { clusterFacts } from './node-facts.ts';
import { observe } from './observe.ts';
import { isLocal, LeftRunning, patiently } from './patience.ts';
import { submit } from './submit.ts';
import { stopOf, type Watched, WatchOver } from './watch-over.ts';

/** Deletes the Job, by its UID, and with it its pod. */
const remove = async ({ cluster, namespace, task }: InCluster): Promise<void> => {
  const uid = task.job.job.job?.uid;
  if (uid !== undefined)
    await patiently(task.talk, () => cluster.delete('jobs', { namespace, name: task.run.name }, uid));
};

/** What was created is removed, unless it is to be kept; then the run may be closed. */
const end = async (about: InCluster, ending: Ending): Promise<Ending> => {
  const { task } = about;
  // With its Job goes what told how it ended: a runner that is killed meanwhile leaves that to the next.
  if (task.job.job.ending === undefined) task.job.set({ ending }, 'collected');
  if (task.keep) task.talk.info(`the Job '${task.run.name}' is kept`);
  else await remove(about);
  return ending;
};

/** The log is saved: what else there is to know is gathered while the pod is there. */
const collect = async (about: InCluster, { log, pod, cause, differs, lives }: Watched): Promise<Ending> => {
  const { carrier, cluster, task } = about;
  if (differs.length > 0)
    return end(about, {
      outcome: 'invalid',
      exit: EXIT.invalid,
      message: `the cluster changed the pod: ${differs.join('; ')}; keep webhooks and limits away from it, or put what they set into the values file`,
    });
  const state = log.state();
  const { error, tail } = log;
  const ending = endingInCluster({ log: state, error, tail, pod, cause, interrupted: stopOf(task) });
  if (pod?.spec.nodeName && !task.run.has('cluster.json'))
    task.run.writeJson('cluster.json', await clusterFacts(task, cluster, pod, task.readKubeletConfig));
  if (pod && state.complete && lives)
    await carrier.acknowledge?.(pod).catch((failed: Error) => task.talk.warn(failed.message));
  return end(about, ending);
};

/** Measures a session, or takes up one that an earlier runner began. */
export const measureInCluster = async (about: InCluster): Promise<Ending> => {
  const { task, cluster, namespace } = about;
  const { job, run, attaching } = task;
  const { name } = run;
  const over = new AbortController();
  try {
    if (job.job.ending !== undefined) return await end(about, job.job.ending as Ending);
    if (run.has(LOG)) {
      // A runner that was killed while it cleaned up has everything.
      const { state, error } = savedLog(run);
      const told = { log: state, error, tail: [], pod: undefined, cause: undefined };
      return await end(about, endingInCluster({ ...told, interrupted: stopOf(task) }));
    }
    const create = stopOf(task) === undefined;
    const uid = job.job.job?.uid ?? (await submit({ ...about, ...task, name }, attaching, create));
    if (uid === undefined)
      return {
        outcome: 'interrupted',
        exit: EXIT.interrupted,
        message: `stopped by ${stopOf(task)} before it was begun`,
      };
    const observer = observe(cluster, { namespace, name, uid }, over.signal);
    return await collect(
      about,
      await new WatchOver(about, observer, over.signal, () => remove(about)).watch(),
    );
  } catch (error) {
    if (isLocal(error))
      throw new LeftRunning(`can't write '${run.shown}': ${causeOf(error)}; make room, nothing is lost`);
    if (error instanceof LeftRunning) throw error;
    // What can't go on here must not go on there, either.
    if (task.keep) task.talk.info(`the Job '${name}' is kept`);
    else
      await remove(about).catch((failed: unknown) =>
        task.talk.warn(
          `${causeOf(failed)}; the Job '${name}' may be left: k8sbench run-session delete --run ${run.shown}`,
        ),
      );
    throw error;
  } finally {
    over.abort();
  }
};
