/**
 * pick-nodes from a real API server with 1,000 nodes and 30,000 pods, against `kubectl get pods -A -o json` (at least 10
 * times faster) and a bare paged fetch (at most 1.3 times its time), in at most 150 MB.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from '../../../shared/kubernetes.ts';
import { realWorld } from '../../../shared/world.ts';
import { down } from '../../cluster/down.ts';
import { NAMESPACES, nodeAt, podAt } from '../../cluster/population.ts';
import { up } from '../../cluster/up.ts';
import { atLeast, atMost, type Goal, type Measured, measured, medianOf } from './measured.ts';

const tool = resolve(import.meta.dir, '../../../tools/pick-nodes/main.ts');
const directory = join(tmpdir(), 'k8sbench-bench-cluster');

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

export const liveBench = async (nodes = 1000, pods = 30_000): Promise<Goal[]> => {
  const { kubeconfig, kube } = await up({ directory, apiOnly: true });
  try {
    await fill(kubeconfig, nodes, pods);
    console.log(`an API server with ${nodes} nodes and ${pods} pods`);
    const values = join(directory, 'values.yaml');
    writeFileSync(values, 'tolerations: [{operator: Exists}]\n');
    const words = [process.execPath, tool, '--kubeconfig', kubeconfig, '--values', values, '--json'];
    // In turn, so that both meet the same machine.
    const bare: Measured[] = [];
    const picked = await medianOf(5, async () => {
      bare.push(await measured([process.execPath, join(import.meta.dir, 'bare-fetch.ts'), kubeconfig]));
      return measured(words);
    });
    const fetched = bare.toSorted((a, b) => a.seconds - b.seconds)[2]!;
    const kubectl = await measured(
      [kube, 'kubectl', '--kubeconfig', kubeconfig, 'get', 'pods', '-A', '-o', 'json'],
      true,
    );
    for (const [name, one] of Object.entries({ 'pick-nodes': picked, 'bare fetch': fetched, kubectl }))
      console.log(`${name.padEnd(11)} ${one.seconds.toFixed(2)} s, ${(one.peak_bytes / 1e6).toFixed(0)} MB`);
    return [
      atLeast('live, against kubectl get pods -A -o json', kubectl.seconds / picked.seconds, 10),
      atMost('live, against a bare paged fetch', picked.seconds / fetched.seconds, 1.3, 'of its time'),
      atMost('live, peak memory', picked.peak_bytes / 1e6, 150, 'MB'),
    ];
  } finally {
    await down(directory);
  }
};
