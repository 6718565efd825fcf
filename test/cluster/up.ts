#!/usr/bin/env bun
/**
 * A real Kubernetes on this machine, as root on Linux: `up.ts [DIR]` prints the administrator's kubeconfig. NODES=2 nodes,
 * API_ONLY=1 for the API server alone, CPU_MANAGER=static, LOG_ROTATE=1. Needs Debian's containerd, runc,
 * containernetworking-plugins, iproute2, iptables, openssl, busybox-static, xz-utils; see kube-binary.ts for Kubernetes itself.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startControlPlane } from './control-plane.ts';
import { DEFAULT_DIRECTORY, down, hostsMark } from './down.ts';
import { busyboxRoot, importImage, makeImage } from './image.ts';
import { kubeBinary, run } from './kube-binary.ts';
import { nodeAddress, type NodeOptions, startNode } from './node.ts';
import { freePort } from './ports.ts';
import { until } from './processes.ts';
import { takeSlot } from './slot.ts';

export interface ClusterOptions extends NodeOptions {
  directory?: string;
  nodes?: 1 | 2;
  /** etcd and API server alone: lists of thousands of objects that stay as they were created. */
  apiOnly?: boolean;
}

export interface StartedCluster {
  directory: string;
  kubeconfig: string;
  kube: string;
  /** An image with a shell and common tools, on every node. */
  image: string;
}

const writeHostNames = (nodes: number, directory: string): void => {
  for (let node = 1; node <= nodes; node++)
    appendFileSync('/etc/hosts', `${nodeAddress(node)} node-${node} ${hostsMark(directory)}\n`);
};

/** Starts a cluster after removing what an earlier one left in its directory. */
export const up = async (options: ClusterOptions = {}): Promise<StartedCluster> => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error(
      'a test cluster of its own needs root on Linux; name another with K8SBENCH_TEST_KUBECONFIG',
    );
  const directory = options.directory ?? DEFAULT_DIRECTORY;
  const nodes = options.apiOnly ? 0 : (options.nodes ?? 2);
  await down(directory);
  for (const folder of ['pki', 'log', 'pid']) mkdirSync(join(directory, folder), { recursive: true });
  const kube = kubeBinary();
  const ports = { api: await freePort(), etcd: await freePort(), peer: await freePort() };
  if (nodes > 0) {
    writeHostNames(nodes, directory);
    run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
  }
  const kubeconfig = await startControlPlane(directory, kube, ports, nodes, options.apiOnly === true);
  if (nodes === 0) return { directory, kubeconfig, kube, image: '' };
  const archive = join(directory, 'busybox.tar');
  const image = makeImage(archive, 'k8sbench-test/busybox', busyboxRoot(directory));
  const slot = takeSlot(directory);
  for (let node = 1; node <= nodes; node++)
    await startNode(directory, kube, { slot, node, port: await freePort() }, archive, options);
  importImage(directory, nodes, archive, image);
  const kubectl = (...words: string[]): string =>
    run([kube, 'kubectl', '--kubeconfig', kubeconfig, ...words], { allowFailure: true });
  const ready = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  await until(
    `nodes (see ${directory}/log)`,
    () =>
      kubectl('get', 'nodes', '-o', `jsonpath=${ready}`)
        .split('\n')
        .filter((one) => one === 'True').length === nodes,
    120_000,
  );
  await until('the default service account', () =>
    kubectl('-n', 'default', 'get', 'serviceaccount', 'default', '-o', 'name').includes('default'),
  );
  return { directory, kubeconfig, kube, image };
};

if (import.meta.main) {
  const { env } = process;
  const cluster = await up({
    ...(process.argv[2] ? { directory: process.argv[2] } : {}),
    nodes: env['NODES'] === '1' ? 1 : 2,
    apiOnly: env['API_ONLY'] === '1',
    cpuManager: env['CPU_MANAGER'] === 'static' ? 'static' : 'none',
    logRotate: env['LOG_ROTATE'] === '1',
  });
  console.log(cluster.kubeconfig);
}
