/** Logs whose lines were changed and which then got a number and a digest that agree: past the seal, to the readers of lines. */
import { createHash } from 'node:crypto';
import { type Input, LARGE, largeTrees, type Make } from './inputs.ts';
import { type Node, treeOf, written } from './json-tree.ts';
import { mutate } from './mutations.ts';

/** The line with its number after `t`, as a session writes it. */
const numbered = (node: Node, seq: number): string => {
  if (node.kind !== 'object') return written(node);
  const [first, ...rest] = node.members;
  const members = [
    ...(first ? [first] : []),
    { key: '"seq"', value: { kind: 'raw' as const, text: String(seq) } },
    ...rest,
  ];
  return written({ kind: 'object', members });
};

/** Whether a reader takes it for a line of the session. */
const isSessionLine = (line: string): boolean => {
  try {
    const { t, seq } = JSON.parse(line) as Record<string, unknown>;
    return line.startsWith('{') && typeof t === 'string' && Number.isSafeInteger(seq) && (seq as number) >= 0;
  } catch {
    return false;
  }
};

const sealed = (nodes: readonly Node[]): Buffer => {
  const hash = createHash('sha256');
  const lines: string[] = [];
  let seq = 0;
  for (const node of nodes) {
    const line = numbered(node, seq);
    lines.push(`${line}\n`);
    if (!isSessionLine(line)) continue;
    hash.update(`${line}\n`);
    seq++;
  }
  lines.push(`${JSON.stringify({ t: 'end', seq, lines: seq, sha256: hash.digest('hex') })}\n`);
  return Buffer.from(lines.join(''));
};

const withoutSeq = (line: unknown): unknown => {
  const { seq: _seq, ...rest } = line as Record<string, unknown>;
  return rest;
};

/** Lines as values, numbered and sealed. */
export const sealedLines = (lines: readonly unknown[]): Buffer =>
  sealed(lines.map((line) => treeOf(withoutSeq(line))));

/** Large values in a line of each kind, sealed; and lines that are no session's. */
export const largeLogs = function* (lines: readonly unknown[]): Generator<Input> {
  const nodes = lines.map((line) => treeOf(withoutSeq(line)));
  for (const [what, make] of LARGE)
    yield {
      bytes: Buffer.concat([Buffer.from(`${make()}\n`), sealed(nodes)]),
      how: [`a foreign line: ${what}`],
    };
  const kinds = new Map(lines.map((line, at) => [(line as { t: string }).t, at] as const).toReversed());
  for (const [kind, at] of kinds)
    for (const { node, how } of largeTrees(withoutSeq(lines[at]), (count) => [2, count - 1]))
      yield { bytes: sealed(nodes.with(at, node)), how: [`${kind}: ${how}`] };
};

/** `lines` of a whole session without its end line. */
export const sealedLog = (lines: readonly unknown[]): Make => {
  const nodes = lines.map((line) => treeOf(withoutSeq(line)));
  // The facts describe all the others; they deserve more than their share.
  const favourites = [0, 0, 1, 2, 3];
  return (random) => {
    const changed = [...nodes];
    const how: string[] = [];
    for (let left = 1 + random.below(2); left > 0; left--) {
      const at = random.chance(0.3) ? random.one(favourites) : random.below(changed.length);
      const kind = random.one(['line', 'line', 'line', 'line', 'gone', 'twice', 'moved']);
      if (kind === 'gone') changed.splice(at, 1);
      else if (kind === 'twice') changed.splice(random.below(changed.length + 1), 0, changed[at]!);
      else if (kind === 'moved') changed.splice(random.below(changed.length), 0, ...changed.splice(at, 1));
      else {
        const root = { node: structuredClone(changed[at]!) };
        how.push(`line ${at}: ${mutate(root, random).join(', ')}`);
        changed[at] = root.node;
        continue;
      }
      how.push(`line ${at} ${kind}`);
    }
    return { bytes: sealed(changed), how };
  };
};
