/** Nodes and pods from the JSON that kubectl printed, in a file or on stdin. */
import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { cause, failed } from '../../shared/failure.ts';
import type { World } from '../../shared/world.ts';
import { type ListScanner, listScanner } from './list-scanner.ts';
import type { Node, Pod } from '../../shared/nodes/objects.ts';
import { addNode, addPod, emptyTally, type Tally } from '../../shared/nodes/tally.ts';

const PART = 1 << 20;

const pushFile = (scanner: ListScanner, path: string, shown: string): void => {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    throw failed(`can't read '${shown}': ${cause(error)}`);
  }
  try {
    const buffer = new Uint8Array(PART);
    for (;;) {
      const read = readSync(fd, buffer, 0, PART, null);
      if (read === 0) return;
      scanner.push(buffer.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
};

/** What a list adds up to; `from` is a path, or `-` for stdin. Objects of other kinds are passed over. */
export const tallyFrom = async (from: string, world: World): Promise<Tally> => {
  const tally = emptyTally();
  const name = from === '-' ? 'stdin' : from;
  const scanner = listScanner(name, (item, kind) => {
    try {
      if (kind === 'Node') addNode(tally, item as unknown as Node);
      else if (kind === 'Pod') addPod(tally, item as unknown as Pod);
    } catch {
      throw failed(`${name}: a ${kind} lacks what every ${kind} has: ${JSON.stringify(item).slice(0, 120)}`);
    }
  });
  if (from === '-') for await (const part of world.stdin) scanner.push(part);
  else pushFile(scanner, resolve(world.cwd, from), from);
  scanner.end();
  if (tally.nodes.length === 0 && tally.namespaces.size === 0)
    throw failed(`${name}: neither nodes nor pods; expected what 'kubectl get nodes,pods -A -o json' prints`);
  return tally;
};
