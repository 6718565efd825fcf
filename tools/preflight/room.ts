/** Whether nodes have room for the run now, by the ranking that `pick-nodes` picks with. Pure. */
import type { Nodes } from '../../schemas/nodes.ts';
import { Failure } from '../../shared/failure.ts';
import { chooseListed } from '../../shared/nodes/ranking.ts';
import type { NodeFacts } from '../../shared/nodes/tally.ts';
import { isKnown } from './answer.ts';
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';
import type { Seen } from './seen.ts';

const { ok, warn, fail } = area('nodes');

const unknown = (asked: Asked): Finding =>
  warn(
    'room',
    'not known: the account may not list nodes',
    asked.wanted.candidates
      ? `whether ${asked.wanted.candidates.map((one) => `'${one}'`).join(', ')} can be used is known once a pod is there`
      : 'whether one has room is known once a pod is there',
    'ask for the grant of cluster reads',
  );

/** The choice among listed nodes, or why there is none; undefined: the account may not list them. */
const pickedOf = (asked: Asked, nodes: Seen['nodes']): Nodes | Failure | undefined => {
  if (!isKnown(nodes) || nodes.value.basis === 'candidates') return undefined;
  const { tally, basis } = nodes.value;
  try {
    return chooseListed(tally, basis, asked.wanted, asked.namespace);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
};

/** Nodes that take the run now; where not enough do, those that might, had they room; none: they can't be listed. */
export const fittingNodes = (asked: Asked, nodes: Seen['nodes']): { nodes: NodeFacts[]; now: boolean } => {
  const picked = pickedOf(asked, nodes);
  if (picked === undefined || !isKnown(nodes)) return { nodes: [], now: false };
  const all = nodes.value.tally.nodes;
  if (!(picked instanceof Failure)) {
    const names = new Set(picked.nodes.filter((one) => one.skip === undefined).map((one) => one.name));
    return { nodes: all.filter((one) => names.has(one.name)), now: true };
  }
  const { candidates, arch } = asked.wanted;
  const might = (one: NodeFacts): boolean =>
    one.os === 'linux' &&
    (arch === undefined || one.arch === arch) &&
    (candidates === undefined || candidates.includes(one.name));
  return { nodes: all.filter(might), now: false };
};

export const nodesFindings = (asked: Asked, { nodes }: Seen): Finding[] => {
  const picked = pickedOf(asked, nodes);
  if (picked === undefined) return [unknown(asked)];
  if (picked instanceof Failure)
    return [
      fail(
        'room',
        picked.problems.join('; '),
        'no pod starts as things are',
        'free a node, choose others, or ask for less',
      ),
    ];
  const usable = picked.nodes.filter((one) => one.skip === undefined);
  return [
    ok(
      'room',
      `${usable.length} of ${picked.nodes.length} nodes take it; ${picked.chosen.map((one) => `'${one}'`).join(', ')} best`,
      `${asked.wanted.cpus} CPU${asked.wanted.cpus === 1 ? '' : 's'} and ${asked.wanted.memory} are free${asked.wanted.count > 1 ? ` on ${asked.wanted.count} nodes` : ''} now`,
      { usable: usable.length },
    ),
    ...picked.warnings.map((said) =>
      warn(
        picked.basis === 'namespace' && said.includes('upper bound') ? 'what is counted' : 'node',
        said,
        'a session may wait, or be lost',
        'ask for the grant of cluster reads, or choose another node',
      ),
    ),
  ];
};
