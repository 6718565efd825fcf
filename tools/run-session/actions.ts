/** What can be done beside measuring: list, cancel, delete. */
import { EXIT, type Exit } from '../../shared/exit.ts';
import { configurationOf } from '../../shared/configuration.ts';
import { failed, usage } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun, type RunDirectory } from '../../shared/rundir.ts';
import { values as valuesSchema } from '../../schemas/values.ts';
import { clusterOf } from './cluster/cluster.ts';
import { deleteByName, inventoryTable, listRuns } from './cluster/inventory.ts';
import { readJob } from './job-file.ts';
import { attempt, measure, readRun } from './measure.ts';
import { isAlive, signal } from './processes.ts';
import { measureSessions } from './sessions.ts';
import type { Manner } from './task.ts';

export const ACTIONS = ['list', 'cancel', 'delete'] as const;

export interface Asked {
  action: (typeof ACTIONS)[number];
  name: string | undefined;
  run: string | undefined;
  json: boolean;
  /** Where to look, as the command line says it. */
  place: Readonly<Record<'values' | 'kubeconfig' | 'context' | 'namespace', string | undefined>>;
}

/** Where to look: what the settings say, else the context's own namespace. */
const placeOf = async ({ place }: Asked, { world }: Manner) => {
  const { values, problems } = await configurationOf(world, place);
  if (problems.length > 0) throw usage(problems);
  const cluster = clusterOf(values, world);
  return { cluster, namespace: values.namespace ?? cluster.namespace ?? 'default' };
};

/** Stops a run as ^C would: what is there is saved, what was created is removed. */
const cancel = async (run: RunDirectory, manner: Manner): Promise<Exit> => {
  const { world, talk } = manner;
  const about = readRun(run);
  const job = readJob(run);
  if (job?.outcome !== 'running')
    throw failed(`'${run.shown}' is ${job?.outcome ?? 'not begun'}; there is nothing to cancel`);
  if (job.runner && job.host === world.host && isAlive(job.runner)) {
    signal(job.runner.pid, 'SIGTERM');
    talk.info(`told process ${job.runner.pid}, which measures '${run.shown}', to stop`);
    return EXIT.done;
  }
  if (about.delivery === 'local') throw failed(`'${run.shown}' was killed; there is nothing to cancel`);
  const stopped = Object.create(world, {
    interrupted: { value: AbortSignal.abort('cancel') },
  }) as Manner['world'];
  const ending = await ((about.children?.length ?? 0) > 0 ? measureSessions : measure)(run, about, {
    ...manner,
    world: stopped,
  });
  talk.info(`'${run.shown}' is ${ending.outcome}`);
  return EXIT.done;
};

/** Deletes what a run has in the cluster, and saves nothing. */
const remove = async (run: RunDirectory, manner: Manner): Promise<void> => {
  const about = readRun(run);
  for (const child of about.children ?? [])
    await remove(await openRun(run.file(child), manner.world), manner);
  const before = readJob(run);
  const job = before?.job;
  if (job) {
    const cluster = clusterOf(run.json('values.json', valuesSchema), manner.world);
    const gone = !(await cluster.delete('jobs', job, job.uid));
    manner.talk.info(gone ? `the Job '${job.name}' is gone already` : `deleted the Job '${job.name}'`);
  }
  if (before?.outcome === 'running')
    await attempt(run, about, manner, async () => ({
      outcome: 'interrupted',
      exit: EXIT.interrupted,
      message: 'its Job was deleted before its log was collected',
    }));
};

export const act = async (asked: Asked, manner: Manner): Promise<Exit> => {
  const { world, talk } = manner;
  const { action, name, run: named } = asked;
  if (action === 'list') {
    if (name !== undefined || named !== undefined)
      throw usage("'list' shows the runs of a namespace; name it with --namespace");
    const { cluster, namespace } = await placeOf(asked, manner);
    const runs = await listRuns(cluster, namespace, world.now());
    if (runs.length === 0) talk.info(`namespace '${namespace}' has no runs`);
    await world.stdout.write(asked.json ? jsonText(runs) : runs.length === 0 ? '' : inventoryTable(runs));
    return EXIT.done;
  }
  if ((name === undefined) === (named === undefined))
    throw usage(
      `'${action}' needs ${action === 'delete' ? "a run's name, or " : ''}its directory: --run DIR`,
    );
  if (named === undefined) {
    if (action === 'cancel')
      throw usage("'cancel' saves what is there, so it needs the directory: --run DIR");
    const { cluster, namespace } = await placeOf(asked, manner);
    await deleteByName(cluster, namespace, name!);
    talk.info(`deleted the Job '${name}'`);
    return EXIT.done;
  }
  const run = await openRun(named, world);
  if (action === 'cancel') return cancel(run, manner);
  await remove(run, manner);
  return EXIT.done;
};
