import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDirectory } from '../../shared/rundir.ts';
import { runTool } from '../../test/outside.ts';
import { main as plan } from '../plan/main.ts';
import { main as render } from '../render/main.ts';
import { askedOfRun } from './asked.ts';
import type { PreflightFlags } from './flags.ts';
import { main } from './main.ts';

const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-preflight-'));
afterAll(() => rmSync(cwd, { recursive: true }));
writeFileSync(
  join(cwd, 'kubeconfig'),
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }),
);
const image = `registry.example/bench@sha256:${'a'.repeat(64)}`;
const env = { KUBECONFIG: 'kubeconfig' };
/** No flag given. */
const off = {} as PreflightFlags;
const preflight = (args: string[], more: Record<string, string> = {}, stdin = '') =>
  runTool(main, args, { cwd, stdin, env: { ...env, ...more } });

test('--dry-run says what would be asked, and asks nobody: nobody is there', async () => {
  writeFileSync(join(cwd, 'values.yaml'), 'imagePullSecrets: [pull]\nserviceAccountName: runner\n');
  const args = [
    '--namespace',
    'team',
    '--image',
    image,
    '--values',
    'values.yaml',
    '--pvc',
    'kept',
    '--dry-run',
  ];
  const { exit, stdout, stderr } = await preflight(args);
  expect([exit, stderr]).toEqual([0, '']);
  const would = JSON.parse(stdout) as { server: string; namespace: string; asks: string[] };
  expect(would).toMatchObject({ server: 'https://127.0.0.1:1', namespace: 'team' });
  expect(would.asks).toEqual(
    expect.arrayContaining([
      'may I create jobs',
      "secret 'pull'",
      "claim 'kept'",
      "service account 'runner'",
      `registry 'registry.example' for '${image}', unless every node that fits has it`,
    ]),
  );
  expect(stdout).not.toContain('secret"');
});

test('a server that is not there: failed, and nothing is printed', async () => {
  const { exit, stdout, stderr } = await preflight(['--namespace', 'team', '--image', image]);
  expect([exit, stdout, stderr.includes('connection refused')]).toEqual([1, '', true]);
});

test('everything that is wrong with the settings at once', async () => {
  const args = ['--image', 'a:b', '--memory', '8GB', '--spread', '3', '--nodes', 'a,B'];
  const { exit, stdout, stderr } = await preflight(args, { K8SBENCH_CPUS: 'two' });
  expect([exit, stdout]).toEqual([2, '']);
  for (const said of [
    'is not pinned',
    '8GB',
    "'B' is not a node's name",
    '3 nodes of 2',
    '$K8SBENCH_CPUS',
    'no namespace',
  ])
    expect(stderr).toContain(said);
});

test.each<[string[], string]>([
  [['--run', '-', '--values', '-'], 'both read stdin'],
  [['--namespace', 'team'], 'nothing says what to run and where: --image or --bundle for a cluster\n'],
  [['--namespace', 'team', '--image', 'none.tar'], "image archive 'none.tar' does not exist"],
  [['--run', 'none'], "run directory 'none' does not exist"],
  [
    ['--namespace', 'team', '--bundle', 'none', '--base-image', image],
    "bundle 'none' has no ARTIFACTS.sha256",
  ],
])('%j is refused', async (args, said) => {
  const { exit, stdout, stderr } = await preflight(args);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain(said);
});

test('a run directory says what it is; its settings are not given again, and a local one has no cluster', async () => {
  const words = ['--profile', 'durable-store', '--turns', '50', '--rounds', '3'];
  const inCluster = ['--namespace', 'team', '--image', image, '--nodes', 'a,b', '--spread', '2'];
  const laid = await runTool(plan, ['--run', 'k8sbench-x', ...words, ...inCluster], { cwd, env });
  expect([laid.exit, laid.stdout]).toEqual([0, 'k8sbench-x\n']);
  const would = await preflight(['--run', '-', '--dry-run'], {}, 'k8sbench-x\n');
  expect(JSON.parse(would.stdout)).toMatchObject({ namespace: 'team' });
  const asked = () => askedOfRun(runDirectory(join(cwd, 'k8sbench-x')), off);
  expect(await asked()).toMatchObject({ pods: 2, wanted: { count: 2, candidates: ['a', 'b'] }, picks: true });
  const picked = { basis: 'cluster', nodes: [], chosen: ['b', 'c'], warnings: [] };
  writeFileSync(join(cwd, 'k8sbench-x/nodes.json'), JSON.stringify(picked));
  expect((await asked()).wanted.candidates).toEqual(['b', 'c']);
  expect((await runTool(render, ['--run', 'k8sbench-x'], { cwd, env })).exit).toBe(0);
  expect((await asked()).edited).toEqual([]);
  const manifest = join(cwd, 'k8sbench-x/k8sbench-x-n1/manifest.yaml');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('backoffLimit: 0', 'backoffLimit: 3'));
  expect((await asked()).edited).toEqual(['spec.backoffLimit: 0 became 3']);
  const twice = await preflight(['--run', 'k8sbench-x', '--cpus', '4', '--allow-unpinned-image']);
  expect(twice.exit).toBe(2);
  expect(twice.stderr).toContain("'--run' and '--cpus' exclude each other");
  expect(twice.stderr).toContain("'--run' and '--allow-unpinned-image' exclude each other");
  await runTool(plan, ['--run', 'k8sbench-y', '--local', ...words], {
    cwd,
    env: { PATH: process.env['PATH'] },
  });
  const local = await preflight(['--run', 'k8sbench-y']);
  expect(local.exit).toBe(2);
  expect(local.stderr).toContain("'k8sbench-y' is a local run");
});
