/** preflight against the API server: an administrator, the user of the README's grant, the same without each verb in turn, and namespaces that refuse. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { sha256 } from '../../shared/files.ts';
import type { KubernetesObject } from '../../shared/kubernetes.ts';
import { readText } from '../../shared/read.ts';
import { isPinned } from '../../tools/preflight/holders.ts';
import { main } from '../../tools/preflight/main.ts';
import { main as plan } from '../../tools/plan/main.ts';
import { main as render } from '../../tools/render/main.ts';
import { runTool } from '../outside.ts';
import { grants, kubeconfigWith, rightsIn, type Rule, without } from './session-runs.ts';
import { makeArtifacts } from './session-image.ts';
import { until } from './processes.ts';
import { admin, image, kubeconfig, makeNamespace, makeUser, node1, node2, scratch } from './the-cluster.ts';

const files = scratch();
const bundle = join(files.path, 'bundle');
const spaces: Awaited<ReturnType<typeof makeNamespace>>[] = [];
const space = async (word: string, labels: Record<string, string> = {}): Promise<string> => {
  const made = await makeNamespace(word, labels);
  spaces.push(made);
  return made.name;
};
let namespace = '';
beforeAll(async () => {
  await makeArtifacts(bundle);
  namespace = await space('preflight', { 'pod-security.kubernetes.io/enforce': 'restricted' });
});
afterAll(async () => {
  files.remove();
  for (const one of spaces) await one.remove();
});

interface Told {
  name: string;
  status: string;
  found: string;
  remedy?: string;
}

const look = async (config: string, words: readonly string[], into = namespace) => {
  const settings = ['--namespace', into, '--cpus', '1', '--memory', '64Mi', '--allow-unpinned-image'];
  const done = await runTool(main, ['--kubeconfig', config, '--json', ...settings, ...words], {
    cwd: files.path,
    env: {},
  });
  const printed = done.stdout || done.stderr;
  const findings = printed.startsWith('{') ? (JSON.parse(printed) as { findings: Told[] }).findings : [];
  const named = (status: string): string[] =>
    findings.filter((one) => one.status === status).map((one) => one.name);
  return { ...done, findings, fails: named('fail'), warns: named('warn') };
};
const BUNDLE = ['--bundle', 'bundle', '--base-image', image];
const IMAGE = ['--image', image];

/** A user with these rules in a namespace. */
const userWith = async (name: string, rules: readonly Rule[], into = namespace): Promise<string> =>
  kubeconfigWith(
    join(files.path, `${name}.kubeconfig`),
    await makeUser(
      into,
      name,
      rules.filter((one) => one.verbs.length > 0),
    ),
  );

/** What a namespaced user can't know, and works without. */
const UNKNOWN = ['list nodes', 'list pods everywhere', 'get nodes', 'quota', 'limits', 'room'];
const reads = { apiGroups: [''], resources: ['resourcequotas', 'limitranges'], verbs: ['list'] };

describe('who may do a run', () => {
  test.each([IMAGE, BUNDLE])('an administrator: %s', async (...words) => {
    const { exit, stderr, fails, warns, findings } = await look(kubeconfig, words);
    expect([exit, stderr, fails, warns.filter((one) => one !== 'image')]).toEqual([0, '', [], []]);
    expect(findings.find((one) => one.name === 'pod')?.found).toBe('admitted unchanged in a dry run');
    expect(findings.find((one) => one.name === 'pod security')?.found).toBe("'restricted' is enforced");
    for (const resource of ['jobs', 'pods'] as const)
      expect(await admin.list(resource, { namespace })).toEqual([]);
  });

  test("the user of the README's grant for images", async () => {
    const { exit, fails, warns } = await look(
      await userWith('image', grants().get('k8sbench-image')!),
      IMAGE,
    );
    expect([exit, fails, warns.filter((one) => one !== 'image')]).toEqual([0, [], UNKNOWN]);
  });

  test("the user of the README's grant for bundles; an image's grant is not enough for one", async () => {
    const granted = await look(await userWith('bundle', grants().get('k8sbench-bundle')!), BUNDLE);
    expect([granted.exit, granted.fails, granted.warns.filter((one) => one !== 'image')]).toEqual([
      0,
      [],
      UNKNOWN,
    ]);
    const less = await look(join(files.path, 'image.kubeconfig'), BUNDLE);
    const { minor } = await admin.version();
    const missing = ['get pods/exec', ...(minor >= 35 ? ['create pods/exec'] : [])];
    expect([less.exit, less.stdout, less.fails]).toEqual([1, '', missing]);
  });

  test('nobody', async () => {
    const { exit, stdout, fails } = await look(await userWith('nobody', []), IMAGE);
    expect([exit, stdout]).toEqual([1, '']);
    expect(fails).toEqual([
      'create jobs',
      'get jobs',
      'list jobs',
      'watch jobs',
      'delete jobs',
      'list pods',
      'watch pods',
      'get pods/log',
    ]);
  });
});

const granted = grants().get('k8sbench-bundle')!;

describe('the same user without', () => {
  test.each(rightsIn(granted))('$verb $resource', async ({ verb, resource }) => {
    const less = without(granted, { verb, resource });
    const name = `no-${verb}-${resource.replace('/', '-')}`;
    const { exit, fails, warns, findings } = await look(await userWith(name, less), BUNDLE);
    const { minor } = await admin.version();
    const counts = resource === 'pods/exec' && verb === 'create' ? minor >= 35 : resource !== 'events';
    const found = findings.find((one) => one.name === `${verb} ${resource}`)!;
    expect([found.status, found.found.startsWith('not allowed')]).toEqual([counts ? 'fail' : 'warn', true]);
    expect([exit, fails]).toEqual(counts ? [1, [`${verb} ${resource}`]] : [0, []]);
    if (counts) expect(found.remedy).toContain(`resources: [${resource}], verbs: [${verb}]`);
    else expect(warns).toContain(`${verb} ${resource}`);
  });
});

describe('the role of this README, beside the grant for images', () => {
  const more = grants('tools/preflight/README.md').get('k8sbench-preflight')!;
  /** Resource → the finding that is not known without it. */
  const TELLS: Readonly<Record<string, string>> = {
    resourcequotas: 'quota',
    limitranges: 'limits',
    namespaces: 'pod security',
    persistentvolumeclaims: "claim 'results'",
    serviceaccounts: "account 'default'",
  };
  const told = async (name: string, rules: readonly Rule[]): Promise<string[]> => {
    const values = join(files.path, 'things.yaml');
    writeFileSync(values, 'serviceAccountName: default\n');
    const config = await userWith(name, [...grants().get('k8sbench-image')!, ...rules]);
    const { findings } = await look(config, [...IMAGE, '--values', values, '--pvc', 'results']);
    return findings.filter((one) => /not known|may not|can't be/.test(one.found)).map((one) => one.name);
  };
  /** What stays unknown to a user of one namespace. */
  let unknown: string[] = [];
  beforeAll(async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await admin.create('persistentvolumeclaims', { namespace }, { metadata: { name: 'results' }, spec });
    unknown = await told('whole-role', more);
  });

  test('with all of it, its things are known', () => {
    for (const name of Object.values(TELLS)) expect(unknown).not.toContain(name);
    expect(
      rightsIn(more)
        .map((one) => one.resource)
        .toSorted(),
    ).toEqual(Object.keys(TELLS).toSorted());
  });
  test.each(rightsIn(more))('without $verb $resource', async (right) => {
    const name = `role-no-${right.resource}`;
    expect(await told(name, without(more, right))).toEqual(
      expect.arrayContaining([...unknown, TELLS[right.resource]!]),
    );
  });
});

const quota = async (
  into: string,
  name: string,
  hard: Record<string, string>,
  more: object = {},
): Promise<void> => {
  await admin.create('resourcequotas', { namespace: into }, { metadata: { name }, spec: { hard, ...more } });
  // Admission goes by the status, which a controller writes.
  await until(`quota ${name}`, async () => {
    const [made] = await admin.list<{ status?: { hard?: object } }>('resourcequotas', { namespace: into });
    return made?.status?.hard !== undefined;
  });
};

describe('a namespace that refuses', () => {
  test('a quota too small, to whoever may read it, and to whoever may create pods', async () => {
    const into = await space('quota');
    await quota(into, 'small', { 'requests.memory': '32Mi', pods: '10' });
    const rules = [...grants().get('k8sbench-image')!, reads];
    const user = await look(await userWith('reader', rules, into), IMAGE, into);
    expect([user.exit, user.fails]).toEqual([1, ["quota 'small'"]]);
    const found = user.findings.find((one) => one.status === 'fail')!.found;
    expect(found).toBe('requests.memory: 64Mi asked for, 0 of 32Mi used');
    const whole = await look(kubeconfig, IMAGE, into);
    expect([whole.exit, whole.fails]).toEqual([1, ["quota 'small'", 'pod']]);
    expect(whole.stderr).toContain('exceeded quota: small');
  });

  test.each<[string, Record<string, string>, object, boolean]>([
    ['of another scope', { pods: '0' }, { scopes: ['Terminating'] }, false],
    ['of its own scope', { pods: '0' }, { scopes: ['NotTerminating'] }, true],
    ['over pods that keep away from others', { pods: '0' }, { scopes: ['CrossNamespacePodAffinity'] }, true],
    ['over a resource that it does not name', { 'limits.ephemeral-storage': '10Gi' }, {}, false],
    ['with room', { 'limits.cpu': '1', 'requests.memory': '64Mi', 'count/pods': '1' }, {}, false],
  ])('a quota %s: the finding is what the server says of the pod', async (word, hard, more, refuses) => {
    const into = await space(`q-${word.split(' ')[1]}`);
    await quota(into, 'q', hard, more);
    const { fails } = await look(kubeconfig, IMAGE, into);
    expect(fails).toEqual(refuses ? ["quota 'q'", 'pod'] : []);
  });

  test.each<[string, object, boolean]>([
    ['a smallest memory', { type: 'Container', min: { memory: '1Gi' } }, true],
    ['a largest CPU', { type: 'Pod', max: { cpu: '500m' } }, true],
    ['a pod that must name storage', { type: 'Pod', max: { 'ephemeral-storage': '1Gi' } }, true],
    ['a default that is added', { type: 'Container', default: { 'ephemeral-storage': '1Gi' } }, true],
    ['bounds that fit', { type: 'Container', min: { cpu: '100m' }, max: { memory: '1Gi', cpu: '1' } }, false],
  ])('limits, %s: the finding is what the server says of the pod', async (word, limit, refuses) => {
    const into = await space(`l-${word.split(' ')[1]}`);
    await admin.create(
      'limitranges',
      { namespace: into },
      { metadata: { name: 'l' }, spec: { limits: [limit] } },
    );
    const { fails } = await look(kubeconfig, IMAGE, into);
    expect(fails).toEqual(refuses ? ["limits 'l'", 'pod'] : []);
  });

  test('one that is not there', async () => {
    const { exit, fails } = await look(kubeconfig, IMAGE, 'k8sbench-test-not-there');
    expect([exit, fails]).toEqual([1, ['namespace', 'job', 'pod']]);
  });

  test('things that are not there, and a secret of the wrong kind', async () => {
    const into = await space('things');
    await admin.create('secrets', { namespace: into }, { metadata: { name: 'opaque' }, type: 'Opaque' });
    const values = join(files.path, 'values.yaml');
    writeFileSync(values, 'imagePullSecrets: [opaque, missing]\nserviceAccountName: nobody\n');
    const { fails } = await look(kubeconfig, [...IMAGE, '--values', values, '--pvc', 'none'], into);
    expect(fails).toEqual(['pod', "claim 'none'", "account 'nobody'", "secret 'opaque'", "secret 'missing'"]);
  });

  test('more than any node has', async () => {
    const { exit, fails, stderr } = await look(kubeconfig, [...IMAGE, '--node-selector', 'no=such']);
    expect([exit, fails]).toEqual([1, ['room']]);
    expect(stderr).toContain('has no label no, not no=such');
  });
});

describe('an image', () => {
  interface Holding {
    status: { images?: { names?: string[] }[] };
  }
  const namesOn = async (node: string): Promise<string[]> =>
    (await admin.get<KubernetesObject & Holding>('nodes', { name: node })).status.images?.flatMap(
      (one) => one.names ?? [],
    ) ?? [];
  /** One that both nodes have, by its digest. */
  const held = async (): Promise<string> => {
    let name: string | undefined;
    await until('an image that both nodes have', async () => {
      const there = new Set(await namesOn(node2));
      name = (await namesOn(node1)).find((one) => there.has(one) && isPinned(one));
      return name !== undefined;
    });
    return name!;
  };
  const saidOf = async (config: string, name: string, ...words: string[]) => {
    const done = await look(config, ['--image', name, ...words]);
    return { ...done, said: done.findings.find((one) => one.name === 'image')! };
  };
  const NOWHERE = `sha256:${'0'.repeat(64)}`;

  test('on every node that fits, on the one that is named, and to who may not list them', async () => {
    const name = await held();
    const both = await saidOf(kubeconfig, name, '--nodes', `${node1},${node2}`);
    const of = (nodes: string): string => `${name}: on ${nodes}`;
    expect(both.said.status).toBe('ok');
    expect(both.said.found).toStartWith(of('2 of 2 nodes that fit ('));
    for (const node of [node1, node2]) expect(both.said.found).toContain(`'${node}'`);
    const one = await saidOf(kubeconfig, name, '--node', node1);
    expect(one.said).toMatchObject({ status: 'ok', found: of(`1 of 1 nodes that fit ('${node1}')`) });
    const user = await userWith('no-nodes', grants().get('k8sbench-image')!);
    const { said } = await saidOf(user, name.replace(/^[^/]+/, 'registry.invalid'));
    expect(said.status).toBe('warn');
  });

  test('on no node, its registry out of reach', async () => {
    const name = `registry.invalid/bench@${NOWHERE}`;
    const { exit, fails, said } = await saidOf(kubeconfig, name);
    expect([exit, fails, said.status]).toEqual([0, [], 'warn']);
    expect(said.found).toStartWith(`${name}: not known: 'https://registry.invalid' can't be reached`);
  });

  test('on no node, its registry having none; and having it for an architecture that no node has', async () => {
    const platform = { os: 'linux', architecture: 's390x' };
    const index = JSON.stringify({
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [{ mediaType: 'x', digest: NOWHERE, size: 1, platform }],
    });
    const digest = `sha256:${sha256(index)}`;
    const paths: string[] = [];
    using registry = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ url }) {
        paths.push(new URL(url).pathname);
        return url.endsWith(digest) ? new Response(index) : new Response('', { status: 404 });
      },
    });
    const at = `127.0.0.1:${registry.port}/bench`;
    const missing = await saidOf(kubeconfig, `${at}@${NOWHERE}`);
    expect([missing.exit, missing.said.status]).toEqual([0, 'warn']);
    const foreign = await saidOf(kubeconfig, `${at}@${digest}`);
    expect([foreign.exit, foreign.stdout, foreign.fails]).toEqual([1, '', ['image']]);
    expect(foreign.said.found).toEndWith('for linux/s390x alone');
    expect(paths).toEqual([NOWHERE, digest].map((one) => `/v2/bench/manifests/${one}`));
  });
});

const outside = () => ({ cwd: files.path, env: { KUBECONFIG: kubeconfig, PATH: process.env['PATH'] } });

const planned = async (name: string): Promise<string> => {
  const words = ['--run', name, '--namespace', namespace, '--profile', 'durable-store', '--turns', '50'];
  const laid = await runTool(
    plan,
    [...words, ...IMAGE, '--allow-unpinned-image', '--cpus', '1', '--memory', '64Mi', '--rounds', '3'],
    outside(),
  );
  expect(laid.stderr).not.toContain('error');
  expect((await runTool(render, ['--run', name], outside())).exit).toBe(0);
  return join(files.path, name, 'manifest.yaml');
};

describe('a run directory', () => {
  test('its path is handed on, the table is talk', async () => {
    await planned('k8sbench-test-good');
    const done = await runTool(main, ['--run', 'k8sbench-test-good'], outside());
    expect([done.exit, done.stdout]).toEqual([0, 'k8sbench-test-good\n']);
    expect(done.stderr).toContain('a run can work here');
  });

  test('a manifest that was loosened by hand is refused in a restricted namespace', async () => {
    const path = await planned('k8sbench-test-loose');
    const manifest = parseForeignYaml(readText(path), path) as any;
    delete manifest.spec.template.spec.securityContext.runAsNonRoot;
    writeFileSync(path, formatYaml(manifest));
    const done = await runTool(main, ['--run', 'k8sbench-test-loose', '--json'], outside());
    expect([done.exit, done.stdout]).toEqual([1, '']);
    const { findings } = JSON.parse(done.stderr) as { findings: Told[] };
    expect(findings.filter((one) => one.status === 'fail').map((one) => one.name)).toEqual([
      'pod security',
      'pod',
    ]);
  });
});
