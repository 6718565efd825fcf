/** A run of several sessions: its children in turn, each with new fixtures; what is done stays done. */
import { existsSync } from 'node:fs';
import { type Spread, spread as spreadSchema } from '../../schemas/spread.ts';
import type { Run } from '../../schemas/run.ts';
import { EXIT } from '../../shared/exit.ts';
import { failed } from '../../shared/failure.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import type { Ending } from './ending.ts';
import { attempt, isFinished, measure, prepare, readRun } from './measure.ts';
import type { Manner } from './task.ts';

const FILE = 'spread.json';

const childrenOf = (run: RunDirectory, names: readonly string[]): RunDirectory[] => {
  const children = names.map((name) => runDirectory(run.file(name), `${run.shown}/${name}`));
  const missing = children.filter((child) => !existsSync(child.file('run.json')));
  if (missing.length > 0)
    throw failed(missing.map((child) => `session '${child.shown}' has no run.json; plan the run again`));
  return children;
};

/** Measures the children that are not finished yet; the first that does not end well stops the rest. */
const measureInTurn = async (
  run: RunDirectory,
  children: RunDirectory[],
  manner: Manner,
): Promise<Ending> => {
  const { talk, world } = manner;
  const before = run.has(FILE) ? run.json(FILE, spreadSchema).children : [];
  const state: Spread = {
    format: 'spread/1',
    run: run.name,
    over: 'sessions',
    children: children.map(({ name }) => ({
      run: name,
      dir: name,
      outcome: before.find((one) => one.run === name)?.outcome ?? 'planned',
    })),
  };
  const set = (at: number, outcome: Spread['children'][number]['outcome']): void => {
    state.children[at]!.outcome = outcome;
    run.writeJson(FILE, state);
  };
  for (const [at, child] of children.entries()) {
    const about = readRun(child);
    if (await isFinished(child, about, manner)) {
      set(at, 'done');
      continue;
    }
    if (world.interrupted.aborted)
      return {
        outcome: 'interrupted',
        exit: EXIT.interrupted,
        message: `stopped before '${child.name}'`,
      };
    talk.info(`session ${at + 1} of ${children.length}: '${child.shown}'`);
    set(at, 'running');
    let ending: Ending;
    try {
      ending = await measure(child, about, manner);
    } catch (error) {
      set(at, 'failed');
      throw error;
    }
    set(at, ending.outcome);
    if (ending.outcome !== 'done') {
      const { log: _log, ...rest } = ending;
      return { ...rest, message: `'${child.name}': ${ending.message}` };
    }
  }
  return { outcome: 'done', exit: EXIT.done };
};

/** Measures a run of several sessions; the parent has a job.json, spread.json and manifest of its own. */
export const measureSessions = async (run: RunDirectory, about: Run, manner: Manner): Promise<Ending> => {
  const children = childrenOf(run, about.children ?? []);
  for (const child of children) await prepare(child, readRun(child), manner);
  return attempt(run, about, manner, () => measureInTurn(run, children, manner));
};
