#!/usr/bin/env bun
/** Stops a test cluster and removes its containers, mounts, pod networks, cgroups and host names: `down.ts [DIR]`. */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './kube-binary.ts';
import { stop } from './processes.ts';
import { cgroupOf, freeSlot, networkOf, slotOf } from './slot.ts';

export const DEFAULT_DIRECTORY = join(tmpdir(), 'k8sbench-test-cluster');
const NODES = [1, 2];

const quietly = (words: readonly string[]): string => {
  try {
    return run(words, { allowFailure: true });
  } catch {
    return '';
  }
};

/** Kills and removes every container of a node. */
const removeContainers = async (directory: string, node: number): Promise<void> => {
  const socket = join(directory, `node-${node}`, 'containerd.sock');
  if (!existsSync(socket)) return;
  const ctr = ['ctr', '-a', socket, '-n', 'k8s.io', 'tasks'];
  const tasks = (): string[] =>
    quietly([...ctr, 'ls', '-q'])
      .split('\n')
      .filter(Boolean);
  for (const task of tasks()) quietly([...ctr, 'kill', '-s', 'KILL', task]);
  await Bun.sleep(300);
  for (const task of tasks()) quietly([...ctr, 'rm', '-f', task]);
};

/** Processes whose command line holds all of these words. */
const processesOf = (...words: string[]): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return words.every((word) => line.includes(word));
      } catch {
        return false;
      }
    })
    .map(Number);

const unmountAll = (directory: string): void => {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${directory}/`));
  for (const path of mounts.toSorted().toReversed()) quietly(['umount', '-l', path]);
};

/** Network namespaces of pods, as CNI names them; only those whose addresses are this cluster's. */
const removeNetworks = (slot: number): void => {
  for (const line of quietly(['ip', 'netns', 'list']).split('\n')) {
    const name = /^(cni-[0-9a-f-]+)/.exec(line)?.[1];
    if (name && quietly(['ip', '-n', name, 'addr']).includes(` inet ${networkOf(slot)}.`))
      quietly(['ip', 'netns', 'del', name]);
  }
};

/** Kills what runs in a cgroup: containers whose containerd was killed belong to nobody. */
const killTree = (path: string): void => {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) killTree(join(path, entry.name));
    if (entry.name !== 'cgroup.procs') continue;
    const pids = readFileSync(join(path, entry.name), 'utf8').split('\n').filter(Boolean);
    if (pids.length > 0) quietly(['kill', '-9', ...pids]);
  }
};

const removeTree = (path: string): void => {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(join(path, entry.name));
  try {
    rmdirSync(path);
  } catch {
    // A process is still leaving it; an empty cgroup does no harm.
  }
};

/** The cgroups of a cluster's nodes: one per controller (v1), or one (v2). */
export const cgroupsOf = (slot: number): string[] => {
  const base = '/sys/fs/cgroup';
  return [base, ...readdirSync(base).map((one) => join(base, one))]
    .flatMap((parent) => NODES.map((node) => join(parent, cgroupOf(slot, node))))
    .filter((path) => existsSync(path));
};

const removeCgroups = async (slot: number): Promise<void> => {
  for (const path of cgroupsOf(slot)) killTree(path);
  // Those that were killed leave it a moment later.
  for (let tries = 0; tries < 20 && cgroupsOf(slot).length > 0; tries++) {
    for (const path of cgroupsOf(slot)) removeTree(path);
    await Bun.sleep(100);
  }
};

/** What ends the lines that `up` put into /etc/hosts. */
export const hostsMark = (directory: string): string => `# k8sbench test cluster ${directory}`;

const removeHostNames = (directory: string): void => {
  const before = readFileSync('/etc/hosts', 'utf8');
  const after = before
    .split('\n')
    .filter((line) => !line.endsWith(hostsMark(directory)))
    .join('\n');
  if (after !== before) writeFileSync('/etc/hosts', after);
};

/** Stops and removes a cluster; safe to call when there is none. */
export const down = async (directory: string): Promise<void> => {
  if (!existsSync(directory)) return;
  await stop(
    directory,
    NODES.map((node) => `kubelet-${node}`),
  );
  for (const node of NODES) await removeContainers(directory, node);
  await stop(directory, [
    ...NODES.map((node) => `containerd-${node}`),
    'kube-scheduler',
    'kube-controller-manager',
    'registry',
  ]);
  await stop(directory, ['kube-apiserver']);
  await stop(directory, ['etcd']);
  for (const pid of processesOf('containerd-shim', `${directory}/`)) quietly(['kill', '-9', String(pid)]);
  const slot = slotOf(directory);
  if (slot !== undefined) await removeCgroups(slot);
  unmountAll(directory);
  if (slot !== undefined) {
    removeNetworks(slot);
    freeSlot(directory);
  }
  removeHostNames(directory);
  rmSync(directory, { recursive: true, force: true });
};

if (import.meta.main) await down(process.argv[2] ?? DEFAULT_DIRECTORY);
