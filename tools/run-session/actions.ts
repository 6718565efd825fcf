/** What can be done beside measuring: list, cancel, delete. */
import { EXIT, type Exit } from '../../shared/exit.ts';
import { configurationOf } from '../../shared/configuration.ts';
import { failed, usage } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun, type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import type { ProcessIdentity } from '../../schemas/job.ts';
import { values as valuesSchema } from '../../schemas/values.ts';
import type { Action } from './asked.ts';
import { clusterOf } from './cluster/cluster.ts';
import { deleteByName, inventoryTable, listRuns, OURS } from './cluster/inventory.ts';
import { findSubmitted } from './cluster/submit.ts';
import type { Ending } from './ending.ts';
import { readJob } from './job-file.ts';
import { attempt, measure, readRun } from './measure.ts';
import { isAlive, signal } from './processes.ts';
import { measureSessions } from './sessions.ts';
import type { Manner } from './task.ts';

export interface Asked {
  action: Action;
  name: string | undefined;
  run: string | undefined;
  json: boolean;
  dryRun: boolean;
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

/** The process on this machine that measures a run now. */
const runnerOf = (run: RunDirectory, { world }: Manner): ProcessIdentity | undefined => {
  const job = readJob(run);
  const runner = job?.outcome === 'running' && job.host === world.host ? job.runner : undefined;
  return runner && isAlive(runner) ? runner : undefined;
};

/** A run and its sessions. */
const partsOf = (run: RunDirectory): RunDirectory[] => [
  run,
  ...(readRun(run).children ?? []).map((name) => runDirectory(run.file(name), `${run.shown}/${name}`)),
];

/** What a run may have in the cluster, for --dry-run. */
const planned = (run: RunDirectory, { world }: Manner): object => {
  const values = run.json('values.json', valuesSchema);
  const { server, context } = clusterOf(values, world);
  const uid = readJob(run)?.job?.uid;
  const deletes = { kind: 'Job', name: run.name, ...(uid === undefined ? {} : { uid }) };
  return { run: run.name, server, context, namespace: values.namespace, deletes };
};

/** The sessions of a run that go on: it may have stopped, and left some of its sessions to themselves. */
const running = (run: RunDirectory): RunDirectory[] =>
  partsOf(run).filter((one) => readJob(one)?.outcome === 'running');

/** Stops a run as ^C would: what is there is saved, what was created is removed. */
const cancel = async (run: RunDirectory, manner: Manner, dryRun: boolean): Promise<Exit> => {
  const { world, talk } = manner;
  const about = readRun(run);
  const going = running(run);
  if (going.length === 0)
    throw failed(`'${run.shown}' is ${readJob(run)?.outcome ?? 'not begun'}; there is nothing to cancel`);
  const runner = runnerOf(run, manner);
  if (runner === undefined && about.delivery === 'local') {
    const host = going
      .map((one) => readJob(one)?.host)
      .find((one) => one !== undefined && one !== world.host);
    throw failed(
      host === undefined
        ? `'${run.shown}' was killed; there is nothing to cancel`
        : `'${run.shown}' is measured on '${host}'; cancel it there`,
    );
  }
  if (dryRun) {
    const sessions = going.filter((one) => readRun(one).children === undefined);
    const stops = runner
      ? { signals: runner.pid }
      : { sessions: sessions.map((one) => planned(one, manner)) };
    await world.stdout.write(jsonText({ format: 'dry-run/1', ...stops }));
    return EXIT.done;
  }
  if (runner) {
    signal(runner.pid, 'SIGTERM');
    talk.info(`told process ${runner.pid}, which measures '${run.shown}', to stop`);
    return EXIT.done;
  }
  const stopped = Object.create(world, {
    interrupted: { value: AbortSignal.abort('cancel') },
  }) as Manner['world'];
  const ending = await ((about.children?.length ?? 0) > 0 ? measureSessions : measure)(run, about, {
    ...manner,
    world: stopped,
  });
  if (ending.outcome === 'running') throw failed(`'${run.shown}' was not cancelled: ${ending.message}`);
  talk.info(`'${run.shown}' is ${ending.outcome}`);
  return EXIT.done;
};

/** Deletes what one session has in the cluster; without a recorded Job it is looked for by the words that this directory gave it. False: it can have none. */
const removeJob = async (run: RunDirectory, { world, talk }: Manner): Promise<boolean> => {
  const before = readJob(run);
  if (before?.submission === undefined) return false;
  const values = run.json('values.json', valuesSchema);
  const cluster = clusterOf(values, world);
  const at = { namespace: before.job?.namespace ?? values.namespace!, name: run.name };
  const found = await findSubmitted(cluster, at, before);
  const gone = !found || !(await cluster.delete('jobs', at, found.metadata.uid));
  talk.info(gone ? `the Job '${run.name}' is gone already` : `deleted the Job '${run.name}'`);
  return true;
};

/** Deletes what a run has in the cluster, and saves nothing. */
const remove = async (run: RunDirectory, manner: Manner, dryRun: boolean): Promise<void> => {
  const parts = partsOf(run);
  const busy = parts.flatMap((part) => {
    const runner = runnerOf(part, manner);
    return runner ? [`'${part.shown}' is being measured by process ${runner.pid}`] : [];
  });
  if (busy.length > 0)
    throw failed([
      ...busy,
      `nothing was deleted; stop it first: k8sbench run-session cancel --run ${run.shown}`,
    ]);
  if (dryRun) {
    const begun = parts.filter((one) => readJob(one)?.submission !== undefined);
    const deletes = { sessions: begun.map((one) => planned(one, manner)) };
    return manner.world.stdout.write(jsonText({ format: 'dry-run/1', ...deletes }));
  }
  const was = readJob(run)?.outcome ?? 'not begun';
  let mayHave = false;
  // Sessions first: the run is over when they are.
  for (const part of parts.toReversed()) {
    const about = readRun(part);
    if (await removeJob(part, manner)) mayHave = true;
    if (readJob(part)?.outcome === 'running')
      await attempt(
        part,
        about,
        manner,
        async ({ job }) =>
          (job.ending as Ending | undefined) ?? {
            outcome: 'interrupted',
            exit: EXIT.interrupted,
            message:
              about.delivery === 'local'
                ? 'its runner was killed'
                : 'its Job was deleted before its log was collected',
          },
      );
  }
  if (!mayHave)
    manner.talk.info(`'${run.shown}' is ${was} and has no Job in a cluster; there is nothing to delete`);
};

export const act = async (asked: Asked, manner: Manner): Promise<Exit> => {
  const { world, talk } = manner;
  const { action, name, run: named, dryRun } = asked;
  if (named !== undefined) {
    const run = await openRun(named, world);
    if (action === 'cancel') return cancel(run, manner, dryRun);
    await remove(run, manner, dryRun);
    return EXIT.done;
  }
  const { cluster, namespace } = await placeOf(asked, manner);
  if (dryRun) {
    const { server, context } = cluster;
    const does =
      action === 'list'
        ? { lists: ['jobs', 'pods'], labelSelector: OURS, gets: ['pods/log'] }
        : { deletes: { kind: 'Job', name } };
    await world.stdout.write(jsonText({ format: 'dry-run/1', server, context, namespace, ...does }));
    return EXIT.done;
  }
  if (action === 'list') {
    const runs = await listRuns(cluster, namespace, world.now());
    if (runs.length === 0) talk.info(`namespace '${namespace}' has no runs`);
    await world.stdout.write(asked.json ? jsonText(runs) : runs.length === 0 ? '' : inventoryTable(runs));
    return EXIT.done;
  }
  await deleteByName(cluster, namespace, name!);
  talk.info(`deleted the Job '${name}'`);
  return EXIT.done;
};
