#!/usr/bin/env bun
/** Faults of a cluster that was started here. As a program, `faults.ts DIR kill-api-server|start-api-server|forget-history`, for tests that can't wait. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiServerScript } from './control-plane.ts';
import { run } from './kube-binary.ts';
import { pidOf, start, until } from './processes.ts';

export const killApiServer = async (directory: string): Promise<void> => {
  const pid = pidOf(directory, 'kube-apiserver');
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  await until("the API server's end", () => pidOf(directory, 'kube-apiserver') === undefined);
};

export const startApiServer = async (directory: string): Promise<void> => {
  start(directory, 'kube-apiserver', [apiServerScript(directory)]);
  const kube = /exec (\S+)/.exec(readFileSync(apiServerScript(directory), 'utf8'))![1]!;
  const ready = [
    kube,
    'kubectl',
    '--kubeconfig',
    join(directory, 'admin.kubeconfig'),
    'get',
    '--raw',
    '/readyz',
  ];
  await until('the API server', () => run(ready, { allowFailure: true }) === 'ok', 90_000);
};

/** Drops every old version from etcd and from the API server's memory: watches and list pages that come from before are too late (410). */
export const forgetHistory = async (directory: string): Promise<void> => {
  const etcd = /--etcd-servers=(\S+)/.exec(readFileSync(apiServerScript(directory), 'utf8'))![1]!;
  const ask = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
    const answer = await fetch(`${etcd}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    return (await answer.json()) as { header?: { revision?: string } };
  };
  // A write of its own, so that what is newest now is older than what is kept.
  const revision = (await ask('put', { key: btoa('/k8sbench-test'), value: btoa('x') })).header?.revision;
  await killApiServer(directory);
  await ask('compaction', { revision, physical: true });
  await startApiServer(directory);
};

/** Kills a program; the function that is given starts it again. */
const kill = async (directory: string, name: string): Promise<() => void> => {
  const pid = pidOf(directory, name)!;
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  process.kill(pid, 'SIGKILL');
  await until(`the end of ${name}`, () => pidOf(directory, name) === undefined);
  return () => start(directory, name, words);
};

/** Kills a node's kubelet; the function that is given starts it again. Its pods go on without it. */
export const killKubelet = (directory: string, node: number): Promise<() => void> =>
  kill(directory, `kubelet-${node}`);

/** Scheduler and controllers that know the cluster as it is: after an API server that was away they look again only after a pause. */
export const restartControllers = async (directory: string): Promise<void> => {
  for (const name of ['kube-scheduler', 'kube-controller-manager']) (await kill(directory, name))();
};

/** A node's kubelet with other settings; those named by an earlier call stay unless they are `null`. `between`: while it is away. */
export const restartKubelet = async (
  directory: string,
  node: number,
  settings: Readonly<Record<string, unknown>>,
  between: () => void = () => undefined,
): Promise<void> => {
  const again = await killKubelet(directory, node);
  const path = join(directory, `node-${node}`, 'kubelet.yaml');
  const before = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const after = Object.entries({ ...before, ...settings }).filter(([, value]) => value !== null);
  writeFileSync(path, JSON.stringify(Object.fromEntries(after)));
  between();
  again();
};

const FAULTS = {
  'kill-api-server': killApiServer,
  'start-api-server': startApiServer,
  'forget-history': forgetHistory,
};

/** The same, while nothing else of this process goes on. */
export const blocking = (directory: string, fault: keyof typeof FAULTS): void =>
  void run([process.execPath, import.meta.path, directory, fault]);

if (import.meta.main) {
  const fault = FAULTS[process.argv[3] as keyof typeof FAULTS];
  await fault(process.argv[2]!);
}
