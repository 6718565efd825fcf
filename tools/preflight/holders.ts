/** Nodes that have the image already, as their kubelets tell. Pure. */
import type { Node } from '../../shared/nodes/objects.ts';
import type { NodeFacts } from '../../shared/nodes/tally.ts';
import { formatReference, isReference, parseReference } from '../../shared/registry/reference.ts';
import type { Asked } from './asked.ts';
import { fittingNodes } from './room.ts';
import type { Seen } from './seen.ts';

/** Whether an image is named by digest: what a tag means is known to whoever pulls it. */
export const isPinned = (image: string): boolean => image.includes('@sha256:') && isReference(image);

/** Tells of a node whether it has an image by its name and digest: a runtime finds it by both. */
export const holderOf = (image: string): ((node: Node) => boolean) => {
  if (!isPinned(image)) return () => false;
  const reference = parseReference(image);
  const wanted = formatReference(reference);
  const isIt = (name: string): boolean =>
    name.endsWith(`@${reference.digest}`) &&
    isReference(name) &&
    formatReference(parseReference(name)) === wanted;
  return ({ status }) => (status?.images ?? []).some(({ names }) => (names ?? []).some(isIt));
};

/** Nodes that a run may be on, and those of them that have its image. */
export interface Holders {
  /** Whether they take it now. */
  now: boolean;
  fitting: readonly NodeFacts[];
  holding: readonly NodeFacts[];
}

export const holdersOf = (asked: Asked, { nodes, holders }: Pick<Seen, 'nodes' | 'holders'>): Holders => {
  const { nodes: fitting, now } = fittingNodes(asked, nodes);
  return { now, fitting, holding: fitting.filter((one) => holders.has(one.name)) };
};

/** Whether the registry is to be asked: for all that is known, the pod may come to a node that has to pull. */
export const mayPull = (asked: Asked, seen: Pick<Seen, 'nodes' | 'holders'>): boolean => {
  const { fitting, holding } = holdersOf(asked, seen);
  return isPinned(asked.image) && (fitting.length === 0 || holding.length < fitting.length);
};

const NAMED = 3;

export const onNodes = ({ now, fitting, holding }: Holders): string => {
  const names = holding.slice(0, NAMED).map((one) => `'${one.name}'`);
  const more = holding.length > NAMED ? ` and ${holding.length - NAMED} more` : '';
  return `on ${holding.length} of ${fitting.length} ${now ? 'nodes that fit' : 'nodes'} (${names.join(', ')}${more})`;
};
