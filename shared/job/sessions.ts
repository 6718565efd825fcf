/** The sessions of a run directory: itself, or its children, each with the node that was planned or picked for it. */
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { nodes as nodesSchema } from '../../schemas/nodes.ts';
import { type Run, run as runSchema } from '../../schemas/run.ts';
import { values as valuesSchema } from '../../schemas/values.ts';
import { failed, usage } from '../failure.ts';
import { readPlan } from '../plan-file.ts';
import { type RunDirectory, runDirectory } from '../rundir.ts';
import type { Session } from './manifest.ts';

export interface Part {
  run: RunDirectory;
  session: Session;
}

/** Nodes in the order of the sessions that run on them; undefined: the scheduler chooses. */
const nodesOf = async (run: RunDirectory, about: Run): Promise<string[] | undefined> => {
  if (run.has('nodes.json')) {
    const { chosen, inputs } = run.json('nodes.json', nodesSchema);
    if (inputs && !isDeepStrictEqual(inputs, await run.digests(Object.keys(inputs))))
      throw failed(
        `'${run.shown}' was planned again since its nodes were picked; pick again: k8sbench pick-nodes --run ${run.shown}`,
      );
    return chosen;
  }
  if (about.pickNode)
    throw failed(
      `'${run.shown}' has no nodes yet; 'pick-nodes' picks them: k8sbench pick-nodes --run ${run.shown}`,
    );
  return about.nodes;
};

/** Side by side each session has a node of its own; in turn all have the same. */
const nodeAt = ({ spread }: Run, nodes: readonly string[] | undefined, at: number): string | undefined =>
  spread === undefined ? nodes?.[0] : nodes?.[at];

const sessionIn = (run: RunDirectory, node: string | undefined): Session => ({
  about: run.json('run.json', runSchema),
  plan: readPlan(run).compact,
  values: run.json('values.json', valuesSchema),
  ...(node === undefined ? {} : { node }),
});

/** Every session of a run. */
export const partsOf = async (run: RunDirectory): Promise<Part[]> => {
  const about = run.json('run.json', runSchema);
  if (about.delivery === 'local') throw usage(`'${run.shown}' is a local run: it needs no Job`);
  if (about.parent !== undefined)
    throw usage(
      `'${run.shown}' is a part of run '${about.parent}'; its nodes are known there: render that one`,
    );
  const nodes = await nodesOf(run, about);
  if (!about.children) return [{ run, session: sessionIn(run, nodes?.[0]) }];
  if (about.spread !== undefined && nodes !== undefined && nodes.length < about.children.length)
    throw failed(
      `'${run.shown}' spreads over ${about.children.length} nodes, and ${nodes.length} are chosen; pick again: k8sbench pick-nodes --force --run ${run.shown}`,
    );
  return about.children.map((name, at) => {
    const child = runDirectory(run.file(name), join(run.shown, name));
    return { run: child, session: sessionIn(child, nodeAt(about, nodes, at)) };
  });
};

/** The run that `render` is told to render for a session: itself, or the one that it is a part of. */
export const wholeRun = (run: RunDirectory, parent: Run['parent']): RunDirectory =>
  parent === undefined ? run : runDirectory(dirname(run.path), dirname(run.shown));

/** One session by its own directory, alone or as a part of its run. */
export const sessionOf = async (run: RunDirectory): Promise<Session> => {
  const { parent } = run.json('run.json', runSchema);
  const whole = wholeRun(run, parent);
  if (!whole.has('run.json'))
    throw failed(`'${run.shown}' is a part of run '${parent}', and its nodes are known there; move it back`);
  const about = whole.json('run.json', runSchema);
  const at = about.children?.indexOf(run.name) ?? 0;
  return sessionIn(run, nodeAt(about, await nodesOf(whole, about), at));
};
