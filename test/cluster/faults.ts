#!/usr/bin/env bun
/** Faults of a cluster that was started here. As a program, `faults.ts DIR kill-api-server|start-api-server|forget-history`, for tests that can't wait. */
import { readFileSync } from 'node:fs';
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
