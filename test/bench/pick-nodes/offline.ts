/** pick-nodes on an offline list of 500 MB, against jq doing the same sums: both must come to the same free CPU and memory on every node. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { nodeAt, podAt } from '../../cluster/population.ts';
import { type Bed, inTree, tool } from '../bed.ts';
import { type Figure, figureOf, notMeasured, ratios, shown } from '../figure.ts';
import { peer } from '../peers.ts';
import { type Grown, interleaved, type Ran, run, runForPeak } from '../process-run.ts';

const ROW = 'pick-nodes-offline';
const [NODES, PODS] = [5000, 150_000];
/** jq takes half a minute. */
const MOST_REPETITIONS = 3;

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

export const offline = async (bed: Bed): Promise<Figure[]> => {
  const list = join(bed.directory, 'list.json');
  // By a process of its own: a child's peak is never told as smaller than its parent's.
  await run([process.execPath, inTree('test/bench/pick-nodes/offline.ts'), list]);
  const megabytes = Bun.file(list).size / 1e6;
  const jq = await peer('jq');
  const each = await interleaved<string, Grown>(Math.min(bed.repetitions, MOST_REPETITIONS), {
    ours: () => runForPeak([...tool('pick-nodes'), '--from', list, '--json'], { keep: true }),
    ...('path' in jq
      ? {
          jq: () => runForPeak([jq.path, '-c', '-f', join(import.meta.dir, 'sums.jq'), list], { keep: true }),
        }
      : {}),
  });
  rmSync(list);
  const ours = each['ours']!;
  const seconds = (runs: readonly Ran[]): number[] => runs.map((one) => one.wallMs / 1000);
  const speed = { row: ROW, what: 'pick-nodes on an offline list, against jq', goal: { least: 5 } };
  const figures: Figure[] = [];
  if ('path' in jq) {
    const theirs = each['jq']!;
    if (
      !same((JSON.parse(ours[0]!.stdout) as { nodes: Row[] }).nodes, JSON.parse(theirs[0]!.stdout) as Row[])
    )
      throw new Error('pick-nodes and jq come to different sums');
    const from = `${megabytes.toFixed(0)} MB: ${shown(seconds(ours), 's')}, jq ${shown(seconds(theirs), 's')}`;
    figures.push(figureOf({ ...speed, unit: '×', from }, ratios(seconds(theirs), seconds(ours))));
  } else figures.push(notMeasured({ ...speed, unit: '×' }, jq.why));
  const peak = {
    row: ROW,
    what: 'its peak memory',
    goal: { most: 300 },
    unit: 'MB' as const,
    from: 'resident',
  };
  return [
    ...figures,
    figureOf(
      peak,
      ours.map((one) => one.peakMB),
    ),
  ];
};

if (import.meta.main) writeList(process.argv[2]!, NODES, PODS);
