/** JSON as it is written, so that mutations can write what no serializer would: repeated keys, numbers like 0x10, holes. */

export type Node =
  | { kind: 'object'; members: { key: string; value: Node }[] }
  | { kind: 'array'; items: Node[] }
  /** Anything else, as it is written; an object's key likewise. */
  | { kind: 'raw'; text: string };

export const raw = (text: string): Node => ({ kind: 'raw', text });

/** A value as a tree. */
export const treeOf = (value: unknown): Node => {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(treeOf) };
  if (typeof value === 'object' && value !== null)
    return {
      kind: 'object',
      members: Object.entries(value).map(([key, inner]) => ({
        key: JSON.stringify(key),
        value: treeOf(inner),
      })),
    };
  return raw(JSON.stringify(value));
};

/** On one line, or indented as our files are. */
export const written = (node: Node, indent?: string): string => {
  if (node.kind === 'raw') return node.text;
  const [open, close] = node.kind === 'object' ? '{}' : '[]';
  const parts =
    node.kind === 'object'
      ? node.members.map(
          ({ key, value }) =>
            `${key}:${indent === undefined ? '' : ' '}${written(value, indent === undefined ? undefined : `${indent}  `)}`,
        )
      : node.items.map((one) => written(one, indent === undefined ? undefined : `${indent}  `));
  if (parts.length === 0 || indent === undefined) return `${open}${parts.join(',')}${close}`;
  return `${open}\n${parts.map((one) => `${indent}  ${one}`).join(',\n')}\n${indent}${close}`;
};

/** A place in a tree that can be changed: what holds it, and where it stands there. */
export interface Place {
  node: Node;
  replace(node: Node): void;
  holder?: { node: Node & { kind: 'object' | 'array' }; at: number };
}

/** Every place of a tree, the whole first. `root` is a box, so that the whole can be replaced as well. */
export const placesOf = (root: { node: Node }): Place[] => {
  const all: Place[] = [{ node: root.node, replace: (node) => (root.node = node) }];
  const visit = (node: Node): void => {
    if (node.kind === 'object')
      for (const [at, member] of node.members.entries()) {
        all.push({ node: member.value, replace: (one) => (member.value = one), holder: { node, at } });
        visit(member.value);
      }
    if (node.kind === 'array')
      for (const [at, item] of node.items.entries()) {
        all.push({ node: item, replace: (one) => (node.items[at] = one), holder: { node, at } });
        visit(item);
      }
  };
  visit(root.node);
  return all;
};
