/** Nodes and pods from the JSON that kubectl printed, in a file or on stdin. */
import { resolve } from 'node:path';
import { failed } from '../../shared/failure.ts';
import { partsOfFile } from '../../shared/input-file.ts';
import type { World } from '../../shared/world.ts';
import { listScanner } from './list-scanner.ts';
import type { Node, Pod } from '../../shared/nodes/objects.ts';
import { addNode, addPod, emptyTally, type Tally } from '../../shared/nodes/tally.ts';

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
  const parts = from === '-' ? world.stdin : partsOfFile(resolve(world.cwd, from), undefined, from);
  for await (const part of parts) scanner.push(part);
  scanner.end();
  if (tally.nodes.length === 0 && tally.namespaces.size === 0)
    throw failed(`${name}: neither nodes nor pods; expected what 'kubectl get nodes,pods -A -o json' prints`);
  return tally;
};
