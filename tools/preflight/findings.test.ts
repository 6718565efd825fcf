import { describe, expect, test } from 'bun:test';
import * as v from 'valibot';
import { type Values, values as schema } from '../../schemas/values.ts';
import { manifestOf } from '../../shared/job/manifest.ts';
import { addNode, addPod, emptyTally } from '../../shared/nodes/tally.ts';
import type { Asked } from './asked.ts';
import { findingsOf, verdictOf } from './findings.ts';
import { holderOf, mayPull } from './holders.ts';
import type { LimitRange } from './limits.ts';
import type { Quota } from './quota.ts';
import type { Pull } from './registry.ts';
import { nameOf, rightsOf } from './rights.ts';
import type { Seen } from './seen.ts';

const IMAGE = `registry.example/bench@sha256:${'a'.repeat(64)}`;

const asked = (
  values: Partial<Values> = {},
  more: Partial<Omit<Asked, 'wanted'>> & { wanted?: Partial<Asked['wanted']> } = {},
): Asked => {
  const all = v.parse(schema, { namespace: 'team', image: IMAGE, baseImage: IMAGE, ...values });
  const delivery = more.delivery ?? 'image';
  const bundle = delivery === 'bundle' ? ({ arch: 'amd64', bundleSha256: 'b'.repeat(64) } as const) : {};
  return {
    values: all,
    namespace: 'team',
    image: IMAGE,
    picks: false,
    pods: 1,
    edited: [],
    manifest: manifestOf({
      about: { run: 'r', mode: 'compare', delivery, ...bundle },
      values: all,
      plan: '{}',
    }),
    ...more,
    delivery,
    wanted: { cpus: all.cpus, memory: all.memory, selector: {}, tolerations: [], count: 1, ...more.wanted },
  };
};
const bundle = asked({}, { delivery: 'bundle' });

const release = (minor: number, major = 1) => ({ major, minor, gitVersion: `v${major}.${minor}.0` });
const refused = (code: number, detail = '') => ({ refused: { code, detail } });
const forbidden = refused(403, 'x is forbidden: User "u" cannot list resource "x"');

/** Everything that one asked about is as it should be. */
const fine = (about: Asked): Seen => {
  const tally = emptyTally();
  for (const name of ['one', 'two'])
    addNode(tally, {
      metadata: { name, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
      status: {
        allocatable: { cpu: '4', memory: '16Gi', pods: '10' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  const { spec } = about.manifest as { spec: { template: { spec: Record<string, unknown> } } };
  return {
    version: release(34),
    rights: new Map(rightsOf(about).map((right) => [nameOf(right), true])),
    namespace: { value: { metadata: { name: 'team' } } },
    quotas: { value: [] },
    limits: { value: [] },
    job: { value: {} },
    pod: { value: { spec: spec.template.spec, status: { qosClass: 'Guaranteed' } } },
    secrets: new Map(),
    nodes: { value: { tally, basis: 'cluster' } },
    holders: new Set(),
    pull: { is: 'there', arches: [about.wanted.arch ?? 'amd64'], login: false },
    ...(about.delivery === 'bundle' ? { exec: refused(404, 'pods "x" not found') } : {}),
  };
};

/** `name: status` of what is not ok. */
const notOk = (about: Asked, change: (seen: Seen) => Partial<Seen> = () => ({})): string[] => {
  const seen = fine(about);
  return findingsOf(about, { ...seen, ...change(seen) })
    .filter((one) => one.status !== 'ok')
    .map((one) => `${one.status} ${one.name}`);
};
const found = (about: Asked, name: string, change: Partial<Seen>): string =>
  findingsOf(about, { ...fine(about), ...change }).find((one) => one.name === name)!.found;

test('a manifest that is not what render writes is told of', () => {
  const about = asked({}, { edited: ['spec.backoffLimit: 0 became 3'] });
  expect(notOk(about)).toEqual(['warn manifest']);
  expect(found(about, 'manifest', {})).toBe("is not what 'render' writes: spec.backoffLimit: 0 became 3");
});

test('nothing is wrong where nothing is wrong', () => {
  expect([notOk(asked()), notOk(bundle)]).toEqual([[], []]);
  expect(verdictOf(findingsOf(bundle, fine(bundle)))).toBe('a run can work here');
});

test('every finding that is not ok says what to do, and the verdict counts them', () => {
  const seen: Seen = {
    ...fine(bundle),
    version: release(28),
    rights: new Map(),
    quotas: forbidden,
    nodes: forbidden,
  };
  const findings = findingsOf(bundle, seen);
  for (const one of findings) expect(one.remedy === undefined).toBe(one.status === 'ok');
  expect(verdictOf(findings)).toBe(`no run can work here: 1 of ${findings.length} findings prevent it`);
});

describe('the server', () => {
  test.each<[string, Asked, Seen['version'], string[]]>([
    ['1.28', asked(), release(28), ['fail release']],
    ['1.29', asked(), release(29), []],
    ['1.29, for a bundle', bundle, release(29), ['fail release']],
    ['1.30, for a bundle', bundle, release(30), []],
    ['2.0', bundle, release(0, 2), []],
    ['one that does not tell', asked(), undefined, ['warn release']],
    ['one that tells nonsense', asked(), release(Number.NaN), ['warn release']],
  ])('%s', (_, about, version, expected) => expect(notOk(about, () => ({ version }))).toEqual(expected));
});

const answering =
  (name: string, allowed: boolean | undefined) =>
  ({ rights }: Seen): Partial<Seen> => ({ rights: new Map(rights).set(name, allowed) });

describe('each right in turn', () => {
  const ONLY_GOOD_TO_HAVE = new Set(['list nodes', 'list pods everywhere', 'list events', 'get nodes']);
  test.each(rightsOf(bundle).map(nameOf))('%s', (name) => {
    const without = (minor: number): string[] =>
      notOk(bundle, ({ rights }) => ({ version: release(minor), rights: new Map(rights).set(name, false) }));
    const counts = (minor: number): boolean =>
      name === 'create pods/exec' ? minor >= 35 : !ONLY_GOOD_TO_HAVE.has(name);
    for (const minor of [34, 35, 36])
      expect(without(minor)).toEqual([`${counts(minor) ? 'fail' : 'warn'} ${name}`]);
  });

  test('an image needs no exec', () => {
    expect(rightsOf(asked()).some((one) => one.subresource === 'exec')).toBe(false);
  });

  test('choosing among all nodes needs their list', () => {
    const change = answering('list nodes', false);
    expect(notOk(asked({}, { picks: true }), change)).toEqual(['fail list nodes']);
    expect(notOk(asked({}, { picks: true, wanted: { candidates: ['one'] } }), change)).toEqual([
      'warn list nodes',
    ]);
  });

  test('a server that would not say', () => {
    expect(notOk(asked(), answering('create jobs', undefined))).toEqual(['warn create jobs']);
  });
});

const quota = (
  hard: Record<string, string>,
  more: Partial<Quota['spec'] & object> = {},
  used = {},
): Quota => ({
  metadata: { name: 'q' },
  spec: { hard, ...more },
  status: { used },
});

const scoped = (operator: string, values?: string[]) => ({
  scopeSelector: {
    matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values ? { values } : {}) }],
  },
});

const means = (one: Quota): string =>
  findingsOf(asked(), { ...fine(asked()), quotas: { value: [one] } }).find((each) => each.status === 'fail')!
    .means;

describe('quotas', () => {
  const FAIL = ["fail quota 'q'"];
  test.each<[string, Asked, Quota, string[]]>([
    ['exactly enough', asked(), quota({ cpu: '2', 'limits.memory': '8Gi', pods: '1' }), []],
    ['a little too little', asked(), quota({ cpu: '1999m' }), FAIL],
    ['used up', asked(), quota({ 'requests.cpu': '4' }, {}, { 'requests.cpu': '2001m' }), FAIL],
    ['not used up', asked(), quota({ 'requests.cpu': '4' }, {}, { 'requests.cpu': '2' }), []],
    ['two pods side by side', asked({}, { pods: 2 }), quota({ 'requests.cpu': '3' }), FAIL],
    ['no Job more', asked(), quota({ 'count/jobs.batch': '1' }, {}, { 'count/jobs.batch': '1' }), FAIL],
    ['something else', asked(), quota({ services: '0', 'requests.nvidia.com/gpu': '0' }), []],
    ['storage that a pod may leave out', asked(), quota({ 'limits.ephemeral-storage': '0' }), []],
    ['claims', asked({ scratchStorageClass: 'fast' }), quota({ persistentvolumeclaims: '0' }), FAIL],
    [
      'claims of the class',
      asked({ scratchStorageClass: 'fast' }),
      quota({ 'fast.storageclass.storage.k8s.io/requests.storage': '1Gi' }),
      FAIL,
    ],
    [
      'claims of another class',
      asked({ scratchStorageClass: 'fast' }),
      quota({ 'slow.storageclass.storage.k8s.io/requests.storage': '1Gi' }),
      [],
    ],
    ['without a claim', asked(), quota({ persistentvolumeclaims: '0' }), []],
    ['pods with a deadline', asked(), quota({ pods: '0' }, { scopes: ['Terminating'] }), []],
    ['pods without one', asked(), quota({ pods: '0' }, { scopes: ['NotTerminating'] }), FAIL],
    ['pods of best effort', asked(), quota({ pods: '0' }, { scopes: ['BestEffort'] }), []],
    ['both scopes', asked(), quota({ pods: '0' }, { scopes: ['NotBestEffort', 'Terminating'] }), []],
    ['a scope that is not known', asked(), quota({ pods: '0' }, { scopes: ['Coming'] }), []],
    ['a class, without one', asked(), quota({ pods: '0' }, scoped('In', ['high'])), []],
    ['the class', asked({ priorityClassName: 'high' }), quota({ pods: '0' }, scoped('In', ['high'])), FAIL],
    [
      'not the class',
      asked({ priorityClassName: 'high' }),
      quota({ pods: '0' }, scoped('NotIn', ['high'])),
      [],
    ],
    ['no class at all', asked(), quota({ pods: '0' }, scoped('DoesNotExist')), FAIL],
    ['any class', asked({ priorityClassName: 'high' }), quota({ pods: '0' }, scoped('Exists')), FAIL],
  ])('%s', (_, about, one, expected) =>
    expect(notOk(about, () => ({ quotas: { value: [one] } }))).toEqual(expected),
  );

  test('used up now is told from never enough', () => {
    expect(means(quota({ cpu: '1' }))).toContain('never');
    expect(means(quota({ cpu: '2' }, {}, { cpu: '1' }))).toContain('now');
  });
});

describe('limits', () => {
  type Limit = NonNullable<NonNullable<LimitRange['spec']>['limits']>[number];
  const FAIL = ["fail limits 'l'"];
  const claimed = asked({ scratchStorageClass: 'fast', scratchSize: '8Gi' });
  test.each<[string, Asked, Limit, string[]]>([
    ['bounds met exactly', asked(), { type: 'Container', min: { cpu: '2' }, max: { memory: '8Gi' } }, []],
    ['too little', asked(), { type: 'Container', min: { cpu: '2001m' } }, FAIL],
    ['too much', asked(), { type: 'Pod', max: { memory: '8191Mi' } }, FAIL],
    ['a default for what is named', asked(), { type: 'Container', default: { cpu: '1' } }, []],
    [
      'a default for what is not',
      asked(),
      { type: 'Container', default: { 'ephemeral-storage': '1Gi' } },
      FAIL,
    ],
    [
      'a bound that becomes a default',
      asked(),
      { type: 'Container', max: { 'ephemeral-storage': '1Gi' } },
      FAIL,
    ],
    ['a bound that a pod must name', asked(), { type: 'Pod', max: { 'ephemeral-storage': '1Gi' } }, FAIL],
    ['a ratio of 1', asked(), { type: 'Container', maxLimitRequestRatio: { cpu: '1' } }, []],
    ['a ratio below', asked(), { type: 'Container', maxLimitRequestRatio: { cpu: '500m' } }, FAIL],
    ['claims, without one', asked(), { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }, []],
    ['claims, with one', claimed, { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }, FAIL],
    ['claims that fit', claimed, { type: 'PersistentVolumeClaim', max: { storage: '8Gi' } }, []],
  ])('%s', (_, about, limit, expected) =>
    expect(
      notOk(about, () => ({ limits: { value: [{ metadata: { name: 'l' }, spec: { limits: [limit] } }] } })),
    ).toEqual(expected),
  );
});

describe('the pod and its namespace', () => {
  test.each<[string, Partial<Seen>, string[]]>([
    ['a Job that is refused', { job: refused(403, 'admission webhook "p" denied') }, ['fail job']],
    ['a Job that is there', { job: refused(409, 'already exists') }, ['warn job']],
    ['no right to try', { job: undefined, pod: undefined }, ['warn job']],
    ['a pod that may not be tried', { pod: forbidden }, []],
    [
      'a level that refuses',
      { pod: refused(403, 'pods "p" is forbidden: violates PodSecurity "restricted:latest"') },
      ['fail pod security', 'fail pod'],
    ],
    ['a namespace that is not there', { namespace: refused(404) }, ['fail namespace']],
    ['a namespace that may not be read', { namespace: forbidden }, []],
    [
      'a namespace on its way out',
      { namespace: { value: { metadata: { name: 'team', deletionTimestamp: 'now' } } } },
      ['fail namespace'],
    ],
    [
      'quotas and limits that may not be read',
      { quotas: forbidden, limits: forbidden },
      ['warn quota', 'warn limits'],
    ],
  ])('%s', (_, change, expected) => expect(notOk(asked(), () => change)).toEqual(expected));

  test('a pod that the cluster changes', () => {
    const pod = {
      value: {
        spec: { containers: [{ name: 'bench' }, { name: 'sidecar' }] },
        status: { qosClass: 'Burstable' },
      },
    };
    const said = found(asked(), 'pod', { pod });
    expect(said).toContain("containers: 'sidecar' was added");
    expect(said).toContain("its QoS class is 'Burstable'");
  });
});

describe('what the pod names', () => {
  const docker = { value: { type: 'kubernetes.io/dockerconfigjson' } };
  test.each<[string, Asked, Partial<Seen>, string[]]>([
    ['a secret', asked(), { secrets: new Map([['s', docker]]) }, []],
    ['no such secret', asked(), { secrets: new Map([['s', refused(404)]]) }, ["fail secret 's'"]],
    ['a secret not to be read', asked(), { secrets: new Map([['s', forbidden]]) }, ["warn secret 's'"]],
    [
      'another kind',
      asked(),
      { secrets: new Map([['s', { value: { type: 'Opaque' } }]]) },
      ["fail secret 's'"],
    ],
    ['a bound claim', asked({ pvc: 'c' }), { claim: { value: { status: { phase: 'Bound' } } } }, []],
    [
      'a claim that waits',
      asked({ pvc: 'c' }),
      { claim: { value: { status: { phase: 'Pending' } } } },
      ["warn claim 'c'"],
    ],
    [
      'a lost claim',
      asked({ pvc: 'c' }),
      { claim: { value: { status: { phase: 'Lost' } } } },
      ["fail claim 'c'"],
    ],
    ['no claim', asked({ pvc: 'c' }), { claim: refused(404) }, ["fail claim 'c'"]],
    [
      'no account',
      asked({ serviceAccountName: 'a' }),
      { serviceAccount: refused(404) },
      ["fail account 'a'"],
    ],
    ['an account', asked({ serviceAccountName: 'a' }), { serviceAccount: { value: {} } }, []],
  ])('%s', (_, about, change, expected) => expect(notOk(about, () => change)).toEqual(expected));
});

describe('the image', () => {
  const there = (arches: string[], login = false): Pull => ({ is: 'there', arches, login });
  const missing: Pull = { is: 'missing' };
  const closed: Pull = { is: 'refused', status: 401 };
  const unheard: Pull = { is: 'unknown', why: "'registry.example' gave no answer in 5 s" };
  const secret = asked({ imagePullSecrets: ['s'] });
  const onlyOne = asked({}, { wanted: { candidates: ['one'] } });
  const here = asked({}, { image: `localhost:5000/a@sha256:${'a'.repeat(64)}` });
  const withArch = asked({}, { wanted: { arch: 'amd64' } });
  const tooMuch = asked({}, { wanted: { cpus: 5 } });
  test.each<[string, Asked, Pull | undefined, string[], string, string]>([
    ['a tag', asked({}, { image: 'a:b' }), undefined, [], 'warn', 'a:b'],
    ['on all nodes', asked(), undefined, ['one', 'two'], 'ok', "on 2 of 2 nodes that fit ('one', 'two')"],
    ['on the node named', onlyOne, undefined, ['one'], 'ok', "on 1 of 1 nodes that fit ('one')"],
    ['on nodes without room', tooMuch, undefined, ['one', 'two'], 'ok', "on 2 of 2 nodes ('one', 'two')"],
    ['pulled', asked(), there(['arm64', 'amd64']), [], 'ok', 'has it, for linux/arm64, linux/amd64'],
    [
      'silent of architectures',
      asked(),
      { is: 'there', login: false },
      [],
      'ok',
      "'registry.example' has it",
    ],
    [
      'on one, pulled by the other',
      asked(),
      there(['amd64']),
      ['one'],
      'ok',
      "on 1 of 2 nodes that fit ('one'); '",
    ],
    [
      'of another architecture',
      asked(),
      there(['arm64', 's390x']),
      [],
      'fail',
      'for linux/arm64, linux/s390x alone',
    ],
    ['not of the artifacts', withArch, there(['arm64']), [], 'fail', 'for linux/arm64 alone'],
    ['of no Linux', asked(), there([]), [], 'fail', 'for no Linux'],
    ['after a login', asked(), there(['amd64'], true), [], 'warn', 'after a login'],
    ['after a login, with a secret', secret, there(['amd64'], true), [], 'ok', 'has it'],
    ['not there', asked(), missing, [], 'warn', 'there is no such image'],
    [
      'not there, and on one',
      asked(),
      missing,
      ['two'],
      'warn',
      "on 1 of 2 nodes that fit ('two'); there is",
    ],
    ['closed', asked(), closed, [], 'warn', 'wants a login (401)'],
    ['closed, with a secret', secret, closed, [], 'warn', 'not known: its registry wants a login (401)'],
    ['not to be asked', asked(), unheard, [], 'warn', 'not known: '],
    ["at a node's own registry", here, there(['amd64']), [], 'warn', 'a registry here has it'],
    ["at a node's own, another architecture", here, there(['arm64']), [], 'fail', 'for linux/arm64 alone'],
    ["not at this machine's own", here, missing, [], 'warn', 'not known'],
    ["at a node's own, and on it", here, undefined, ['one', 'two'], 'ok', 'on 2 of 2'],
  ])('%s', (_, about, pull, holders, status, said) => {
    const { pull: __, ...rest } = fine(about);
    const seen: Seen = { ...rest, holders: new Set(holders), ...(pull ? { pull } : {}) };
    const [image, ...more] = findingsOf(about, seen).filter((one) => one.name === 'image');
    expect([image!.status, more]).toEqual([status as 'ok', []]);
    expect(image!.found).toContain(said);
    expect(image!.found).toStartWith(about.image);
    // The registry is asked where a node that may be taken has to pull.
    expect(mayPull(about, seen)).toBe(pull !== undefined);
  });

  test('for some of the nodes that fit', () => {
    const seen = fine(asked());
    const { tally } = (seen.nodes as Extract<Seen['nodes'], { value: unknown }>).value;
    tally.nodes[1]!.arch = 'arm64';
    expect(notOk(asked(), () => ({ nodes: seen.nodes }))).toEqual(['warn image']);
    expect(notOk(asked(), () => ({ nodes: seen.nodes, pull: there(['arm64', 'amd64']) }))).toEqual([]);
  });

  test('a secret of the service account names itself in the admitted pod', () => {
    const pod = { value: { spec: { imagePullSecrets: [{ name: 's' }] }, status: {} } };
    const image = findingsOf(asked(), { ...fine(asked()), pod, pull: closed }).find(
      (one) => one.name === 'image',
    );
    expect(image!.remedy).toContain('log in here');
  });

  const digest = `sha256:${'a'.repeat(64)}`;
  test.each<[string, string, string[] | null, boolean]>([
    ['itself', IMAGE, ['other', IMAGE], true],
    ['with a tag beside', `registry.example/bench:1@${digest}`, [IMAGE], true],
    ['of the hub', `node@${digest}`, [`docker.io/library/node@${digest}`], true],
    ['of another name', IMAGE, [`registry.example/other@${digest}`], false],
    ['of another digest', IMAGE, [IMAGE.replace('aaa', 'aab')], false],
    ['by tag', 'registry.example/bench:1', ['registry.example/bench:1'], false],
    ['without names', IMAGE, null, false],
    ['of names that are none', IMAGE, [`<none>@${digest}`], false],
  ])('a node has it: %s', (_, image, names, has) => {
    const holds = holderOf(image);
    expect(holds({ metadata: { name: 'n' }, status: { images: [{ names }] } })).toBe(has);
    expect(holds({ metadata: { name: 'n' }, status: { images: null } })).toBe(false);
  });
});

const halfTaken = ({ nodes }: Seen): Partial<Seen> => {
  const { tally } = (nodes as Extract<Seen['nodes'], { value: unknown }>).value;
  for (const nodeName of ['one', 'two'])
    addPod(tally, {
      metadata: { name: 'p' },
      spec: { nodeName, containers: [{ name: 'c', resources: { requests: { cpu: '2001m' } } }] },
    });
  return { nodes };
};

describe('room', () => {
  const FAIL = ['fail room'];
  test.each<[string, Partial<Asked['wanted']>, string[]]>([
    ['on both', { count: 2 }, []],
    ['on more than there are', { count: 3 }, FAIL],
    ['of another kind', { arch: 'arm64' }, FAIL],
    ['for more than one has', { cpus: 5 }, FAIL],
    ['on a node by name', { candidates: ['two'] }, []],
    ['on no node of the cluster', { candidates: ['three'] }, FAIL],
  ])('%s', (_, wanted, expected) => expect(notOk(asked({}, { wanted }))).toEqual(expected));

  test('pods take it away', () => {
    expect(notOk(asked(), halfTaken)).toEqual(FAIL);
  });

  test.each<[string, Seen['nodes'], string[]]>([
    ['without the list of nodes', { value: { tally: emptyTally(), basis: 'candidates' } }, ['warn room']],
    ['without any list', forbidden, ['warn room']],
  ])('is not known %s', (_, nodes, expected) => expect(notOk(asked(), () => ({ nodes }))).toEqual(expected));

  test("with the namespace's pods alone it is an upper bound", () => {
    const { tally } = (fine(asked()).nodes as Extract<Seen['nodes'], { value: unknown }>).value;
    expect(notOk(asked(), () => ({ nodes: { value: { tally, basis: 'namespace' } } }))).toEqual([
      'warn what is counted',
    ]);
  });
});

describe('exec', () => {
  test.each<[string, Seen['exec'], string[]]>([
    ['that finds no pod', refused(404), []],
    ['that is refused', refused(403, 'no'), ['fail exec']],
    ['for which no WebSocket opens', { noWebSocket: true }, ['warn exec']],
    ['that does not get through', { broken: 'the connection broke' }, ['fail exec']],
  ])('%s', (_, exec, expected) =>
    expect(notOk(bundle, () => (exec === undefined ? {} : { exec }))).toEqual(expected),
  );

  test('is not tried without the right', () => {
    const { exec: _, ...rest } = fine(bundle);
    expect(
      findingsOf(bundle, rest)
        .filter((one) => one.status !== 'ok')
        .map((one) => one.name),
    ).toEqual(['exec']);
  });
});
