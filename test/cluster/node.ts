/** A node of a test cluster: a containerd and a kubelet of its own, sharing this machine's kernel and network. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './kube-binary.ts';
import { start, until } from './processes.ts';
import { cgroupOf, networkOf } from './slot.ts';

/** A node's own part of the machine. */
export interface Placement {
  slot: number;
  node: number;
  /** The kubelet's. */
  port: number;
}

export interface NodeOptions {
  /** Guaranteed pods get cores of their own. */
  cpuManager?: 'none' | 'static';
  /** Container logs rotate at 64 KiB. */
  logRotate?: boolean;
}

export const nodeAddress = (node: number): string => `127.0.0.${node + 1}`;

const containerdConfig = (home: string): string => `version = 2
root = "${home}/containerd/root"
state = "${home}/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "${home}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/k8sbench-test/busybox:1"
  stream_server_address = "127.0.0.1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${home}/cni"
`;

const kubeletConfig = (
  directory: string,
  home: string,
  { slot, node, port }: Placement,
  options: NodeOptions,
): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: nodeAddress(node),
  port,
  readOnlyPort: 0,
  healthzPort: 0,
  containerRuntimeEndpoint: `unix://${home}/containerd.sock`,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${cgroupOf(slot, node)}`,
  failCgroupV1: false,
  failSwapOn: false,
  podLogsDir: join(home, 'pods'),
  volumePluginDir: join(home, 'plugins'),
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: false },
    x509: { clientCAFile: join(directory, 'pki', 'ca.crt') },
  },
  authorization: { mode: 'AlwaysAllow' },
  tlsCertFile: join(directory, 'pki', `node-${node}.crt`),
  tlsPrivateKeyFile: join(directory, 'pki', `node-${node}.key`),
  nodeStatusUpdateFrequency: '5s',
  nodeLeaseDurationSeconds: 20,
  syncFrequency: '10s',
  // No Services here, so nothing in the machine's packet filter to clean up after.
  makeIPTablesUtilChains: false,
  maxPods: 60,
  cpuManagerPolicy: options.cpuManager ?? 'none',
  ...(options.cpuManager === 'static' ? { reservedSystemCPUs: '0' } : {}),
  ...(options.logRotate
    ? { containerLogMaxSize: '64Ki', containerLogMaxFiles: 2, containerLogMonitorInterval: '3s' }
    : {}),
  imageGCHighThresholdPercent: 100,
  evictionHard: {
    'memory.available': '50Mi',
    'nodefs.available': '0%',
    'nodefs.inodesFree': '0%',
    'imagefs.available': '0%',
  },
});

/** cgroups for the node's pods: one per controller (v1), or one with all controllers handed down (v2). */
const makeCgroups = (name: string): void => {
  const base = '/sys/fs/cgroup';
  if (existsSync(join(base, 'cgroup.controllers'))) {
    const controllers = readFileSync(join(base, 'cgroup.controllers'), 'utf8').trim().split(' ');
    writeFileSync(join(base, 'cgroup.subtree_control'), controllers.map((one) => `+${one}`).join(' '));
    mkdirSync(join(base, name), { recursive: true });
    return;
  }
  for (const controller of readdirSync(base)) {
    if (!existsSync(join(base, controller, 'cgroup.procs')) || controller === 'unified') continue;
    mkdirSync(join(base, controller, name), { recursive: true });
    if (controller === 'cpuset')
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        writeFileSync(join(base, controller, name, file), readFileSync(join(base, controller, file)));
  }
};

/** Starts a node; `image` is the archive that pods' sandboxes run. */
export const startNode = async (
  directory: string,
  kube: string,
  placement: Placement,
  image: string,
  options: NodeOptions,
): Promise<void> => {
  const { slot, node } = placement;
  const network = networkOf(slot);
  const home = join(directory, `node-${node}`);
  for (const folder of ['cni', 'plugins', 'kubelet']) mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(
    join(home, 'cni', '10-pods.conflist'),
    JSON.stringify({
      cniVersion: '1.0.0',
      name: `pods-${node}`,
      plugins: [
        {
          type: 'ptp',
          ipMasq: false,
          ipam: {
            type: 'host-local',
            dataDir: join(home, 'ipam'),
            ranges: [[{ subnet: `${network}.${node}.0/24` }]],
            routes: [{ dst: `${network}.0.0/16` }],
          },
        },
        { type: 'loopback' },
      ],
    }),
  );
  writeFileSync(join(home, 'containerd.toml'), containerdConfig(home));
  writeFileSync(
    join(home, 'kubelet.yaml'),
    JSON.stringify(kubeletConfig(directory, home, placement, options)),
  );
  makeCgroups(cgroupOf(slot, node));
  start(directory, `containerd-${node}`, ['containerd', '--config', join(home, 'containerd.toml')]);
  const ctr = ['ctr', '-a', join(home, 'containerd.sock')];
  await until(`containerd of node-${node}`, () =>
    run([...ctr, 'version'], { allowFailure: true }).includes('Server'),
  );
  run([...ctr, '-n', 'k8s.io', 'images', 'import', image]);
  start(directory, `kubelet-${node}`, [
    kube,
    'kubelet',
    '--config',
    join(home, 'kubelet.yaml'),
    '--hostname-override',
    `node-${node}`,
    '--kubeconfig',
    join(directory, `node-${node}.kubeconfig`),
    '--root-dir',
    join(home, 'kubelet'),
    '--cert-dir',
    join(home, 'kubelet', 'pki'),
    '--runtime-cgroups',
    '/',
  ]);
};
