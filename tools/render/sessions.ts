/** The sessions of a run directory: itself, or its children, each with the node that was planned or picked for it. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { nodes as nodesSchema } from '../../schemas/nodes.ts';
import { plan as planSchema } from '../../schemas/plan.ts';
import { type Run, run as runSchema } from '../../schemas/run.ts';
import { values as valuesSchema } from '../../schemas/values.ts';
import { failed, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { parseJson, readText } from '../../shared/read.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import type { Session } from '../../shared/job/manifest.ts';

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

const sessionOf = (run: RunDirectory, node: string | undefined): Session => {
  const about = run.json('run.json', runSchema);
  const { compactSha256 } = run.json('plan.json', planSchema);
  // As written: a checked copy has its keys in another order, which is another text.
  const written = parseJson(readText(run.file('plan.json')), 'plan.json') as { compact: object };
  const plan = JSON.stringify(written.compact);
  if (sha256(plan) !== compactSha256)
    throw failed(`'${run.shown}': plan.json was changed since it was planned; plan again`);
  const values = run.json('values.json', valuesSchema);
  return { about, plan, values, ...(node === undefined ? {} : { node }) };
};

/** Every session of a run. */
export const partsOf = async (run: RunDirectory): Promise<Part[]> => {
  const about = run.json('run.json', runSchema);
  if (about.delivery === 'local') throw usage(`'${run.shown}' is a local run: it needs no Job`);
  if (about.parent !== undefined)
    throw usage(
      `'${run.shown}' is a part of run '${about.parent}'; its nodes are known there: render that one`,
    );
  const nodes = await nodesOf(run, about);
  if (!about.children) return [{ run, session: sessionOf(run, nodes?.[0]) }];
  if (about.spread !== undefined && nodes !== undefined && nodes.length < about.children.length)
    throw failed(
      `'${run.shown}' spreads over ${about.children.length} nodes, and ${nodes.length} are chosen; pick again: k8sbench pick-nodes --force --run ${run.shown}`,
    );
  return about.children.map((name, at) => {
    const child = runDirectory(run.file(name), join(run.shown, name));
    // Side by side each has a node of its own; in turn all have the same.
    return { run: child, session: sessionOf(child, about.spread === undefined ? nodes?.[0] : nodes?.[at]) };
  });
};
