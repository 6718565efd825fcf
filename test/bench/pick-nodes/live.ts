/** pick-nodes from a real API server with 1,000 nodes and 30,000 pods, against kubectl and a bare paged fetch. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../shared/kubernetes.ts';
import { realWorld } from '../../../shared/world.ts';
import { down } from '../../cluster/down.ts';
import { NAMESPACES, nodeAt, podAt } from '../../cluster/population.ts';
import { up } from '../../cluster/up.ts';
import { type Bed, inTree, tool } from '../bed.ts';
import { type Figure, figureOf, ratios, shown } from '../figure.ts';
import { type Grown, interleaved, run, runForPeak } from '../process-run.ts';

const ROW = 'pick-nodes-live';
const [NODES, PODS] = [1000, 30_000];
const DIRECTORY = join(tmpdir(), 'k8sbench-bench-cluster');
/** kubectl takes a third of a minute. */
const MOST_REPETITIONS = 3;

/** `work` for each number below `count`, 64 at a time. */
const each = async (count: number, work: (at: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
};

const fill = async (kubeconfig: string, nodes: number, pods: number): Promise<void> => {
  const cluster = connect({ kubeconfig }, realWorld());
  for (const name of NAMESPACES) {
    await cluster.create('namespaces', {}, { metadata: { name } });
    await cluster.create('serviceaccounts', { namespace: name }, { metadata: { name: 'default' } });
  }
  await each(nodes, (at) => cluster.create('nodes', {}, nodeAt(at)));
  await each(pods, async (at) => {
    const pod = podAt(at, nodes) as {
      metadata: { name: string; namespace: string };
      status: { phase: string };
    };
    const { namespace, name } = pod.metadata;
    await cluster.create('pods', { namespace }, pod);
    // A pod is created Pending; what finished is told like the kubelet tells it.
    if (pod.status.phase === 'Succeeded')
      await cluster.patch(
        'pods',
        { namespace, name, subresource: 'status' },
        { status: { phase: 'Succeeded' } },
      );
  });
};

export const live = async (bed: Bed): Promise<Figure[]> => {
  const { kubeconfig, kube } = await up({ directory: DIRECTORY, apiOnly: true });
  try {
    // By a process of its own: a child's peak is never told as smaller than its parent's.
    await run([process.execPath, inTree('test/bench/pick-nodes/live.ts'), kubeconfig]);
    const values = join(bed.directory, 'pick-nodes.yaml');
    writeFileSync(values, 'tolerations: [{operator: Exists}]\n');
    const picking = ['--kubeconfig', kubeconfig, '--values', values, '--json'];
    const kubectl = [kube, 'kubectl', '--kubeconfig', kubeconfig, 'get', 'pods', '-A', '-o', 'json'];
    const found = await interleaved<'ours' | 'bare' | 'kubectl', Grown>(
      Math.min(bed.repetitions, MOST_REPETITIONS),
      {
        ours: () => runForPeak([...tool('pick-nodes'), ...picking]),
        bare: () => runForPeak([process.execPath, inTree('test/bench/pick-nodes/bare-fetch.ts'), kubeconfig]),
        kubectl: () => runForPeak(kubectl),
      },
    );
    const seconds = (name: keyof typeof found): number[] => found[name].map((one) => one.wallMs / 1000);
    const peaks = (name: keyof typeof found): number[] => found[name].map((one) => one.peakMB);
    const row = { row: ROW, unit: '×' as const };
    return [
      figureOf(
        {
          ...row,
          what: 'pick-nodes from an API server, against kubectl get pods -A -o json',
          goal: { least: 10 },
          from: `${shown(seconds('ours'), 's')}, kubectl ${shown(seconds('kubectl'), 's')}`,
        },
        ratios(seconds('kubectl'), seconds('ours')),
      ),
      figureOf(
        {
          ...row,
          what: 'its time, against a bare paged fetch',
          goal: { most: 1.3 },
          from: `bare fetch ${shown(seconds('bare'), 's')}`,
        },
        ratios(seconds('ours'), seconds('bare')),
      ),
      figureOf(
        {
          row: ROW,
          what: 'its peak memory',
          goal: { most: 150 },
          unit: 'MB',
          from: `resident; bare fetch ${shown(peaks('bare'), 'MB', 0)}`,
        },
        peaks('ours'),
      ),
    ];
  } finally {
    await down(DIRECTORY);
  }
};

if (import.meta.main) await fill(process.argv[2]!, NODES, PODS);
