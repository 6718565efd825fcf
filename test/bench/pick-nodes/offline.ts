/**
 * pick-nodes on an offline list of 5,000 nodes and 150,000 pods (500 MB) against jq doing the same sums: at least 5 times
 * faster, in at most 300 MB. Both must come to the same free CPU and memory on every node.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nodeAt, podAt } from '../../cluster/population.ts';
import { atLeast, atMost, type Goal, measured, medianOf } from './measured.ts';

const tool = resolve(import.meta.dir, '../../../tools/pick-nodes/main.ts');

/** Writes what `kubectl get nodes,pods -A -o json` would print: indented by four. */
const writeList = (path: string, nodes: number, pods: number): void => {
  const fd = openSync(path, 'w');
  let waiting = '{\n    "apiVersion": "v1",\n    "items": [\n';
  const put = (object: object, last: boolean): void => {
    waiting += JSON.stringify(object, null, 4).replace(/^/gm, '        ') + (last ? '\n' : ',\n');
    if (waiting.length < 1 << 22) return;
    writeSync(fd, waiting);
    waiting = '';
  };
  for (let at = 0; at < nodes; at++) put(nodeAt(at), false);
  for (let at = 0; at < pods; at++) put(podAt(at, nodes), at === pods - 1);
  writeSync(
    fd,
    `${waiting}    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n`,
  );
  closeSync(fd);
};

interface Row {
  name: string;
  freeCpu: number;
  freeMemory: number;
  pods: number;
}

const near = (x: number, y: number): boolean => Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x));

/** The same nodes with the same numbers, but for the last digits that jq's doubles lose. */
const same = (a: Row[], b: Row[]): boolean => {
  const byName = new Map(b.map((one) => [one.name, one]));
  return (
    a.length === b.length &&
    a.every((one) => {
      const other = byName.get(one.name);
      return (
        other !== undefined &&
        near(one.freeCpu, other.freeCpu) &&
        near(one.freeMemory, other.freeMemory) &&
        one.pods === other.pods
      );
    })
  );
};

export const offlineBench = async (nodes = 5000, pods = 150_000): Promise<Goal[]> => {
  const directory = mkdtempSync(join(tmpdir(), 'k8sbench-bench-'));
  try {
    const list = join(directory, 'list.json');
    writeList(list, nodes, pods);
    console.log(`a list of ${nodes} nodes and ${pods} pods: ${(Bun.file(list).size / 1e6).toFixed(0)} MB`);
    const ours = await medianOf(3, () => measured([process.execPath, tool, '--from', list, '--json']));
    console.log(`pick-nodes  ${ours.seconds.toFixed(2)} s, ${(ours.peak_bytes / 1e6).toFixed(0)} MB`);
    const jq = await measured(['jq', '-c', '-f', join(import.meta.dir, 'sums.jq'), list]);
    console.log(`jq          ${jq.seconds.toFixed(2)} s, ${(jq.peak_bytes / 1e6).toFixed(0)} MB`);
    if (!same((JSON.parse(ours.stdout) as { nodes: Row[] }).nodes, JSON.parse(jq.stdout) as Row[]))
      throw new Error('pick-nodes and jq come to different sums');
    return [
      atLeast('offline, against jq', jq.seconds / ours.seconds, 5),
      atMost('offline, peak memory', ours.peak_bytes / 1e6, 300, 'MB'),
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
};
