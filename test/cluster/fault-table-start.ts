/** Faults that keep a session from starting, or end it by itself: fault → message → exit status. */
import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sha256 } from '../../shared/files.ts';
import { type Fault, running } from './fault.ts';
import { busyRegistry, foreignProgram, pushForeignImage, unknownDigest } from './registry.ts';
import { admin } from './the-cluster.ts';
import { until } from './processes.ts';
import type { Bed, Running } from './session-runs.ts';

const NOUGHT = '0'.repeat(64);
const missing = `localhost/k8sbench-test/missing@sha256:${NOUGHT}`;

const limit = async (bed: Bed, resource: 'resourcequotas' | 'limitranges', spec: object): Promise<void> => {
  const { namespace } = bed;
  await admin.create(resource, { namespace }, { metadata: { name: 'limited' }, spec });
  // Admission goes by what a controller writes, or by its own cache.
  if (resource === 'resourcequotas')
    await until('the quota', async () => {
      const [made] = await admin.list<{ status?: { hard?: object } }>(resource, { namespace });
      return made?.status?.hard !== undefined;
    });
  else await Bun.sleep(1500);
};

const inSpec = (change: (spec: any, manifest: any) => void, says: RegExp): Fault => ({ change, says });
const inContainer = (fields: object, says: RegExp): Fault => ({
  change: (spec) => void Object.assign(spec.containers[0], fields),
  says,
});
const resources = (spec: any): any[] => Object.values(spec.containers[0].resources);

const untilItWaits = (process: Running): Promise<void> =>
  until('that it waits', () => /the registry is busy: .*429.*; waiting/.test(process.said()));

/** A log of two lines, as a shell prints it. */
const FACTS = '{"t":"facts","seq":0}\n';
const LOG = `${FACTS}{"t":"end","seq":1,"lines":1,"sha256":"${sha256(FACTS)}"}\n`;

/** The registry serves once the runner has waited for longer than it lets things settle. */
const busyForAWhile = (): Fault => {
  let serve: () => void;
  return {
    async plan() {
      const busy = await busyRegistry();
      ({ serve } = busy);
      return { image: busy.image };
    },
    change: (spec) => running(spec, `printf '%s' '${LOG}'`),
    at: 'claimed',
    words: ['--settle', '1s'],
    async happens({ process }) {
      await untilItWaits(process);
      await Bun.sleep(2500);
      serve();
    },
    says: /the registry is busy: .*429.*; waiting/,
    exit: 0,
    after: ({ run }) => expect(readFileSync(run.file('pod.log'), 'utf8')).toBe(LOG),
  };
};

export const STARTING: Readonly<Record<string, Fault>> = {
  'an image that is not there': inContainer(
    { image: missing },
    /its image can't be pulled: .*check name, digest and imagePullSecrets/,
  ),
  'an image that is never pulled': inContainer(
    { image: missing, imagePullPolicy: 'Never' },
    /its image can't be pulled: .*is not present with pull policy of Never/,
  ),
  'a digest that its registry does not have': {
    plan: async () => ({ image: await unknownDigest() }),
    says: /its image can't be pulled: .*not found; check name, digest/,
  },
  'an image for other architectures': {
    plan: async () => ({ image: await pushForeignImage() }),
    says: /its image does not run on the node's architecture: .*no match for platform.*; choose nodes of/,
  },
  'a program of another architecture': {
    plan: async (bed) => ({ image: await foreignProgram(bed) }),
    change: (spec) => void (spec.containers[0].command = ['/bin/foreign']),
    says: /its image does not run on the node's architecture: .*exec format error/,
  },
  'a node that does not exist': {
    plan: { node: 'node-9' },
    says: /no node takes its pod: 0\/2 nodes are available: .*NodeAffinity.*; change node, nodeSelector or tolerations/,
  },
  'a selector that no node has': {
    plan: (bed) => ({ node: '', words: ['--image', bed.images.session, '--node-selector', 'disk=fast'] }),
    says: /no node takes its pod: .*didn't match Pod's node affinity\/selector/,
  },
  'a missing claim': inSpec(
    (spec) => spec.volumes.push({ name: 'results', persistentVolumeClaim: { claimName: 'no-such-claim' } }),
    /its claim can't be used: .*"no-such-claim" not found/,
  ),
  'a missing ConfigMap': inContainer(
    { envFrom: [{ configMapRef: { name: 'no-such-map' } }] },
    /its container can't be configured: configmap "no-such-map" not found/,
  ),
  'a missing Secret': inSpec(
    (spec) =>
      spec.containers[0].env.push({
        name: 'X',
        valueFrom: { secretKeyRef: { name: 'no-such-secret', key: 'k' } },
      }),
    /its container can't be configured: secret "no-such-secret" not found/,
  ),
  'a program that is not there': inContainer(
    { command: ['/no/such/program'] },
    /its container can't be started: .*\/no\/such\/program/,
  ),
  'memory used up': inSpec(
    (spec) => running(spec, 'tail /dev/zero'),
    /it was killed because its memory was used up; ask for more with --memory/,
  ),
  'a deadline': inSpec((spec, manifest) => {
    running(spec, 'sleep 300');
    manifest.spec.activeDeadlineSeconds = 6;
  }, /ran into the deadline: no data, which is not the same as slow/),
  'a deadline while no node has CPUs': inSpec((spec, manifest) => {
    for (const size of resources(spec)) size.cpu = '64';
    manifest.spec.activeDeadlineSeconds = 8;
  }, /ran into the deadline: no data, .*no node has room for its pod now: .*Insufficient cpu/),
  'a deadline while no node has memory': inSpec((spec, manifest) => {
    for (const size of resources(spec)) size.memory = '4Ti';
    manifest.spec.activeDeadlineSeconds = 8;
  }, /ran into the deadline: no data, .*no node has room for its pod now: .*Insufficient memory/),
  'a kubelet that refuses the pod': inSpec((spec) => {
    for (const size of resources(spec)) size.cpu = '64';
    spec.nodeName = 'node-1';
  }, /the node refused its pod: OutOfcpu: .*choose another node/),
  'a namespace that admits only restricted pods': inSpec(
    (spec) => void delete spec.securityContext.runAsNonRoot,
    /Pod Security level refuses its pod: .*runAsNonRoot/,
  ),
  'a quota that is too small': {
    place: (bed) => limit(bed, 'resourcequotas', { hard: { 'requests.cpu': '50m' } }),
    says: /quota has no room for its pod: .*exceeded quota: limited.*ask for less, or raise the quota/,
  },
  'limits that refuse it': {
    place: (bed) => limit(bed, 'limitranges', { limits: [{ type: 'Container', max: { memory: '32Mi' } }] }),
    says: /limits refuse its pod: .*maximum memory usage per Container is 32Mi/,
  },
  'limits that change it': {
    place: (bed) =>
      limit(bed, 'limitranges', {
        limits: [{ type: 'Container', default: { 'ephemeral-storage': '1Gi' } }],
      }),
    says: /the cluster changed the pod: .*'ephemeral-storage' was added/,
    exit: 5,
  },
  'a registry that is busy: waited for': {
    plan: async () => ({ image: (await busyRegistry()).image }),
    at: 'claimed',
    words: ['--settle', '1s'],
    async happens({ process }) {
      await untilItWaits(process);
      await Bun.sleep(2500);
      process.kill('SIGINT');
    },
    says: /the registry is busy: .*429.*stopped by SIGINT before it was done/s,
    exit: 130,
  },
  'a registry that is busy for longer than it takes to settle, and serves then': busyForAWhile(),
  'a session that ends without a word': inSpec(
    (spec) => running(spec, 'echo something broke; exit 7'),
    /the pod program ended with status 7: something broke/,
  ),
  'a start-up that says why': inSpec(
    (spec) => running(spec, `echo '{"t":"error","message":"the bundle is odd"}'; exit 1`),
    /failed: the bundle is odd/,
  ),
  'a log that was altered': inSpec(
    (spec) =>
      running(
        spec,
        `echo '{"t":"facts","seq":0}'; echo '{"t":"end","seq":1,"lines":1,"sha256":"${NOUGHT}"}'`,
      ),
    /its log is not whole: its text was altered/,
  ),
  'a log with a hole': inSpec(
    (spec) => running(spec, `echo '{"t":"facts","seq":0}'; echo '{"t":"pin","seq":3}'`),
    /its log is not whole: lines are missing: seq 1–2/,
  ),
  'the time at which its Job was made reaches the pod': inSpec(
    (spec) =>
      running(spec, `echo "{\\"t\\":\\"error\\",\\"message\\":\\"at $K8SBENCH_SUBMITTED_AT\\"}"; exit 1`),
    /failed: at 20\d\d-\d\d-\d\dT[\d:.]+Z/,
  ),
};
