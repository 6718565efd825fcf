import { describe, expect, test } from 'bun:test';
import * as v from 'valibot';
import { type Values, values as valuesSchema } from '../../schemas/values.ts';
import { AWKWARD } from '../../test/cluster/awkward.ts';
import { POD_ANNOTATIONS, POD_LABELS } from './keep-away.ts';
import { manifestOf, type Session } from './manifest.ts';

const digest = 'a'.repeat(64);
const image = `registry.example/x@sha256:${digest}`;
const session = (
  values: Partial<Values> = {},
  more: Partial<Omit<Session, 'about'>> & { about?: Partial<Session['about']> } = {},
): Session => ({
  plan: '{"format":"compact-plan/1"}',
  values: v.parse(valuesSchema, { namespace: 'team', image, ...values }),
  ...more,
  about: { run: 'k8sbench-cmp-x', mode: 'compare', delivery: 'image', ...more.about },
});
const bundle = (values: Partial<Values> = {}): Session =>
  session(
    { baseImage: image, bundle: 'b', ...values },
    { about: { delivery: 'bundle', arch: 'arm64', bundleSha256: digest } },
  );

// The manifest as YAML readers see it, any field at hand.
const read = (one: Session): any => JSON.parse(JSON.stringify(manifestOf(one)));
const podOf = (one: Session): any => read(one).spec.template.spec;
const envOf = (one: Session): Record<string, string> =>
  Object.fromEntries(
    podOf(one).containers[0].env.map((each: { name: string; value?: string }) => [each.name, each.value]),
  );

describe('the Job', () => {
  test('runs once, ends, and goes away by itself', () => {
    expect(read(session({ deadlineSeconds: 600, ttlSecondsAfterFinished: 7200 })).spec).toMatchObject({
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      podReplacementPolicy: 'Failed',
      activeDeadlineSeconds: 600,
      ttlSecondsAfterFinished: 7200,
    });
    expect(podOf(session())).toMatchObject({
      restartPolicy: 'Never',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
    });
  });

  test('is restricted, Guaranteed, and in namespace and name the run', () => {
    const { metadata } = read(session());
    expect([metadata.name, metadata.namespace]).toEqual(['k8sbench-cmp-x', 'team']);
    const pod = podOf(session({ cpus: 3, memory: '1500M' }));
    const [bench] = pod.containers;
    expect([pod.containers.length, bench.name]).toEqual([1, 'bench']);
    expect(bench.resources).toEqual({
      requests: { cpu: '3', memory: '1500M' },
      limits: { cpu: '3', memory: '1500M' },
    });
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(bench.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('keeps to Linux, its node, its architecture, and away from other sessions of any namespace', () => {
    const { nodeAffinity, podAntiAffinity } = podOf({ ...bundle(), node: 'n1' }).affinity;
    expect(nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms).toEqual([
      {
        matchExpressions: [
          { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
        ],
        matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }],
      },
    ]);
    const [away] = podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(away.namespaceSelector).toEqual({});
    // It would keep this very session away: its own labels match.
    expect(read(session()).spec.template.metadata.labels).toMatchObject(away.labelSelector.matchLabels);
    const [anywhere] =
      podOf(session()).affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
    expect(anywhere).toEqual({
      matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
    });
  });

  test('takes what the values say', () => {
    const tolerations = [{ key: 'a', operator: 'Exists' as const }];
    const pod = podOf(
      session({
        nodeSelector: { pool: 'bench' },
        tolerations,
        imagePullSecrets: ['one', { name: 'two' }],
        serviceAccountName: 'sa',
        priorityClassName: 'high',
        runtimeClassName: 'rc',
        pvc: 'results',
      }),
    );
    expect(pod).toMatchObject({
      nodeSelector: { pool: 'bench' },
      tolerations,
      imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
      serviceAccountName: 'sa',
      priorityClassName: 'high',
      runtimeClassName: 'rc',
    });
    expect(pod.volumes[1]).toEqual({ name: 'results', persistentVolumeClaim: { claimName: 'results' } });
    expect(pod.containers[0].volumeMounts[1]).toEqual({ name: 'results', mountPath: '/results' });
  });

  test.each<['image' | 'bundle', string | undefined, string | undefined, string | undefined]>([
    ['image', undefined, undefined, undefined],
    ['image', 'results', '/results/k8sbench-cmp-x.log', undefined],
    ['bundle', undefined, '/bundle/pod.log', '/bundle/ACKNOWLEDGED'],
    ['bundle', 'results', '/results/k8sbench-cmp-x.log', undefined],
  ])('%s, claim %p: the copy of its log is at %p, and it waits for %p', (delivery, pvc, spool, waits) => {
    const values = pvc ? { pvc } : {};
    const env = envOf(delivery === 'bundle' ? bundle(values) : session(values));
    expect([env['K8SBENCH_SPOOL'], env['K8SBENCH_ACKNOWLEDGED']]).toEqual([spool, waits]);
  });

  test.each<[string, Partial<Values>, object]>([
    ['disk', { scratchSize: '1Gi' }, { emptyDir: { sizeLimit: '1Gi' } }],
    [
      'memory',
      { scratchSize: '1Gi', scratchMedium: 'Memory' },
      { emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    ],
    [
      'a storage class',
      { scratchSize: '1Gi', scratchStorageClass: 'fast' },
      {
        ephemeral: {
          volumeClaimTemplate: {
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'fast',
              resources: { requests: { storage: '1Gi' } },
            },
          },
        },
      },
    ],
  ])('has scratch space on %s', (_, values, volume) =>
    expect(podOf(session(values)).volumes[0]).toEqual({ name: 'data', ...volume }),
  );

  test('labels and annotations: those of the values count more, its identity is its own', () => {
    const values = {
      labels: { team: 'x', 'istio.io/dataplane-mode': 'ambient' },
      annotations: { 'linkerd.io/inject': 'enabled', note: 'a' },
    };
    const { metadata, spec } = read(session(values));
    expect(spec.template.metadata.annotations).toEqual({ ...POD_ANNOTATIONS, ...values.annotations });
    expect(spec.template.metadata.labels).toMatchObject({
      ...POD_LABELS,
      ...values.labels,
      'app.kubernetes.io/instance': 'k8sbench-cmp-x',
    });
    expect(metadata.labels).toMatchObject({
      team: 'x',
      'app.kubernetes.io/name': 'k8sbench',
      'app.kubernetes.io/component': 'compare',
    });
    expect(metadata.annotations).toEqual(values.annotations);
    expect(() => manifestOf(session({ labels: { 'app.kubernetes.io/name': 'mine' } }))).toThrow(
      "'app.kubernetes.io/name' is k8sbench's own",
    );
    expect(
      read(session({}, { about: { parent: 'whole' } })).metadata.labels['app.kubernetes.io/part-of'],
    ).toBe('whole');
  });
});

/** What the kubelet makes of a value: `$(NAME)` of an earlier variable is replaced, `$$` is a `$` (forked/golang/expansion). */
const expanded = (text: string, known: Record<string, string>): string => {
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const [here, next] = [text[at]!, text[at + 1]];
    const end = text.indexOf(')', at);
    if (here !== '$') out += here;
    else if (next === '$') {
      out += '$';
      at++;
    } else if (next === '(' && end > 0) {
      const name = text.slice(at + 2, end);
      out += known[name] ?? `$(${name})`;
      at = end;
    } else out += '$';
  }
  return out;
};

describe('the environment', () => {
  test('of an image', () => {
    expect(envOf(session())).toMatchObject({
      K8SBENCH_DELIVERY: 'image',
      K8SBENCH_IMAGE_REF: image,
      K8SBENCH_ROOT: '/opt/k8sbench',
      K8SBENCH_PLAN: '{"format":"compact-plan/1"}',
      TMPDIR: '/data',
      HOME: '/data',
    });
    expect(podOf(session()).containers[0].command).toEqual(['node', '/opt/k8sbench/lib/pod.mjs']);
  });

  test('of a bundle', () => {
    expect(envOf(bundle())).toMatchObject({
      K8SBENCH_DELIVERY: 'bundle',
      K8SBENCH_ROOT: '/bundle/root',
      K8SBENCH_BUNDLE_SHA256: digest,
      K8SBENCH_BUNDLE_ARCH: 'arm64',
    });
    const pod = podOf(bundle());
    expect(pod.volumes.map((one: { name: string }) => one.name)).toEqual(['data', 'bundle']);
    expect(pod.containers[0].command.slice(0, 2)).toEqual(['sh', '-c']);
  });

  test('is what the kubelet hands on, whatever stands in it', () => {
    for (const text of [...AWKWARD, '$(NODE_NAME) $$(NODE_NAME) $$$(NODE_NAME) $(', 'a$', '$$$']) {
      const plan = JSON.stringify({ format: 'compact-plan/1', word: text });
      const env = envOf(session({}, { plan }));
      expect(expanded(env['K8SBENCH_PLAN']!, { NODE_NAME: 'n1' })).toBe(plan);
    }
  });
});

describe('refused', () => {
  test.each<[string, Session, string]>([
    ['no namespace', { ...session(), values: v.parse(valuesSchema, { image }) }, 'no namespace'],
    [
      'a bundle that is not known',
      session({ baseImage: image }, { about: { delivery: 'bundle' } }),
      'does not say what the bundle is',
    ],
    ['a local session', session({}, { about: { delivery: 'local' } }), 'has no Job'],
    [
      'a long plan',
      session({}, { plan: 'x'.repeat(102_400) }),
      'the plan is 102400 bytes long, and at most 102400 reach the pod',
    ],
    [
      'scratch space that fills the memory',
      session({ scratchMedium: 'Memory', memory: '8Gi' }),
      "'8Gi' in memory leaves nothing of the pod's '8Gi'",
    ],
    [
      'two kinds of scratch space',
      session({ scratchMedium: 'Memory', scratchSize: '1Gi', scratchStorageClass: 'x' }),
      'exclude each other',
    ],
  ])('%s', (_, one, says) => expect(() => manifestOf(one)).toThrow(says));
});

test('the same session gives the same bytes', () =>
  expect(JSON.stringify(manifestOf(bundle()))).toBe(JSON.stringify(manifestOf(bundle()))));
