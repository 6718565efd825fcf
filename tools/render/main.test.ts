import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
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
import { parse } from 'yaml';
import { runTool } from '../../test/outside.ts';
import { main as plan } from '../plan/main.ts';
import { main } from './main.ts';

const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-render-'));
afterAll(() => rmSync(cwd, { recursive: true }));
beforeEach(() => {
  rmSync(cwd, { recursive: true });
  mkdirSync(cwd);
});
const image = `registry.example/x@sha256:${'a'.repeat(64)}`;
const planned = async (...args: string[]): Promise<void> => {
  const { exit, stderr } = await runTool(
    plan,
    [
      '--run',
      'r',
      ...(args.includes('--image') ? [] : ['--image', image]),
      ...['--namespace', 'team', '--turns', '50', ...args],
    ],
    { cwd },
  );
  expect([exit, stderr.includes('error')]).toEqual([0, false]);
};
const render = (...args: string[]) => runTool(main, ['--run', 'r', ...args], { cwd });
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8');
const nodeOf = (manifest: string): unknown =>
  (parse(manifest) as any).spec.template.spec.affinity.nodeAffinity
    .requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields?.[0].values[0];
const nodes = (chosen: string[], more: object = {}): void =>
  writeFileSync(
    join(cwd, 'r', 'nodes.json'),
    JSON.stringify({ basis: 'cluster', nodes: [], chosen, warnings: [], ...more }),
  );

describe('a plan or a choice of nodes that is replaced', () => {
  const other = `registry.example/x@sha256:${'b'.repeat(64)}`;

  test.each([[[]], [['--sessions', '2']]])('takes its Jobs and its nodes with it (%j)', async (more) => {
    await planned('--node', 'n1', ...more);
    nodes(['n1']);
    expect((await render()).exit).toBe(0);
    const files = (['manifest.yaml', 'r-n1/manifest.yaml'] as const).filter((one) =>
      existsSync(join(cwd, 'r', one)),
    );
    expect(files.length).toBe(1);
    await planned('--node', 'n2', ...more, '--force', '--image', other);
    for (const one of [...files, 'nodes.json']) expect(existsSync(join(cwd, 'r', one))).toBe(false);
    expect((await render()).exit).toBe(0);
    const manifest = read(join('r', files[0]!));
    expect([nodeOf(manifest), manifest.includes(other), manifest.includes(image)]).toEqual([
      'n2',
      true,
      false,
    ]);
  });

  test('a plan that is there already takes nothing', async () => {
    await planned('--node', 'n1');
    expect((await render()).exit).toBe(0);
    await planned('--node', 'n1');
    expect(existsSync(join(cwd, 'r/manifest.yaml'))).toBe(true);
  });
});

describe('a planned run', () => {
  test('gets its manifest, once; --out - prints it', async () => {
    await planned('--node', 'n1');
    const printed = await render('--out', '-');
    expect([printed.exit, existsSync(join(cwd, 'r/manifest.yaml'))]).toEqual([0, false]);
    const first = await render();
    expect([first.exit, first.stdout]).toEqual([0, 'r\n']);
    expect(read('r/manifest.yaml')).toBe(printed.stdout);
    expect(nodeOf(printed.stdout)).toBe('n1');
    utimesSync(join(cwd, 'r/manifest.yaml'), 1, 1);
    const again = await render();
    expect([again.stdout, again.stderr.includes('has its manifest.yaml already')]).toEqual(['r\n', true]);
    expect(statSync(join(cwd, 'r/manifest.yaml')).mtimeMs).toBeGreaterThan(1e12);
  });

  test('the plan in it is the text whose digest the plan has', async () => {
    await planned();
    const manifest = parse((await render('--out', '-')).stdout) as any;
    const env = manifest.spec.template.spec.containers[0].env as { name: string; value: string }[];
    const text = env.find((one) => one.name === 'K8SBENCH_PLAN')!.value.replaceAll('$$', '$');
    const { compactSha256 } = JSON.parse(read('r/plan.json')) as { compactSha256: string };
    expect(new Bun.CryptoHasher('sha256').update(text).digest('hex')).toBe(compactSha256);
    expect(nodeOf(JSON.stringify(manifest))).toBeUndefined();
  });

  test('picked nodes: the first of them; before they are picked, an error', async () => {
    await planned('--pick-node');
    expect((await render()).stderr).toContain(
      "has no nodes yet; 'pick-nodes' picks them: k8sbench pick-nodes --run r",
    );
    nodes(['best', 'next']);
    expect(nodeOf((await render('--out', '-')).stdout)).toBe('best');
    nodes(['best'], { inputs: { 'run.json': 'a'.repeat(64) } });
    expect((await render()).stderr).toContain('was planned again since its nodes were picked');
  });

  test('a spread: a manifest for each child, on its node', async () => {
    await planned('--spread', '2');
    nodes(['a', 'b']);
    expect((await render()).exit).toBe(0);
    expect(existsSync(join(cwd, 'r/manifest.yaml'))).toBe(false);
    expect(['r-n1', 'r-n2'].map((child) => nodeOf(read(`r/${child}/manifest.yaml`)))).toEqual(['a', 'b']);
    const both = (await render('--out', '-')).stdout.split('---\n');
    expect(both.map((one) => (parse(one) as any).metadata.name)).toEqual(['r-n1', 'r-n2']);
    nodes(['a']);
    expect((await render()).stderr).toContain('spreads over 2 nodes, and 1 are chosen');
  });

  test('nodes by name: each its own, in the order given; sessions in turn: all the same', async () => {
    await planned('--nodes', 'y,x');
    await render();
    expect(['r-n1', 'r-n2'].map((child) => nodeOf(read(`r/${child}/manifest.yaml`)))).toEqual(['y', 'x']);
    rmSync(join(cwd, 'r'), { recursive: true });
    await planned('--node', 'z', '--sessions', '3');
    await render();
    expect([1, 2, 3].map((child) => nodeOf(read(`r/r-n${child}/manifest.yaml`)))).toEqual(['z', 'z', 'z']);
  });
});

/** A run's job.json. */
const ended = (outcome: string): void =>
  writeFileSync(
    join(cwd, 'r/job.json'),
    JSON.stringify({
      format: 'job/1',
      run: 'r',
      delivery: 'image',
      timeline: [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }],
      outcome,
    }),
  );

test.each(['failed', 'invalid', 'interrupted'])(
  'a run that is %s and is measured anew may get another',
  async (outcome) => {
    await planned();
    ended(outcome);
    writeFileSync(join(cwd, 'r/manifest.yaml'), 'other');
    expect((await render()).exit).toBe(0);
    expect(read('r/manifest.yaml')).toContain('kind: ');
  },
);

describe('refused', () => {
  test('a local run, a part of a run, a changed plan, no run', async () => {
    await runTool(plan, ['--run', 'r', '--local', '--turns', '50'], {
      cwd,
      env: { PATH: process.env['PATH'] },
    });
    expect(await render()).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringContaining('is a local run'),
    });
    rmSync(join(cwd, 'r'), { recursive: true });
    await planned('--spread', '2');
    expect((await runTool(main, ['--run', 'r/r-n1'], { cwd })).stderr).toContain("is a part of run 'r'");
    rmSync(join(cwd, 'r'), { recursive: true });
    await planned();
    writeFileSync(join(cwd, 'r/plan.json'), read('r/plan.json').replace('"rounds": 12', '"rounds": 13'));
    expect(await render()).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringContaining("'r/plan.json' was changed"),
    });
    expect(await runTool(main, [], { cwd })).toMatchObject({ exit: 2, stdout: '' });
  });

  test.each(['running', 'done'])('another manifest for a run that is %s', async (outcome) => {
    await planned();
    await render();
    ended(outcome);
    expect((await render()).exit).toBe(0);
    writeFileSync(join(cwd, 'r/manifest.yaml'), 'other');
    expect(await render()).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('was started already with another manifest'),
    });
    // One that was lost is written again: without it nobody can take the session up.
    rmSync(join(cwd, 'r/manifest.yaml'));
    expect((await render()).exit).toBe(0);
    expect(nodeOf(read('r/manifest.yaml'))).toBeUndefined();
  });
});
