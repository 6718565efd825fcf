/** What goes wrong in a cluster, made to happen: fault → message → exit status, with nothing left and nothing lost. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import type { RunDirectory } from '../../shared/rundir.ts';
import { makeCertificate } from './certificates.ts';
import { killKubelet } from './faults.ts';
import { kubeBinary, run as runProgram } from './kube-binary.ts';
import { pidOf, until } from './processes.ts';
import { makeArtifacts } from './session-image.ts';
import {
  type Bed,
  type Ended,
  grants,
  jobOf,
  makeBed,
  planned,
  type Planned,
  type Rule,
  session,
  start,
  untilEvent,
  untilNothingIsLeft,
} from './session-runs.ts';
import { admin, kubeconfig, ownDirectory } from './the-cluster.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await makeBed('faults');
}, 120_000);
afterAll(() => bed.remove());

const SETTLE = ['--settle', '4s'];

/** A pod that is small and may stand beside others, so that faults are made side by side. */
const small = (manifest: any): any => {
  const { spec } = manifest.spec.template;
  delete spec.affinity.podAntiAffinity;
  const size = { cpu: '100m', memory: '64Mi' };
  spec.containers[0].resources = { requests: size, limits: { ...size } };
  return spec;
};
const running = (spec: any, script: string): void => void (spec.containers[0].command = ['sh', '-c', script]);

const kubectl = (...words: string[]): string =>
  runProgram([kubeBinary(), 'kubectl', '--kubeconfig', kubeconfig, ...words]);

interface Fault {
  /** Changes the pod's spec; the whole manifest is the second argument. */
  change?(spec: any, manifest: any): void;
  more?: Planned;
  says: RegExp;
  exit?: number;
}

const missing = `localhost/k8sbench-test/missing@sha256:${'0'.repeat(64)}`;
const FAULTS: Record<string, Fault> = {
  'an image that is not there': {
    change: (spec) => void (spec.containers[0].image = missing),
    says: /its image can't be pulled: .*check name, digest and imagePullSecrets/,
  },
  'an image that is never pulled': {
    change: (spec) => Object.assign(spec.containers[0], { image: missing, imagePullPolicy: 'Never' }),
    says: /its image can't be pulled: .*is not present with pull policy of Never/,
  },
  'a node that does not exist': {
    more: { node: 'node-9' },
    says: /no node takes its pod: 0\/2 nodes are available: .*NodeAffinity.*; change node, nodeSelector or tolerations/,
  },
  'a selector that no node has': {
    more: { node: '', words: ['--node-selector', 'disk=fast'] },
    says: /no node takes its pod: .*didn't match Pod's node affinity\/selector/,
  },
  'a missing claim': {
    change: (spec) =>
      spec.volumes.push({ name: 'results', persistentVolumeClaim: { claimName: 'no-such-claim' } }),
    says: /its claim can't be used: .*"no-such-claim" not found/,
  },
  'a missing ConfigMap': {
    change: (spec) => void (spec.containers[0].envFrom = [{ configMapRef: { name: 'no-such-map' } }]),
    says: /its container can't be configured: configmap "no-such-map" not found/,
  },
  'a missing Secret': {
    change: (spec) =>
      spec.containers[0].env.push({
        name: 'X',
        valueFrom: { secretKeyRef: { name: 'no-such-secret', key: 'k' } },
      }),
    says: /its container can't be configured: secret "no-such-secret" not found/,
  },
  'a program that is not there': {
    change: (spec) => void (spec.containers[0].command = ['/no/such/program']),
    says: /its container can't be started: .*\/no\/such\/program/,
  },
  'memory used up': {
    change: (spec) => running(spec, 'tail /dev/zero'),
    says: /it was killed because its memory was used up; ask for more with --memory/,
  },
  'a deadline': {
    change: (spec, manifest) => {
      running(spec, 'sleep 300');
      manifest.spec.activeDeadlineSeconds = 6;
    },
    says: /ran into the deadline: no data, which is not the same as slow/,
  },
  'a deadline while no node has room': {
    change: (spec, manifest) => {
      for (const size of Object.values(spec.containers[0].resources) as any[]) size.cpu = '64';
      manifest.spec.activeDeadlineSeconds = 8;
    },
    says: /ran into the deadline: no data, .*no node has room for its pod now: .*Insufficient cpu/,
  },
  'a kubelet that refuses the pod': {
    change: (spec) => {
      for (const size of Object.values(spec.containers[0].resources) as any[]) size.cpu = '64';
      spec.nodeName = 'node-1';
    },
    says: /the node refused its pod: OutOfcpu: .*choose another node/,
  },
  'a namespace that admits only restricted pods': {
    change: (spec) => void delete spec.securityContext.runAsNonRoot,
    says: /Pod Security level refuses its pod: .*runAsNonRoot/,
  },
  'a session that ends without a word': {
    change: (spec) => running(spec, 'echo something broke; exit 7'),
    says: /the pod program ended with status 7: something broke/,
  },
  'a start-up that says why': {
    change: (spec) => running(spec, `echo '{"t":"error","message":"the bundle is odd"}'; exit 1`),
    says: /failed: the bundle is odd/,
  },
  'a log that was altered': {
    change: (spec) =>
      running(
        spec,
        `echo '{"t":"facts","seq":0}'; echo '{"t":"end","seq":1,"lines":1,"sha256":"${'0'.repeat(64)}"}'`,
      ),
    says: /its log is not whole: its text was altered/,
  },
  'a log with a hole': {
    change: (spec) => running(spec, `echo '{"t":"facts","seq":0}'; echo '{"t":"pin","seq":3}'`),
    says: /its log is not whole: lines are missing: seq 1–2/,
  },
};

const begin = async ({ change, more = {} }: Fault) => {
  const words = ['--image', bed.images.session, ...(more.words ?? [])];
  const run = await planned(bed, {
    ...more,
    words,
    change: (manifest) => change?.(small(manifest), manifest) ?? (change ? undefined : small(manifest)),
  });
  return { run, ended: await session(bed, run, ...SETTLE) };
};

describe('faults side by side', () => {
  const ended = new Map<string, Promise<{ run: RunDirectory; ended: Ended }>>();
  test.each(Object.entries(FAULTS))('%s', async (name, fault) => {
    // Five at a time: more would be slow on two cores.
    const names = Object.keys(FAULTS);
    for (const one of names.slice(names.indexOf(name), names.indexOf(name) + 5))
      if (!ended.has(one)) ended.set(one, begin(FAULTS[one]!));
    const { run, ended: how } = await ended.get(name)!;
    expect(how.stderr).toMatch(fault.says);
    expect(how).toMatchObject({ exit: fault.exit ?? 1, stdout: '' });
    expect(jobOf(run)).toMatchObject({ outcome: 'failed', exit: 1 });
    expect(run.has('MANIFEST.sha256')).toBe(false);
    await untilNothingIsLeft(bed, run);
  });
});

/** A session that runs until something happens to it. */
const underWay = async (
  change: (spec: any, manifest: any) => void = () => undefined,
  node = 'node-1',
  more: string[] = [],
) => {
  const run = await planned(bed, {
    node,
    change: (manifest) => {
      const spec = small(manifest);
      running(spec, 'trap "exit 143" TERM; while :; do sleep 1; done');
      change(spec, manifest);
    },
  });
  const process = start(bed, ['--run', run.name, ...SETTLE, ...more]);
  await untilEvent(run, 'started');
  return { run, process, namespace: bed.namespace };
};

describe('what others do', () => {
  test('the Job is deleted', async () => {
    const { run, process, namespace } = await underWay();
    await admin.delete('jobs', { namespace, name: run.name }, jobOf(run).job!.uid);
    expect((await process.ended).stderr).toContain('its Job was deleted by somebody else');
    await untilNothingIsLeft(bed, run);
  });

  test('the pod is deleted', async () => {
    const { run, process, namespace } = await underWay();
    const { name, uid } = jobOf(run).pod!;
    await admin.delete('pods', { namespace, name }, uid);
    expect((await process.ended).stderr).toContain('its pod was deleted by somebody else');
    await untilNothingIsLeft(bed, run);
  });

  test('a taint evicts it', async () => {
    const { run, process } = await underWay(undefined, 'node-2');
    kubectl('taint', 'node', 'node-2', 'k8sbench-test=x:NoExecute');
    try {
      expect((await process.ended).stderr).toMatch(/its pod was evicted: .*the measurement is void, not bad/);
      await untilNothingIsLeft(bed, run);
      const other = await planned(bed, { node: 'node-2' });
      expect((await session(bed, other, ...SETTLE)).stderr).toMatch(
        /no node takes its pod: .*untolerated taint/,
      );
    } finally {
      kubectl('taint', 'node', 'node-2', 'k8sbench-test-');
    }
  });

  test('the node is cordoned', async () => {
    kubectl('cordon', 'node-2');
    try {
      const run = await planned(bed, { node: 'node-2' });
      expect((await session(bed, run, ...SETTLE)).stderr).toMatch(
        /no node takes its pod: .*were unschedulable/,
      );
    } finally {
      kubectl('uncordon', 'node-2');
    }
  });

  test('the node goes away, and does not come back', async () => {
    const { run, process } = await underWay((spec) => {
      spec.tolerations = ['not-ready', 'unreachable'].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 3,
      }));
      spec.terminationGracePeriodSeconds = 1;
    }, 'node-2');
    const again = await killKubelet(ownDirectory!, 2);
    try {
      const ended = await process.ended;
      expect(ended.exit).toBe(1);
      expect(ended.stderr).toMatch(/its node does not answer|its node is gone/);
      expect(ended.stderr).toMatch(/failed: its node is gone: /);
    } finally {
      again();
    }
    await untilNothingIsLeft(bed, run);
    await until('node-2', () => kubectl('get', 'node', 'node-2').includes(' Ready'));
  }, 120_000);

  test('a kubelet restarts: nothing is lost', async () => {
    const run = await planned(bed, { node: 'node-2', rounds: 20 });
    const process = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    (await killKubelet(ownDirectory!, 2))();
    expect((await process.ended).exit).toBe(0);
  });

  test('the API server stands still', async () => {
    const run = await planned(bed, { rounds: 12 });
    const process = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    const pid = pidOf(ownDirectory!, 'kube-apiserver')!;
    globalThis.process.kill(pid, 'SIGSTOP');
    await Bun.sleep(15_000);
    globalThis.process.kill(pid, 'SIGCONT');
    expect((await process.ended).exit).toBe(0);
  });

  test('a webhook adds a sidecar: void before anything is measured', async () => {
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
        const patch = [{ op: 'add', path: '/spec/containers/-', value: sidecar }];
        const response = {
          uid: asked.uid,
          allowed: true,
          patchType: 'JSONPatch',
          patch: btoa(JSON.stringify(patch)),
        };
        return Response.json({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
      },
    });
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'k8sbench-test' },
      webhooks: [
        {
          name: 'sidecar.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { url: `https://127.0.0.1:${server.port}/`, caBundle: btoa(file('ca.crt')) },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': bed.namespace } },
        },
      ],
    };
    const path = join(bed.directory, 'webhook.json');
    writeFileSync(path, JSON.stringify(configuration));
    kubectl('apply', '-f', path);
    try {
      const run = await planned(bed, { change: (manifest) => void small(manifest) });
      const ended = await session(bed, run);
      expect(ended.exit).toBe(5);
      expect(ended.stderr).toContain("the cluster changed the pod: containers: 'proxy' was added");
      expect(jobOf(run)).toMatchObject({ outcome: 'invalid', exit: 5 });
      await untilNothingIsLeft(bed, run);
    } finally {
      kubectl('delete', '-f', path);
      await server.stop(true);
    }
  });

  test('a busy registry is waited for', async () => {
    const registry: Server = createServer((_, response) => {
      response.writeHead(429);
      response.end('{"errors":[{"code":"TOOMANYREQUESTS"}]}');
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    const { port } = registry.address() as { port: number };
    const run = await planned(bed, {
      change: (manifest) =>
        void (small(manifest).containers[0].image = `localhost:${port}/busy@sha256:${'0'.repeat(64)}`),
    });
    const process = start(bed, ['--run', run.name, '--settle', '1s']);
    await until('that it waits', () => /the registry is busy: .*429.*; waiting/.test(process.said()));
    await Bun.sleep(2500);
    process.kill('SIGINT');
    expect((await process.ended).exit).toBe(130);
    registry.close();
    await untilNothingIsLeft(bed, run);
  });
});

const limited = async (
  resource: 'resourcequotas' | 'limitranges',
  spec: object,
  says: RegExp,
  exit = 1,
): Promise<void> => {
  const made = await admin.create<any>(
    resource,
    { namespace: bed.namespace },
    { metadata: { name: 'limited' }, spec },
  );
  try {
    await Bun.sleep(1500);
    const run = await planned(bed);
    const ended = await session(bed, run, ...SETTLE);
    expect(ended.stderr).toMatch(says);
    expect(ended.exit).toBe(exit);
    await untilNothingIsLeft(bed, run);
  } finally {
    await admin.delete(resource, { namespace: bed.namespace, name: 'limited' }, made.metadata.uid);
  }
};

describe('what the namespace allows', () => {
  test('a quota that is too small', () =>
    limited(
      'resourcequotas',
      { hard: { 'requests.cpu': '500m' } },
      /quota has no room for its pod: .*exceeded quota: limited.*ask for less, or raise the quota/,
    ));
  test('limits that refuse it', () =>
    limited(
      'limitranges',
      { limits: [{ type: 'Container', max: { memory: '128Mi' } }] },
      /limits refuse its pod: .*maximum memory usage per Container is 128Mi/,
    ));
  test('limits that change it', () =>
    limited(
      'limitranges',
      { limits: [{ type: 'Container', default: { 'ephemeral-storage': '1Gi' } }] },
      /the cluster changed the pod: .*'ephemeral-storage' was added/,
      5,
    ));
});

const without = (rules: Rule[], resource: string, verb: string): Rule[] =>
  rules
    .map((one) =>
      one.resources.includes(resource) ? { ...one, verbs: one.verbs.filter((word) => word !== verb) } : one,
    )
    .filter((one) => one.verbs.length > 0);

describe('a grant without one of its verbs', () => {
  const image = grants().get('k8sbench-image')!;
  const rows = image.flatMap((rule) =>
    rule.resources.flatMap((resource) => rule.verbs.map((verb) => [verb, resource] as const)),
  );
  test.each(rows)('%s %s', async (verb, resource) => {
    const lesser = await makeBed('rbac', without(image, resource, verb));
    try {
      const run = await planned(lesser, {
        // Without events nobody says why no pod comes.
        ...(resource === 'events'
          ? { change: (manifest: any) => void delete small(manifest).securityContext.runAsNonRoot }
          : {}),
        rounds: 3,
      });
      const words = [...SETTLE];
      if (resource === 'events') {
        const process = start(lesser, ['--run', run.name, ...words]);
        await until('that it can not tell', () => process.said().includes('events'));
        process.kill('SIGINT');
        expect((await process.ended).stderr).toMatch(/not allowed to list events/);
        return;
      }
      if (verb === 'get' && resource === 'jobs') {
        // Needed to find a Job whose creation was not answered.
        const first = await session(lesser, run, '--detach');
        expect(first.exit).toBe(0);
        const { job: _job, pod: _pod, ...before } = jobOf(run);
        writeFileSync(
          run.file('job.json'),
          JSON.stringify({ ...before, timeline: before.timeline.slice(0, 1) }),
        );
      }
      const ended = await session(lesser, run, ...words);
      expect(ended.exit).not.toBe(0);
      expect(ended.stderr).toMatch(
        new RegExp(`not allowed to ${verb} ${resource}.*the README's grants list`),
      );
    } finally {
      await lesser.remove();
    }
  });

  test.each(['get'])('%s pods/exec: the bundle can not be sent', async () => {
    const lesser = await makeBed('rbac', image);
    try {
      const directory = join(lesser.directory, 'bundle');
      await makeArtifacts(directory);
      const run = await planned(lesser, {
        words: ['--bundle', directory, '--base-image', lesser.images.base],
      });
      const ended = await session(lesser, run, ...SETTLE);
      expect(ended.exit).toBe(1);
      expect(ended.stderr).toMatch(/not allowed to get pods\/exec/);
      await untilNothingIsLeft(lesser, run);
    } finally {
      await lesser.remove();
    }
  });
});
