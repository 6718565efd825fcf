/**
 * A cluster in which Services, DNS, network policies and a registry work, for task-completion runs end to end. K8SBENCH_TEST_KUBE
 * names a directory whose programs do it: `up DIR` prints a kubeconfig, `down DIR` removes everything, `push FILE NAME` puts an
 * image archive into the registry and prints its reference, `volume DIR NAME SIZE` makes a volume, `resource DIR NODE NAME COUNT`
 * advertises a resource. As a program, `services-cluster.ts PID DIR`, it removes the cluster once that process is gone.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../cluster/kube-binary.ts';

const tools = process.env['K8SBENCH_TEST_KUBE'] ?? '';

const program = (name: string, ...words: string[]): string => {
  const path = join(tools, name);
  if (!existsSync(path))
    throw new Error(
      `K8SBENCH_TEST_KUBE: '${tools}' has no '${name}'; name a directory that has up, down, push, volume and resource`,
    );
  return run([path, ...words]).trim();
};

export interface ServicesCluster {
  directory: string;
  kubeconfig: string;
  /** Where its nodes pull from. */
  registry: string;
  /** An image archive into the registry; its reference by digest. */
  push(archive: string, name: string): string;
  volume(name: string, size: string): void;
  resource(node: string, name: string, count: number): void;
  kubectl(words: readonly string[], input?: string): string;
}

/** Starts one with two nodes; it is removed when this process ends, however it does. */
export const servicesCluster = (): ServicesCluster => {
  const directory = join(tmpdir(), `k8sbench-task-runs-${process.pid}`);
  const watcher = spawn(process.execPath, [import.meta.path, String(process.pid), directory], {
    detached: true,
    stdio: 'ignore',
  });
  watcher.unref();
  const kubeconfig = run([join(tools, 'up'), directory], { env: { NODES: '2' } }).trim();
  return {
    directory,
    kubeconfig,
    registry: 'localhost:5000',
    push: (archive, name) => program('push', archive, name),
    volume: (name, size) => void program('volume', directory, name, size),
    resource: (node, name, count) => void program('resource', directory, node, name, String(count)),
    kubectl: (words, input = '') =>
      run([join(directory, 'kube'), 'kubectl', '--kubeconfig', kubeconfig, ...words], { input }),
  };
};

if (import.meta.main) {
  const [pid, directory] = process.argv.slice(2);
  while (existsSync(`/proc/${pid}`)) await Bun.sleep(200);
  program('down', directory!);
}
