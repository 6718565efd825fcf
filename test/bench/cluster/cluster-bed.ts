/** The cluster that rows share, started when the first of them asks for it, and runs laid down for it. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { type Cluster, connect } from '../../../shared/kubernetes.ts';
import { realWorld } from '../../../shared/world.ts';
import { down } from '../../cluster/down.ts';
import { until } from '../../cluster/processes.ts';
import { importImage, makeImage } from '../../cluster/image.ts';
import { copyWithLibraries, sessionImages } from '../../cluster/session-image.ts';
import { up } from '../../cluster/up.ts';
import { type Bed, tool } from '../bed.ts';
import { run } from '../process-run.ts';
import { mountFileSystem, unmountFileSystem } from './file-system.ts';

export interface ClusterBed extends Bed {
  cluster: Cluster;
  kubeconfig: string;
  /** The kubectl of the cluster's release. */
  kubectl: readonly string[];
  namespace: string;
  /** Node with the GNU tools of an official Node image; the same with the artifacts. */
  images: { base: string; session: string };
  /** A planned and rendered run; `words` are more words for `plan`. Gives its directory. */
  laidDown(words: readonly string[]): Promise<string>;
}

const PLACE = join(tmpdir(), 'k8sbench-bench-nodes');
const DIRECTORY = join(PLACE, 'mounted', 'cluster');
const NAMESPACE = 'bench';

/** The tests' image has busybox, whose tools are slower than those that people have. */
const withGnuTools = (): string => {
  const root = join(DIRECTORY, 'gnu-root');
  cpSync(join(DIRECTORY, 'session-root'), root, { recursive: true, verbatimSymlinks: true });
  rmSync(join(root, 'opt'), { recursive: true });
  for (const name of ['tar', 'gzip', 'sha256sum']) {
    rmSync(join(root, 'bin', name), { force: true });
    copyWithLibraries(root, Bun.which(name)!, `/bin/${name}`);
  }
  const archive = join(DIRECTORY, 'gnu.tar');
  const base = makeImage(archive, 'k8sbench-bench/node', root);
  importImage(DIRECTORY, 2, archive, base);
  return base;
};

/** A cluster of two nodes with the images of sessions; `remove` takes it down. */
export const clusterBed = async (bed: Bed): Promise<{ bed: ClusterBed; remove: () => Promise<void> }> => {
  const remove = async (): Promise<void> => {
    await down(DIRECTORY);
    unmountFileSystem(PLACE);
  };
  try {
    await down(DIRECTORY);
    mountFileSystem(PLACE);
    const { kubeconfig, kube } = await up({ directory: DIRECTORY });
    // By a process of its own: a child's peak is never told as smaller than its parent's.
    const made = await run([process.execPath, import.meta.path], { keep: true });
    const images = JSON.parse(made.stdout) as ClusterBed['images'];
    const cluster = connect({ kubeconfig }, realWorld());
    const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.create('namespaces', {}, { metadata: { name: NAMESPACE, labels: restricted } });
    await until('its service account', () =>
      cluster.get('serviceaccounts', { namespace: NAMESPACE, name: 'default' }).then(
        () => true,
        () => false,
      ),
    );
    const values = join(bed.directory, 'cluster-values.yaml');
    writeFileSync(values, JSON.stringify({ kubeconfig, namespace: NAMESPACE, memory: '1Gi' }));
    let runs = 0;
    const laidDown = async (words: readonly string[]): Promise<string> => {
      const path = join(bed.directory, `k8sbench-bench-${++runs}`);
      await run([...tool('plan'), '--run', path, '--values', values, ...words]);
      await run([...tool('render'), '--run', path]);
      return path;
    };
    const kubectl = [kube, 'kubectl', '--kubeconfig', kubeconfig, '-n', NAMESPACE];
    return {
      bed: { ...bed, cluster, kubeconfig, kubectl, namespace: NAMESPACE, images, laidDown },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
};

if (import.meta.main) {
  const { session } = await sessionImages(DIRECTORY);
  console.log(JSON.stringify({ base: withGnuTools(), session }));
}
