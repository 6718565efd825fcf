/** Whether nodes have room for the run now, by the ranking that `pick-nodes` picks with. Pure. */
import type { Nodes } from '../../schemas/nodes.ts';
import { Failure } from '../../shared/failure.ts';
import { chooseListed } from '../../shared/nodes/ranking.ts';
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

export const nodesFindings = (asked: Asked, { nodes }: Seen): Finding[] => {
  if (!isKnown(nodes) || nodes.value.basis === 'candidates') return [unknown(asked)];
  const { tally, basis } = nodes.value;
  let picked: Nodes;
  try {
    picked = chooseListed(tally, basis, asked.wanted, asked.namespace);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [
      fail(
        'room',
        error.problems.join('; '),
        'no pod starts as things are',
        'free a node, choose others, or ask for less',
      ),
    ];
  }
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
        basis === 'namespace' && said.includes('upper bound') ? 'what is counted' : 'node',
        said,
        'a session may wait, or be lost',
        'ask for the grant of cluster reads, or choose another node',
      ),
    ),
  ];
};
