/** Manifests against the API server: its own YAML reader, its own admission, and a kubelet that runs one. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { type Values, values as valuesSchema } from '../../schemas/values.ts';
import type { KubernetesObject } from '../../shared/kubernetes.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { manifestOf, type Session } from '../../shared/job/manifest.ts';
import { AWKWARD } from './awkward.ts';
import { sized, small } from './fault.ts';
import { until } from './processes.ts';
import { admin, image, makeNamespace, node1 } from './the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

let namespace: Awaited<ReturnType<typeof makeNamespace>>;
beforeAll(async () => {
  namespace = await makeNamespace('render', { 'pod-security.kubernetes.io/enforce': 'restricted' });
});
afterAll(() => namespace.remove());

const digest = 'b'.repeat(64);
const session = (
  values: Partial<Values> = {},
  about: Partial<Session['about']> = {},
  plan = '{}',
): Session => ({
  about: { run: 'k8sbench-cmp-render', mode: 'compare', delivery: 'image', ...about },
  plan,
  values: v.parse(valuesSchema, {
    namespace: namespace.name,
    image,
    baseImage: image,
    cpus: 1,
    memory: '64Mi',
    scratchSize: '32Mi',
    ...values,
  }),
});
const bundle = {
  delivery: 'bundle',
  bundleSha256: digest,
  arch: process.arch === 'x64' ? 'amd64' : 'arm64',
} as const;
const admitted = (one: Session): Promise<Record<string, unknown>> =>
  admin.create('jobs', { namespace: namespace.name }, formatYaml(manifestOf(one)), { dryRun: true });

/** Fields of a manifest that the server has otherwise; what it adds is its own. */
const changes = (sent: unknown, got: unknown, path = ''): string[] => {
  if (Array.isArray(sent))
    return Array.isArray(got) && got.length === sent.length
      ? sent.flatMap((one, at) => changes(one, got[at], `${path}[${at}]`))
      : [`${path}: another length`];
  if (typeof sent === 'object' && sent !== null)
    return Object.entries(sent).flatMap(([key, one]) =>
      changes(one, (got as Record<string, unknown> | undefined)?.[key], `${path}.${key}`),
    );
  return sent === got ? [] : [`${path}: ${JSON.stringify(sent)} became ${JSON.stringify(got)}`];
};

const full: Partial<Values> = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [
    { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    { operator: 'Exists' },
  ],
  imagePullSecrets: ['one'],
  serviceAccountName: 'default',
  pvc: 'results',
  ttlSecondsAfterFinished: 7200,
};

const isLabel = (text: string): boolean => /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(text);
const annotations = Object.fromEntries(AWKWARD.map((text, at) => [`example.com/a${at}`, text]));

describe('the API server takes a manifest as it is, in a restricted namespace', () => {
  test.each<[string, Partial<Values>, Partial<Session['about']>]>([
    ['image', {}, {}],
    ['bundle', {}, bundle],
    ['image, every field', full, {}],
    ['bundle, every field', { ...full, scratchMedium: 'Memory' }, bundle],
    [
      'a child on a node, scratch from a class',
      { scratchStorageClass: 'fast' },
      { ...bundle, parent: 'whole' },
    ],
  ])('%s', async (_, values, about) => {
    const one = { ...session(values, about), node: node1 };
    const sent = manifestOf(one);
    const got = await admitted(one);
    expect(changes(sent, got)).toEqual([]);
    const { spec } = got as { spec: { template: { spec: object } } };
    expect(spec).toMatchObject({ backoffLimit: 0, suspend: false, completionMode: 'NonIndexed' });
  });

  test('every awkward text, as annotation, in the plan, and as label where it can be one', async () => {
    const labels = Object.fromEntries(
      AWKWARD.filter(isLabel).map((text, at) => [`example.com/l${at}`, text]),
    );
    // Keys that look like something else, too.
    for (const text of AWKWARD.filter((one) => isLabel(one) && one !== ''))
      labels[`example.com/${text}`] = text;
    for (const text of ['no', 'on', 'y', 'null', 'true', '1', '1e3', '0b101']) labels[text] = 'x';
    expect(Object.keys(labels).length).toBeGreaterThan(60);
    const one = session({ annotations, labels }, {}, JSON.stringify({ words: AWKWARD }));
    expect(changes(manifestOf(one), await admitted(one))).toEqual([]);
  });

  test('and refuses what is not restricted: the check can fail', async () => {
    const manifest = manifestOf(session()) as any;
    delete manifest.spec.template.spec.securityContext.runAsNonRoot;
    const pod = { metadata: { name: 'loose' }, spec: manifest.spec.template.spec };
    await expect(admin.create('pods', { namespace: namespace.name }, pod, { dryRun: true })).rejects.toThrow(
      /violates PodSecurity "restricted/,
    );
    const strict = { metadata: { name: 'strict' }, spec: (manifestOf(session()) as any).spec.template.spec };
    expect(await admin.create('pods', { namespace: namespace.name }, strict, { dryRun: true })).toMatchObject(
      { status: { qosClass: 'Guaranteed' } },
    );
  });
});

type Pod = KubernetesObject & {
  spec: { nodeName?: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
};
const podsOf = (run: string): Promise<Pod[]> =>
  admin.list<Pod>('pods', { namespace: namespace.name, labelSelector: `app.kubernetes.io/instance=${run}` });
const submit = (one: Session): Promise<KubernetesObject> =>
  admin.create('jobs', { namespace: namespace.name }, formatYaml(manifestOf(one)));
const logOf = async (pod: string): Promise<string> => {
  let text = '';
  for await (const part of admin.log(
    { namespace: namespace.name, pod, container: 'bench' },
    new AbortController().signal,
  ))
    text += new TextDecoder().decode(part);
  return text;
};

test('a real pod says as its last line what keeps it from starting', async () => {
  const one = {
    ...session(
      { labels: { no: 'on' } },
      { ...bundle, run: 'k8sbench-cmp-real' },
      JSON.stringify({ words: AWKWARD }),
    ),
    node: node1,
  };
  await submit(one);
  // busybox has no node: the script says so before it waits for anything.
  await until('its failure', async () => (await podsOf('k8sbench-cmp-real'))[0]?.status.phase === 'Failed');
  const [pod] = await podsOf('k8sbench-cmp-real');
  expect(pod!.spec.nodeName).toBe(node1);
  const last = JSON.parse((await logOf(pod!.metadata.name)).trimEnd().split('\n').at(-1)!) as object;
  expect(last).toEqual({ t: 'error', message: "the base image has no 'node'; use an official Node image" });
});

test('the environment arrives as it was written; two sessions never share a node, and the second starts once the first is gone', async () => {
  const plan = JSON.stringify({ words: AWKWARD });
  const waiting = (run: string): any => {
    const manifest = manifestOf({ ...session({}, { ...bundle, run }, plan), node: node1 }) as any;
    const { spec } = manifest.spec.template;
    spec.containers[0].command = ['sh', '-c', 'sleep 300'];
    spec.terminationGracePeriodSeconds = 1;
    // Room for two, so that only the other one stands in its way.
    sized(spec, '100m', '64Mi');
    return manifest;
  };
  const first = await admin.create<KubernetesObject>(
    'jobs',
    { namespace: namespace.name },
    waiting('k8sbench-cmp-first'),
  );
  await until('the first', async () => (await podsOf('k8sbench-cmp-first'))[0]?.status.phase === 'Running');
  const [pod] = await podsOf('k8sbench-cmp-first');
  const out: Uint8Array[] = [];
  const command = [
    'sh',
    '-c',
    'printf %s "$K8SBENCH_PLAN" | sha256sum; echo "$NODE_NAME $POD_NAME"; touch /data/x && pwd; touch /bundle/x; ! touch /x 2>/dev/null && echo read-only',
  ];
  await admin.exec({
    namespace: namespace.name,
    pod: pod!.metadata.name,
    container: 'bench',
    command,
    stdout: (part) => out.push(part),
  });
  const [hash, names, where, root] = Buffer.concat(out).toString().split('\n');
  expect(hash!.slice(0, 64)).toBe(createHash('sha256').update(plan).digest('hex'));
  expect([names, where, root]).toEqual([`${node1} ${pod!.metadata.name}`, '/data', 'read-only']);
  const create = (manifest: unknown): Promise<KubernetesObject> =>
    admin.create('jobs', { namespace: namespace.name }, manifest as object);
  const remove = ({ metadata: { name, uid } }: KubernetesObject): Promise<unknown> =>
    admin.delete('jobs', { namespace: namespace.name, name }, uid);
  const untilHeld = (run: string): Promise<void> =>
    until(`that '${run}' waits`, async () =>
      ((await podsOf(run))[0]?.status.conditions ?? []).some(
        (one) => one.type === 'PodScheduled' && one.message?.includes('anti-affinity'),
      ),
    );
  // At once: a scheduler that missed that room was made would look again after five minutes.
  const untilRuns = (run: string): Promise<void> =>
    until(`that '${run}' runs`, async () => (await podsOf(run))[0]?.status.phase === 'Running', 60_000);
  const second = await create(waiting('k8sbench-cmp-second'));
  await untilHeld('k8sbench-cmp-second');
  await remove(first);
  await untilRuns('k8sbench-cmp-second');
  // The tests' small ones, too.
  const third = waiting('k8sbench-cmp-third');
  small(third);
  const last = await create(third);
  await untilHeld('k8sbench-cmp-third');
  await remove(second);
  await untilRuns('k8sbench-cmp-third');
  await remove(last);
});
