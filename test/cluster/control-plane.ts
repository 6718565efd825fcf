/** etcd, API server, controllers and scheduler of a test cluster, all on loopback. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAuthority, makeCertificate, makeKubeconfig } from './certificates.ts';
import { run } from './kube-binary.ts';
import { start, until } from './processes.ts';
import { nodeAddress } from './node.ts';

export interface Ports {
  api: number;
  etcd: number;
  peer: number;
}

/** Starts the API server again after a test stopped it: a program of its own, so that a fault test can run it. */
export const apiServerScript = (directory: string): string => join(directory, 'apiserver');

const writeApiServerScript = (directory: string, kube: string, ports: Ports): void => {
  const pki = join(directory, 'pki');
  const flags = [
    `--etcd-servers=http://127.0.0.1:${ports.etcd} --bind-address=127.0.0.1 --secure-port=${ports.api}`,
    `--tls-cert-file=${pki}/kube-apiserver.crt --tls-private-key-file=${pki}/kube-apiserver.key`,
    `--client-ca-file=${pki}/ca.crt --kubelet-certificate-authority=${pki}/ca.crt`,
    `--kubelet-client-certificate=${pki}/apiserver-kubelet.crt --kubelet-client-key=${pki}/apiserver-kubelet.key`,
    '--kubelet-preferred-address-types=Hostname --service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${pki}/sa.pub --service-account-signing-key-file=${pki}/sa.key`,
    '--service-cluster-ip-range=10.96.0.0/16 --authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction --endpoint-reconciler-type=none --event-ttl=1h --profiling=false',
  ];
  writeFileSync(apiServerScript(directory), `#!/bin/sh\nexec ${kube} kube-apiserver ${flags.join(' ')}\n`);
  chmodSync(apiServerScript(directory), 0o755);
};

/** Starts the control plane and gives the administrator's kubeconfig; `apiOnly` leaves controllers and scheduler away. */
export const startControlPlane = async (
  directory: string,
  kube: string,
  ports: Ports,
  nodes: number,
  apiOnly: boolean,
): Promise<string> => {
  makeAuthority(directory);
  const server = `https://127.0.0.1:${ports.api}`;
  makeCertificate(directory, 'kube-apiserver', {
    cn: 'kube-apiserver',
    names:
      'IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc',
  });
  makeCertificate(directory, 'admin', { cn: 'admin', group: 'system:masters' });
  makeCertificate(directory, 'apiserver-kubelet', { cn: 'apiserver-kubelet', group: 'system:masters' });
  makeCertificate(directory, 'controller-manager', { cn: 'system:kube-controller-manager' });
  makeCertificate(directory, 'scheduler', { cn: 'system:kube-scheduler' });
  for (let node = 1; node <= nodes; node++)
    makeCertificate(directory, `node-${node}`, {
      cn: `system:node:node-${node}`,
      group: 'system:nodes',
      names: `DNS:node-${node},IP:${nodeAddress(node)}`,
    });
  const config = (name: string): string => makeKubeconfig(directory, name, server);
  const admin = config('admin');
  const [etcd, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.peer}`];
  start(directory, 'etcd', [
    kube,
    'etcd',
    '--name',
    'e',
    '--data-dir',
    join(directory, 'etcd'),
    '--unsafe-no-fsync',
    '--listen-client-urls',
    etcd,
    '--advertise-client-urls',
    etcd,
    '--listen-peer-urls',
    peer,
    '--initial-advertise-peer-urls',
    peer,
    '--initial-cluster',
    `e=${peer}`,
  ]);
  writeApiServerScript(directory, kube, ports);
  start(directory, 'kube-apiserver', [apiServerScript(directory)]);
  const ready = (): boolean =>
    run([kube, 'kubectl', '--kubeconfig', admin, 'get', '--raw', '/readyz'], { allowFailure: true }) === 'ok';
  await until(`the API server (see ${directory}/log)`, ready, 90_000);
  if (apiOnly) return admin;
  const controllers = config('controller-manager');
  start(directory, 'kube-controller-manager', [
    kube,
    'kube-controller-manager',
    '--kubeconfig',
    controllers,
    '--leader-elect=false',
    '--authentication-kubeconfig',
    controllers,
    '--authorization-kubeconfig',
    controllers,
    '--service-account-private-key-file',
    join(directory, 'pki', 'sa.key'),
    '--root-ca-file',
    join(directory, 'pki', 'ca.crt'),
    '--use-service-account-credentials=true',
    '--secure-port=0',
    '--node-monitor-grace-period=20s',
    '--pvclaimbinder-sync-period=2s',
  ]);
  const scheduler = config('scheduler');
  start(directory, 'kube-scheduler', [
    kube,
    'kube-scheduler',
    '--kubeconfig',
    scheduler,
    '--leader-elect=false',
    '--secure-port=0',
    '--authentication-kubeconfig',
    scheduler,
    '--authorization-kubeconfig',
    scheduler,
  ]);
  for (let node = 1; node <= nodes; node++) config(`node-${node}`);
  return admin;
};
