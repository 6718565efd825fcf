import { afterEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exit } from '../../shared/exit.ts';
import { sha256 } from '../../shared/files.ts';
import { runTool } from '../../test/outside.ts';
import { nodeAt, podAt } from '../../test/cluster/population.ts';
import { main } from './main.ts';

const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-pick-nodes-'));
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(cwd);
});
const list = JSON.stringify({
  kind: 'List',
  items: [
    ...Array.from({ length: 6 }, (_, at) => nodeAt(at)),
    ...Array.from({ length: 300 }, (_, at) => podAt(at, 6)),
  ],
});
const pick = (args: string[], stdin = list, env: Record<string, string> = {}) =>
  runTool(main, args, { cwd, stdin, env });

const zone = async (args: string[], env: Record<string, string>) =>
  pick(['--from', 'list.json', '--values', 'values.yaml', '--json', ...args], '', env);

describe('from a list', () => {
  test('names of the picked nodes, the ranking beside', async () => {
    const { exit, stdout, stderr } = await pick(['--from', '-', '--cpus', '4', '--spread', '2']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^node-0000\d\S*\nnode-0000\d\S*\n$/);
    expect(stderr).toContain('free CPUs');
    expect(stderr).toContain(`*  ${stdout.split('\n')[0]}`);
  });

  test.each(['--json', '--out=-'])('%s prints the ranking', async (word) => {
    const { exit, stdout } = await pick(['--from', '-', word]);
    const picked = JSON.parse(stdout) as { basis: string; nodes: unknown[]; chosen: string[] };
    expect([exit, picked.basis, picked.nodes.length, picked.chosen.length]).toEqual([0, 'cluster', 6, 1]);
  });

  test('a file; settings of the values file, the environment and the flags, later ones first', async () => {
    writeFileSync(join(cwd, 'list.json'), list);
    writeFileSync(
      join(cwd, 'values.yaml'),
      'cpus: 60\nmemory: 1Gi\nnodeSelector: {topology.kubernetes.io/zone: b}\n',
    );
    expect((await zone([], {})).stderr).toContain('of 60 CPUs free');
    const fewer = JSON.parse((await zone([], { K8SBENCH_CPUS: '1' })).stdout) as {
      nodes: { name: string; skip?: string }[];
    };
    expect(fewer.nodes.filter((one) => one.skip === undefined).map((one) => one.name.slice(0, 10))).toEqual(
      expect.arrayContaining(['node-00001']),
    );
    writeFileSync(join(cwd, 'values.local.yaml'), 'cpus: 58\n');
    expect((await pick(['--from', '-', '--nodes', 'node-00001.pool.example.com'])).stderr).toContain(
      'of 58 CPUs',
    );
    expect((await zone(['--cpus', '59'], { K8SBENCH_CPUS: '1' })).stderr).toContain('of 59 CPUs free');
    expect((await zone(['--cpus', '1', '--node-selector', 'a=b'], {})).stderr).toContain(
      'has no label a, not a=b',
    );
  });

  test('pods alone: candidates', async () => {
    const pods = JSON.stringify({ kind: 'List', items: [podAt(0, 6), podAt(1, 6)] });
    expect((await pick(['--from', '-'], pods)).stderr).toContain("name candidates with '--nodes");
    const { stdout } = await pick(['--from', '-', '--nodes', 'x,y', '--json'], pods);
    expect(JSON.parse(stdout)).toMatchObject({ basis: 'candidates', chosen: ['x'] });
  });

  test('pods of one namespace: a doubt', async () => {
    const one = JSON.stringify({ kind: 'List', items: [nodeAt(0), podAt(0, 1)] });
    expect((await pick(['--from', '-'], one)).stderr).toContain("if the list was made without '-A'");
  });

  test.each<[string, string[], string, Exit, string]>([
    ['no such file', ['--from', 'nothing.json'], '', 1, "can't read 'nothing.json': it does not exist"],
    ['a list that breaks off', ['--from', '-'], list.slice(0, 5000), 1, 'breaks off after 5000 bytes'],
    [
      'neither nodes nor pods',
      ['--from', '-'],
      '{"kind":"List","items":[{"kind":"Service"}]}',
      1,
      'neither nodes nor pods',
    ],
    [
      'a pod that is none',
      ['--from', '-'],
      '{"kind":"List","items":[{"kind":"Pod"}]}',
      1,
      'a Pod lacks what every Pod has',
    ],
    ['too few nodes', ['--from', '-', '--spread', '99'], list, 1, 'nodes can be used, and 99 are needed'],
    [
      'memory that is none',
      ['--from', '-', '--memory', '8GB'],
      list,
      2,
      'flag \'--memory\': memory: expected a quantity such as 8Gi, 500M or 1e9, found "8GB"',
    ],
    ['more than candidates', ['--from', '-', '--nodes', 'a', '--spread', '2'], list, 2, '2 nodes of 1 named'],
    ['a name that is none', ['--from', '-', '--nodes', 'A b'], list, 2, "'A b' is not a node's name"],
    ['stdin twice', ['--from', '-', '--run', '-'], list, 2, 'both read stdin'],
    ['stdin twice', ['--from', '-', '--values', '-'], list, 2, 'both read stdin'],
  ])('%s', async (_, args, stdin, status, says) => {
    const { exit, stdout, stderr } = await pick(args, stdin);
    expect([exit, stdout]).toEqual([status, '']);
    expect(stderr).toContain(says);
  });
});

const read = (): { chosen: string[]; nodes: { name: string; skip?: string }[] } =>
  JSON.parse(readFileSync(join(cwd, 'r', 'nodes.json'), 'utf8'));

describe('for a run', () => {
  const digest = 'a'.repeat(64);
  const plan = (more: object = {}, values: object = {}): void => {
    mkdirSync(join(cwd, 'r'));
    const about = {
      format: 'run/1',
      run: 'r',
      mode: 'compare',
      planned_at: '2026-01-02T03:04:05.000Z',
      delivery: 'image',
      profile: 'p',
      rule: 'p',
      turns: [1],
      rounds: 3,
      gate: 'auto',
      maxCv: 0.05,
      files: {},
      inputsSha256: digest,
    };
    writeFileSync(join(cwd, 'r', 'run.json'), JSON.stringify({ ...about, ...more }));
    const target = { seed: ['s'], seedMeta: 'm', sample: ['t'] };
    const targets = [
      { name: 'new', role: 'candidate', ...target },
      { name: 'old', role: 'reference', ...target },
    ];
    writeFileSync(
      join(cwd, 'r', 'profile.json'),
      JSON.stringify({ name: 'p', rule: 'p', about: '', targets }),
    );
    writeFileSync(join(cwd, 'r', 'values.json'), JSON.stringify({ namespace: 'team', ...values }));
  };

  test('writes nodes.json, prints the run, and does nothing the second time', async () => {
    plan({ spread: 2, pickNode: true });
    const first = await pick(['--run', 'r', '--from', '-']);
    expect([first.exit, first.stdout]).toEqual([0, 'r\n']);
    expect(read().chosen).toHaveLength(2);
    utimesSync(join(cwd, 'r', 'nodes.json'), 1, 1);
    const again = await pick(['--run', '-', '--from', 'nothing'], 'r\n');
    expect([again.exit, again.stdout]).toEqual([0, 'r\n']);
    expect(again.stderr).toContain('has its nodes already: node-');
    expect(statSync(join(cwd, 'r', 'nodes.json')).mtimeMs).toBeGreaterThan(1e12);
    expect((await pick(['--run', 'r', '--from', '-', '--force'])).stderr).toContain('free CPUs');
    writeFileSync(join(cwd, 'r', 'job.json'), '{}');
    expect((await pick(['--run', 'r', '--from', '-', '--force'])).stderr).toContain('was started already');
  });

  test('a run that was started keeps the nodes it has, none too; its ranking can still be seen', async () => {
    plan({ spread: 2, pickNode: true });
    writeFileSync(join(cwd, 'r', 'job.json'), '{}');
    const refused = await pick(['--run', 'r', '--from', '-']);
    expect([refused.exit, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('was started already');
    expect(existsSync(join(cwd, 'r', 'nodes.json'))).toBe(false);
    expect((await pick(['--run', 'r', '--from', '-', '--json'])).exit).toBe(0);
  });

  test('other nodes than before take the Jobs that were rendered for those with them', async () => {
    plan({ pickNode: true });
    const manifest = join(cwd, 'r', 'manifest.yaml');
    writeFileSync(manifest, 'for the nodes of the plan');
    await pick(['--run', 'r', '--from', '-']);
    expect(existsSync(manifest)).toBe(false);
    writeFileSync(manifest, 'for these');
    await pick(['--run', 'r', '--from', '-', '--force']);
    expect(existsSync(manifest)).toBe(true);
    const others = JSON.stringify({ kind: 'List', items: [nodeAt(5)] });
    expect((await pick(['--run', 'r', '--from', '-', '--force'], others)).exit).toBe(0);
    expect(existsSync(manifest)).toBe(false);
  });

  test('settings of the run count: candidates, exact names, architecture, tolerations', async () => {
    const named = [3, 2].map((at) => (nodeAt(at)['metadata'] as { name: string }).name);
    plan({ nodes: named, spread: 2 });
    await pick(['--run', 'r', '--from', '-']);
    expect(read().chosen).toEqual(named);
    rmSync(join(cwd, 'r'), { recursive: true });
    plan({ nodes: named, pickNode: true, arch: 'arm64' }, { cpus: 1 });
    const { stderr } = await pick(['--run', 'r', '--from', '-']);
    expect(stderr).toContain('is amd64, not arm64');
    expect(existsSync(join(cwd, 'r', 'nodes.json'))).toBe(false);
  });

  test('the calibration must have measured the nodes that were picked, with exit status 3', async () => {
    const measured = (names: string[], runs = 12): string =>
      JSON.stringify({
        format: 'calibration/1',
        run: 'k8sbench-cal-x',
        at: '2026-01-02T03:04:05.000Z',
        profile: 'p',
        rule: 'p',
        commit: '',
        delivery: 'image',
        image: '',
        bundleSha256: '',
        artifacts: {},
        gate: 'cpu',
        maxCv: 0.05,
        sizes: {
          1: {
            judged: true,
            pass: true,
            problems: [],
            noise: {},
            nodes: Object.fromEntries(
              names.map((name) => [
                name,
                {
                  runs,
                  noise: {},
                  warmDrift: null,
                  throttle: { samples: runs, throttledSamples: 0, nrThrottled: 0, throttledUsec: 0 },
                  clock: { governors: {}, scaling: false, mhz: null, mhzCv: null, cpuMhzCorrelation: null },
                  pass: true,
                  problems: [],
                },
              ]),
            ),
          },
        },
        inputs: {},
      });
    const path = join(cwd, 'calibration.json');
    const pickWith = async (text: string, recorded = sha256(text)) => {
      writeFileSync(path, text);
      rmSync(join(cwd, 'r'), { recursive: true, force: true });
      plan({ pickNode: true, calibration: { path, sha256: recorded } });
      return pick(['--run', 'r', '--from', '-']);
    };
    const others = await pickWith(measured(['elsewhere']));
    expect([others.exit, others.stdout, existsSync(join(cwd, 'r', 'nodes.json'))]).toEqual([3, '', false]);
    expect(others.stderr).toMatch(
      /the calibration did not measure node 'node-\S+' at 1 turn; calibrate it, or compare on 'elsewhere'/,
    );
    const named = /node '(node-[^']+)'/.exec(others.stderr)![1]!;
    expect((await pickWith(measured([named], 11))).exit).toBe(3);
    expect((await pickWith(measured([named]), 'a'.repeat(64))).stderr).toContain('was changed since');
    const fits = await pickWith(measured([named]));
    expect([fits.exit, read().chosen]).toEqual([0, [named]]);
  });

  test.each<[string, object, string[], string]>([
    ['a local run', { delivery: 'local' }, [], 'is a local run'],
    ['a part of a run', { parent: 'whole' }, [], "is a part of run 'whole'"],
    ['settings of its own', {}, ['--cpus', '2', '--nodes', 'a'], "'--run' and '--cpus' exclude each other"],
  ])('%s is refused', async (_, about, args, says) => {
    plan(about);
    const { exit, stdout, stderr } = await pick(['--run', 'r', '--from', '-', ...args]);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
  });
});

test('a dry run contacts nothing', async () => {
  writeFileSync(
    join(cwd, 'kubeconfig'),
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', namespace: 'team' } }],
      'current-context': 'x',
    }),
  );
  const { exit, stdout } = await pick(['--kubeconfig', 'kubeconfig', '--dry-run']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    server: 'https://127.0.0.1:1',
    context: 'x',
    lists: ['nodes', 'pods in all namespaces', "where that is forbidden: pods in namespace 'team'"],
  });
});
