import { expect, test } from 'bun:test';
import { differences } from './admitted-pod.ts';

const spec = (): any => ({
  restartPolicy: 'Never',
  containers: [
    {
      name: 'bench',
      image: 'a',
      command: ['x', 'y'],
      env: [{ name: 'A', value: '1' }],
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
    },
  ],
  volumes: [{ name: 'data', emptyDir: {} }],
  tolerations: [{ key: 'a', operator: 'Exists' }],
});
const admitted = (change: (spec: any) => void = () => undefined, qosClass = 'Guaranteed'): string[] => {
  const found = { ...spec(), schedulerName: 'default-scheduler', nodeName: 'n' };
  found.tolerations.push({ key: 'node.kubernetes.io/not-ready' });
  found.containers[0].terminationMessagePath = '/dev/termination-log';
  change(found);
  return differences({ spec: { template: { spec: spec() } } }, { spec: found, status: { qosClass } } as any);
};

test('what the server fills in is no difference, nor is a quantity in other words', () => {
  expect(admitted()).toEqual([]);
  expect(admitted((one) => (one.containers[0].resources.limits.memory = '1024Mi'))).toEqual([]);
  // A namespace's own tolerations come before a pod's.
  expect(admitted((one) => one.tolerations.unshift({ key: 'team', operator: 'Exists' }))).toEqual([]);
});

test.each<[string, (spec: any) => void, string]>([
  ['a sidecar', (one) => one.containers.push({ name: 'proxy' }), "containers: 'proxy' was added"],
  [
    'an init container',
    (one) => (one.initContainers = [{ name: 'init' }]),
    "initContainers: 'init' was added",
  ],
  ['an image', (one) => (one.containers[0].image = 'b'), `containers 'bench'.image: "a" became "b"`],
  [
    'a variable',
    (one) => one.containers[0].env.push({ name: 'LD_PRELOAD', value: 'x' }),
    "containers 'bench'.env: 'LD_PRELOAD' was added",
  ],
  [
    'a value',
    (one) => (one.containers[0].env[0].value = '2'),
    `containers 'bench'.env 'A'.value: "1" became "2"`,
  ],
  [
    'a command',
    (one) => one.containers[0].command.push('z'),
    `containers 'bench'.command: ["x","y"] became ["x","y","z"]`,
  ],
  [
    'less CPU',
    (one) => (one.containers[0].resources.limits.cpu = '500m'),
    `containers 'bench'.resources.limits.cpu: "1" became "500m"`,
  ],
  [
    'more kinds',
    (one) => (one.containers[0].resources.limits['ephemeral-storage'] = '1Gi'),
    "containers 'bench'.resources.limits: 'ephemeral-storage' was added",
  ],
  ['a volume', (one) => one.volumes.push({ name: 'token' }), "volumes: 'token' was added"],
  ['a volume less', (one) => one.volumes.pop(), "volumes: 'data' was removed"],
  ['another runtime', (one) => (one.runtimeClassName = 'gvisor'), 'runtimeClassName: "gvisor" was added'],
  ['the network of the node', (one) => (one.hostNetwork = true), 'hostNetwork: true was added'],
  [
    'a probe',
    (one) => (one.containers[0].livenessProbe = { exec: { command: ['x'] } }),
    `containers 'bench'.livenessProbe: {"exec":{"command":["x"]}} was added`,
  ],
  ['words', (one) => (one.containers[0].args = ['-v']), `containers 'bench'.args: ["-v"] was added`],
  [
    'a toleration less',
    (one) => one.tolerations.shift(),
    'tolerations[0]: {"key":"a","operator":"Exists"} was removed',
  ],
  ['a policy', (one) => (one.restartPolicy = 'Always'), `restartPolicy: "Never" became "Always"`],
])('%s is named', (_, change, says) => expect(admitted(change)).toEqual([says]));

test('another class of service is named', () =>
  expect(admitted(undefined, 'Burstable')).toEqual(["its QoS class is 'Burstable', not 'Guaranteed'"]));
