/** A run of several sessions: its children in turn with new fixtures, or side by side over nodes; what is done stays done. */
import { existsSync, rmSync } from 'node:fs';
import { type Spread, spread as spreadSchema } from '../../schemas/spread.ts';
import type { Run } from '../../schemas/run.ts';
import { EXIT } from '../../shared/exit.ts';
import { failed } from '../../shared/failure.ts';
import { readPlan } from '../../shared/plan-file.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { deliveryOf } from './deliveries.ts';
import type { Ending } from './ending.ts';
import { readJob } from './job-file.ts';
import { setLogsAside } from './log-file.ts';
import { MANIFEST } from './manifest-file.ts';
import { attempt, holdingBuilds, isFinished, measure, prepare, readRun } from './measure.ts';
import { measureSideBySide } from './side-by-side.ts';
import type { Manner } from './task.ts';

const FILE = 'spread.json';

const childrenOf = (run: RunDirectory, names: readonly string[]): RunDirectory[] => {
  const children = names.map((name) => runDirectory(run.file(name), `${run.shown}/${name}`));
  const missing = children.filter((child) => !existsSync(child.file('run.json')));
  if (missing.length > 0)
    throw failed(missing.map((child) => `session '${child.shown}' has no run.json; plan the run again`));
  return children;
};

type Child = Spread['children'][number];
type Set = (at: number, fields: Partial<Child>) => void;

/** spread.json, written whenever something becomes of a child. */
const spreadFile = (run: RunDirectory, about: Run, children: readonly RunDirectory[]): Set => {
  const before = run.has(FILE) ? run.json(FILE, spreadSchema).children : [];
  const state: Spread = {
    format: 'spread/1',
    run: about.run,
    over: about.spread === undefined ? 'sessions' : 'nodes',
    children: children.map(({ name }) => {
      const known = before.find((one) => one.run === name);
      return {
        run: name,
        dir: name,
        ...(known?.node === undefined ? {} : { node: known.node }),
        outcome: known?.outcome ?? 'planned',
      };
    }),
  };
  return (at, fields) => {
    Object.assign(state.children[at]!, fields);
    run.writeJson(FILE, state);
  };
};

/** A session that goes on in the cluster without a runner: stopping its run stops it as well. */
const goesOn = (child: RunDirectory, about: Run): boolean =>
  deliveryOf(about).attaches && readJob(child)?.outcome === 'running';

/** Measures the children that are not finished yet; the first that does not end well stops the rest. */
const measureInTurn = async (children: RunDirectory[], manner: Manner, set: Set): Promise<Ending> => {
  const { talk, world } = manner;
  let stopped: Ending | undefined;
  let failure: { error: unknown } | undefined;
  for (const [at, child] of children.entries()) {
    const about = readRun(child);
    if (await isFinished(child, about, manner)) {
      set(at, { outcome: 'done' });
      continue;
    }
    if (world.interrupted.aborted && !goesOn(child, about)) {
      stopped ??= {
        outcome: 'interrupted',
        exit: EXIT.interrupted,
        message: `stopped before '${child.name}'`,
      };
      continue;
    }
    talk.info(`session ${at + 1} of ${children.length}: '${child.shown}'`);
    set(at, { outcome: 'running' });
    let ending: Ending;
    try {
      ending = await measure(child, about, manner);
    } catch (error) {
      set(at, { outcome: 'failed' });
      if (!world.interrupted.aborted) throw error;
      // The others are stopped all the same.
      failure ??= { error };
      continue;
    }
    set(at, { outcome: ending.outcome });
    if (ending.outcome !== 'done') {
      const { log: _log, ...rest } = ending;
      const badly = { ...rest, message: `'${child.name}': ${ending.message}` };
      if (!world.interrupted.aborted) return badly;
      stopped ??= badly;
    }
  }
  if (failure) throw failure.error;
  return stopped ?? { outcome: 'done', exit: EXIT.done };
};

/**
 * Sessions that are to be measured again count as measured no longer, all at once: should this runner not come to the last
 * of them, the next one must not take an old session for one of the new.
 */
const forget = (children: readonly RunDirectory[], { talk }: Manner): void => {
  for (const child of children) {
    const outcome = readJob(child)?.outcome;
    if (outcome === undefined || outcome === 'running') continue;
    rmSync(child.file(MANIFEST), { force: true });
    for (const name of setLogsAside(child, outcome))
      talk.info(`the earlier log is kept as '${child.shown}/${name}'`);
  }
};

/** Measures a run of several sessions; the parent has a job.json, spread.json and manifest of its own. */
export const measureSessions = async (run: RunDirectory, about: Run, manner: Manner): Promise<Ending> => {
  const children = childrenOf(run, about.children ?? []);
  for (const child of children) await prepare(child, readRun(child), manner);
  // Between two sessions as well.
  return holdingBuilds(readPlan(run).plan, () =>
    attempt(run, about, manner, () => {
      if (manner.force) forget(children, manner);
      const set = spreadFile(run, about, children);
      return about.spread === undefined
        ? measureInTurn(children, manner, set)
        : measureSideBySide(children, manner, set);
    }),
  );
};
