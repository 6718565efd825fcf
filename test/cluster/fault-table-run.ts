/** Faults that meet a session which runs: fault → message → exit status. */
import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from './certificates.ts';
import { countedServer, crowd, halfDeadServer, refusalsOf } from './bad-servers.ts';
import { apply, type Fault, kubectl, profileWith, real, running, sampled, sized } from './fault.ts';
import { LINES, linesScript } from './odd-lines.ts';
import { until } from './processes.ts';
import { jobOf, samplesIn } from './session-runs.ts';
import { admin, kubeconfig, ownDirectory } from './the-cluster.ts';

/** A real session of three targets: every sample is there, once. */
const whole =
  (rounds: number): NonNullable<Fault['after']> =>
  ({ run }) => {
    const samples = samplesIn(run);
    expect([samples.length, new Set(samples).size]).toEqual([3 * rounds, 3 * rounds]);
  };

/** A session that measures for a while, beside others. */
const measuring = (rounds: number): Pick<Fault, 'plan' | 'change' | 'at' | 'after' | 'exit'> => ({
  plan: { rounds },
  change: real,
  at: 'measuring',
  after: whole(rounds),
  exit: 0,
});

/** A webhook that gives every pod of a namespace a second container. */
const sidecarWebhook = (namespace: string): (() => void) => {
  const directory = ownDirectory!;
  makeCertificate(directory, 'webhook', { cn: 'webhook', names: 'IP:127.0.0.1' });
  const file = (name: string): string => readFileSync(join(directory, 'pki', name), 'utf8');
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: file('webhook.crt'), key: file('webhook.key') },
    async fetch(request) {
      const { request: asked } = (await request.json()) as { request: { uid: string; object: any } };
      const sidecar = { ...asked.object.spec.containers[0], name: 'proxy', command: ['sleep', '300'] };
      const patch = btoa(JSON.stringify([{ op: 'add', path: '/spec/containers/-', value: sidecar }]));
      const response = { uid: asked.uid, allowed: true, patchType: 'JSONPatch', patch };
      return Response.json({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
    },
  });
  const remove = apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: namespace },
    webhooks: [
      {
        name: 'sidecar.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: `https://127.0.0.1:${server.port}/`, caBundle: btoa(file('ca.crt')) },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      },
    ],
  });
  return () => {
    remove();
    server.stop(true);
  };
};

export const RUNNING: Readonly<Record<string, Fault>> = {
  'its Job is deleted': {
    ...sampled,
    happens: ({ bed: { namespace }, run }) =>
      admin.delete('jobs', { namespace, name: run.name }, jobOf(run).job!.uid).then(() => undefined),
    says: /its Job was deleted by somebody else; measure it again/,
  },
  'its pod is deleted': {
    ...sampled,
    happens: async ({ bed: { namespace }, run }) => {
      const { name, uid } = jobOf(run).pod!;
      await admin.delete('pods', { namespace, name }, uid);
    },
    says: /its pod was deleted by somebody else/,
  },
  'its namespace is deleted': {
    ...sampled,
    // As somebody whose account is not in it.
    place: async (bed) => void (bed.kubeconfig = kubeconfig),
    happens: async ({ bed: { namespace } }) =>
      void kubectl(['delete', 'namespace', namespace, '--wait=false']),
    says: /its namespace is being deleted; plan with another one/,
  },
  'it is drained: the eviction API': {
    ...sampled,
    happens: async ({ bed: { namespace }, run }) => {
      const { name } = jobOf(run).pod!;
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
      await admin.create('pods', { namespace, name, subresource: 'eviction' }, eviction);
    },
    says: /its pod was evicted: .*Eviction API.*; the measurement is void, not bad/,
  },
  'memory used up while it measures': {
    ...sampled,
    change(spec) {
      sized(spec, '350m', '160Mi');
      spec.volumes.find((one: any) => one.name === 'data').emptyDir.sizeLimit = '512Mi';
    },
    async happens({ bed: { namespace }, run }) {
      const command = ['sh', '-c', 'while :; do cat /dev/zero > /data/much-$((n = n + 1)); done'];
      const { name: pod } = jobOf(run).pod!;
      // It is killed together with the session, or its connection is.
      await admin.exec({ namespace, pod, container: 'bench', command, deadline: 20_000 }).catch(String);
    },
    says: /it was killed because its memory was used up; ask for more with --memory/,
  },
  'a webhook adds a sidecar: void before anything is measured': {
    place: async ({ namespace }) => sidecarWebhook(namespace),
    says: /the cluster changed the pod: containers: 'proxy' was added/,
    exit: 5,
  },
  'more is written to disk than its scratch space holds': {
    change(spec) {
      running(spec, 'dd if=/dev/zero of=/data/much bs=1M count=8 2>/dev/null; sleep 300');
      spec.volumes.find((one: any) => one.name === 'data').emptyDir = { sizeLimit: '1Mi' };
    },
    says: /its scratch space was used up: .*exceeds the limit "1Mi"; ask for more with 'scratchSize'/,
  },
  'scratch space in memory is full': {
    plan: (bed) => ({
      profile: profileWith(bed, 'full', (one) => {
        one.seed = ['node', '-e', "require('fs').writeFileSync('{dir}/much', Buffer.alloc(4 << 20))"];
      }),
    }),
    change(spec) {
      real(spec);
      spec.volumes.find((one: any) => one.name === 'data').emptyDir.sizeLimit = '1Mi';
    },
    says: /failed: the seed of 'journal' at size 50 .*(ENOSPC|no space is left beside its fixtures: give it more \(scratchSize\))/,
  },
  'a workload that crashes': {
    plan: (bed) => ({
      profile: profileWith(bed, 'crash', (one) => {
        one.sample = ['node', '-e', "console.error('out of luck'); process.exit(3)"];
      }),
    }),
    change: real,
    says: /failed: .*ended with status 3.*out of luck/s,
  },
  'a workload that hangs': {
    plan: (bed) => ({
      profile: profileWith(bed, 'hang', (one) => {
        one.sample = ['sleep', '600'];
      }),
      words: ['--image', bed.images.session, '--step-timeout', '2s'],
    }),
    change: real,
    says: /failed: .*took longer than its limit of 2 s and was killed/,
  },
  'a runner that stands still while its session ends': {
    ...measuring(30),
    async happens({ bed: { namespace }, run, process }) {
      process.kill('SIGSTOP');
      await until('its end', async () => {
        const job = await admin.get<any>('jobs', { namespace, name: run.name });
        return (job.status.conditions ?? []).some((one: any) => one.type === 'Complete');
      });
      process.kill('SIGCONT');
    },
    says: /30 of 30 rounds done/,
  },
  'an API server that is too busy for this user (429)': {
    ...measuring(3),
    place: async (bed) => void (bed.kubeconfig = countedServer(bed)),
    at: 'claimed',
    async happens({ bed }) {
      await crowd(bed, 8000);
      expect(refusalsOf(bed)).toBeGreaterThan(0);
    },
    says: /3 of 3 rounds done/,
  },
  'a load balancer that has no server every now and then (502, 503, 504)': {
    ...measuring(20),
    place: async (bed) => void (bed.kubeconfig = halfDeadServer(bed)),
    says: /20 of 20 rounds done/,
  },
  'lines of 1 byte to 1 MB, across the limits at which runtimes split them': {
    change: (spec) => {
      real(spec);
      spec.containers[0].command = ['node', '-e', linesScript()];
    },
    says: /./s,
    exit: 0,
    after: ({ run }) => expect(readFileSync(run.file('pod.log'), 'utf8') === LINES()).toBe(true),
  },
};
