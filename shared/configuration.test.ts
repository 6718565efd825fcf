import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { values as schema } from '../schemas/values.ts';
import type { World } from './world.ts';
import { configurationOf } from './configuration.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-values-'));
afterAll(() => rmSync(base, { recursive: true }));
let made = 0;

/** A directory with these files, as the current one. */
const world = (files: Record<string, string> = {}, env: Record<string, string> = {}, stdin = ''): World => {
  const cwd = join(base, String(made++));
  Bun.spawnSync(['mkdir', cwd]);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const input = (async function* () {
    yield new TextEncoder().encode(stdin);
  })();
  return { cwd, env, stdin: input } as unknown as World;
};
const LOCAL = 'values.local.yaml';

const memory = async (text: string): Promise<string[]> =>
  (await configurationOf(world(), { memory: text })).problems;

describe('later sources win', () => {
  const file = { [LOCAL]: 'cpus: 3\nnamespace: of-file\nmemory: 1Gi\n', 'other.yaml': 'cpus: 5\n' };
  test.each<
    [
      string,
      Record<string, string>,
      Record<string, string>,
      Record<string, unknown>,
      object,
      string | undefined,
    ]
  >([
    [
      'defaults',
      {},
      {},
      {},
      { cpus: 2, memory: '8Gi', deadlineSeconds: 21600, scratchSize: '8Gi' },
      undefined,
    ],
    ['the file that lies there', file, {}, {}, { cpus: 3, namespace: 'of-file' }, `${LOCAL}:1`],
    [
      'the file that a variable names',
      file,
      { K8SBENCH_VALUES: 'other.yaml' },
      {},
      { cpus: 5, memory: '8Gi' },
      'other.yaml:1',
    ],
    [
      'the file that a flag names',
      file,
      { K8SBENCH_VALUES: 'none.yaml' },
      { values: 'other.yaml' },
      { cpus: 5 },
      'other.yaml:1',
    ],
    [
      'the environment',
      file,
      { K8SBENCH_CPUS: '7' },
      {},
      { cpus: 7, namespace: 'of-file' },
      '$K8SBENCH_CPUS',
    ],
    [
      'a number is the quantity it says',
      { [LOCAL]: 'memory: 8589934592\n' },
      {},
      {},
      { memory: '8589934592' },
      undefined,
    ],
    ['an empty variable is none', file, { K8SBENCH_CPUS: '' }, {}, { cpus: 3 }, `${LOCAL}:1`],
    ['flags', file, { K8SBENCH_CPUS: '7' }, { cpus: 9 }, { cpus: 9, memory: '1Gi' }, "flag '--cpus'"],
    [
      'a switch that is off is none',
      { [LOCAL]: 'allowUnpinnedImage: true\n' },
      {},
      { 'allow-unpinned-image': false },
      { allowUnpinnedImage: true },
      undefined,
    ],
    [
      "a selector replaces the file's",
      { [LOCAL]: 'nodeSelector: {a: b}\n' },
      {},
      { 'node-selector': { c: 'd' } },
      { nodeSelector: { c: 'd' } },
      undefined,
    ],
  ])('%s', async (_, files, env, flags, values, from) => {
    const configuration = await configurationOf(world(files, env), flags);
    expect(configuration.problems).toEqual([]);
    expect(configuration.values).toMatchObject(values);
    expect(configuration.from('cpus')).toBe(from as string);
  });

  test('every variable and every flag of the table', async () => {
    const env = {
      KUBECONFIG: '/k',
      K8SBENCH_CONTEXT: 'c',
      K8SBENCH_NAMESPACE: 'n',
      K8SBENCH_IMAGE: 'i',
      K8SBENCH_BUNDLE: 'b',
      K8SBENCH_BASE_IMAGE: 'bi',
      K8SBENCH_CPUS: '4',
      K8SBENCH_MEMORY: '2Gi',
      K8SBENCH_NODE: 'node',
      K8SBENCH_PVC: 'p',
    };
    const { values } = await configurationOf(world({}, env), {});
    expect(values).toMatchObject({
      kubeconfig: '/k',
      kubeContext: 'c',
      namespace: 'n',
      image: 'i',
      bundle: 'b',
      baseImage: 'bi',
      cpus: 4,
      memory: '2Gi',
      node: 'node',
      pvc: 'p',
    });
    const flags = {
      kubeconfig: '/k',
      context: 'c',
      namespace: 'n',
      image: 'i',
      bundle: 'b',
      'base-image': 'bi',
      cpus: 4,
      memory: '2Gi',
      node: 'node',
      'node-selector': { a: 'b' },
      pvc: 'p',
      deadline: 100,
      'allow-unpinned-image': true,
    };
    expect((await configurationOf(world(), flags)).values).toEqual({
      ...values,
      nodeSelector: { a: 'b' },
      deadlineSeconds: 100,
      allowUnpinnedImage: true,
    });
  });

  test('every key of the schema stands in the example, and fits', async () => {
    const example = join(import.meta.dir, '../fixtures/values/every-setting.yaml');
    const { problems, values } = await configurationOf(world(), { values: example });
    expect(problems).toEqual([]);
    const oneOfTwo = ['bundle', 'baseImage'];
    expect([...Object.keys(values), ...oneOfTwo].toSorted()).toEqual(Object.keys(schema.entries).toSorted());
  });

  test('the file may come from stdin; an empty one sets nothing', async () => {
    expect((await configurationOf(world({}, {}, 'cpus: 4'), { values: '-' })).values.cpus).toBe(4);
    expect((await configurationOf(world({}, {}, '# nothing yet\n'), { values: '-' })).problems).toEqual([]);
  });
});

describe('what is refused, with its place', () => {
  test.each<[string, string, string[]]>([
    ['an unknown key', 'cpus: 2\ncpu: 4\n', ['f:2: cpu: unknown key']],
    [
      'an unknown key inside',
      'tolerations:\n  - key: a\n    efect: NoSchedule\n',
      ['f:3: tolerations.0.efect: unknown key'],
    ],
    ['a key twice', 'cpus: 2\ncpus: 3\n', ["f:2: the key 'cpus' stands twice; leave one out"]],
    ['part of a CPU', 'cpus: 1.5\n', ['f:1: cpus: expected a whole number, found 1.5']],
    ['no CPU', 'cpus: 0\n', ['f:1: cpus: expected a whole number ≥ 1, found 0']],
    [
      'a truth for a quantity',
      'memory: true\n',
      ['f:1: memory: expected a quantity such as 8Gi, found true'],
    ],
    [
      'a negative quantity',
      'memory: -8\n',
      ['f:1: memory: expected a quantity such as 8Gi, 500M or 1e9, found "-8"'],
    ],
    [
      'a placeholder',
      'namespace: <namespace>\n',
      ["f:1: namespace: the placeholder '<namespace>' is still there; replace it"],
    ],
    [
      'a placeholder inside',
      'labels:\n  team: "<your team>"\n',
      ["f:2: labels.team: the placeholder '<your team>' is still there; replace it"],
    ],
    [
      'a placeholder as key',
      'nodeSelector:\n  "<label>": x\n',
      ["f:2: nodeSelector.<label>: the placeholder '<label>' is still there; replace it"],
    ],
    [
      'a name that is none',
      'namespace: Team_A\n',
      ['f:1: namespace: expected a DNS label: a-z, 0-9 and -, at most 63 characters, found "Team_A"'],
    ],
    [
      'a word that YAML reads in two ways',
      'labels:\n  on: "x"\n  a: no\n',
      [
        "f:2: the key 'on' is read differently by kubectl; quote it",
        "f:3: 'no' is read differently by kubectl; quote it, or write it as a decimal number, true or false",
      ],
    ],
    ['a list', '- cpus\n', ['f: expected a map of settings']],
    ['a text', 'cpus\n', ['f: expected a map of settings']],
    [
      'several at once',
      'cpu: 1\nmemory: 8GB\ndeadlineSeconds: 59\n',
      [
        'f:1: cpu: unknown key',
        'f:2: memory: expected a quantity such as 8Gi, 500M or 1e9, found "8GB"',
        'f:3: deadlineSeconds: expected at least 60 s, found 59',
      ],
    ],
  ])('%s', async (_, text, problems) => {
    const found = (await configurationOf(world({ f: text }), { values: 'f' })).problems;
    expect(found.map((one) => one.replace(/ unique.*/, ' unique')).toSorted()).toEqual(problems.toSorted());
  });

  test('every source is told of, also when a later one wins', async () => {
    const { problems, values } = await configurationOf(
      world(
        { [LOCAL]: 'cpus: many\n' },
        { K8SBENCH_CPUS: '0x10', K8SBENCH_MEMORY: '1K', K8SBENCH_NODE: '<node>' },
      ),
      { cpus: 4, namespace: 'A' },
    );
    expect(problems).toEqual([
      `${LOCAL}:1: cpus: expected a finite number, found "many"`,
      "$K8SBENCH_CPUS: expected a whole number ≥ 1, found '0x10'",
      '$K8SBENCH_MEMORY: memory: expected a quantity such as 8Gi, 500M or 1e9, found "1K"',
      "$K8SBENCH_NODE: node: the placeholder '<node>' is still there; replace it",
      `flag '--namespace': namespace: expected a DNS label: a-z, 0-9 and -, at most 63 characters, found "A"`,
    ]);
    expect(values).toMatchObject({ cpus: 4, memory: '8Gi' });
  });

  test('a file that is not there', async () => {
    const { problems, unread } = await configurationOf(world(), { values: 'no.yaml' });
    expect(problems).toEqual(["can't read 'no.yaml': it does not exist"]);
    expect(unread).toBe(true);
  });

  test.each<[string, true | undefined]>([
    ['{no: 1}\n', true],
    ['- a\n', true],
    ['cpus: [\n', true],
    ['cpus: many\n', undefined],
    ['# nothing\n', undefined],
  ])('whether a file could be read: %j', async (text, unread) =>
    expect((await configurationOf(world({ f: text }), { values: 'f' })).unread).toBe(unread as true),
  );
});

describe('quantities, as the API server takes them', () => {
  test.each(
    '100m 1e3 1E3 1E 1Ei 1k 1Ki .5 5. +1 1e-3 1n 1u 0.1m 1500000n 1.2e3 0.5Gi 12345678901234567890 1P'.split(
      ' ',
    ),
  )('%s fits', async (text) => expect(await memory(text)).toEqual([]));
  test.each([
    ...'1K 1mi 1e 1e3Ki 1KiB 1Gb 0x10 1_000 Infinity NaN . + 1.2.3 1e1.5 -1 --1 0 0Gi 1Gi\n ٣'.split(' '),
    '1 Gi',
    ' 1',
    '1 ',
    '',
  ])('%j does not', async (text) => expect(await memory(text)).toHaveLength(1));
});
