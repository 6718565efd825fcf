/** A bundle that was built for real, with Node's own executable, delivered both ways and measured: as a bundle, and as an image made of it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../outside.ts';
import { nodeArchives } from '../../bundle/node-archives.ts';
import { bundle, git, root, sourceTree } from '../../bundle/source-tree.ts';
import { main as analyze } from '../../../tools/analyze/main.ts';
import type { RunDirectory } from '../../../shared/rundir.ts';
import { importImage } from '../image.ts';
import {
  type Bed,
  grants,
  makeBed,
  planned,
  samplesIn,
  session,
  untilNothingIsLeft,
} from '../session-runs.ts';
import { ownDirectory } from '../the-cluster.ts';

let bed: Bed;
let identity: string;
let commit: string;
const arch = process.arch === 'x64' ? 'amd64' : 'arm64';
const made = (...args: string[]): string => {
  const { exit, stdout, stderr } = bundle(bed.directory, { home: join(bed.directory, 'home') }, ...args);
  if (exit !== 0) throw new Error(stderr);
  return stdout.trim();
};
beforeAll(async () => {
  bed = await makeBed('delivery', grants().get('k8sbench-bundle')!);
  mkdirSync(join(bed.directory, 'home'));
  const archives = nodeArchives([process.arch === 'x64' ? 'x64' : 'arm64']);
  const recipe = readFileSync(join(root, 'fixtures/bundles/workloads/bundle.yaml'), 'utf8');
  const tree = sourceTree(bed.directory, recipe, { a: 'a' });
  commit = git(tree, 'rev-parse', 'HEAD');
  const words = ['--recipe', join(tree, 'bundle.yaml'), '--out', 'bundle', '--archives', archives];
  identity = made('build', ...words).split(' ')[0]!;
}, 240_000);
afterAll(() => bed.remove());

/** The workload that durable stores are measured with. */
const STORE = { profile: 'durable-store' };

const factsOf = (run: RunDirectory) => JSON.parse(readFileSync(run.file('pod.log'), 'utf8').split('\n')[0]!);

/** Measured to its end, whole, and analyzed: the numbers are there. */
const expectMeasured = async (run: RunDirectory): Promise<void> => {
  const ended = await session(bed, run);
  expect(ended.exit === 0 ? '' : ended.stderr).toBe('');
  const samples = samplesIn(run);
  expect([samples.length, new Set(samples).size]).toEqual([9, 9]);
  await untilNothingIsLeft(bed, run);
  const outside = { cwd: bed.directory, env: { PATH: process.env['PATH'] } };
  const { exit, stderr } = await runTool(analyze, ['--run', run.name, '--max-cv', '10'], outside);
  expect([0, 3].includes(exit) ? '' : stderr).toBe('');
  expect(readFileSync(run.file('results.jsonl'), 'utf8').trim().split('\n')).toHaveLength(9);
};

test('as a bundle: what arrives is what was built, and durable-store is measured', async () => {
  const run = await planned(bed, {
    ...STORE,
    words: ['--bundle', 'bundle', '--base-image', bed.images.base],
  });
  await expectMeasured(run);
  expect(factsOf(run)).toMatchObject({ delivery: 'bundle', bundleSha256: identity, commit });
}, 300_000);

test('as an image made of it: its archive is planned, its layer holds the bundle, durable-store is measured', async () => {
  copyFileSync(join(ownDirectory!, 'node.tar'), join(bed.directory, 'base.tar'));
  const name = 'localhost/k8sbench-test/delivered';
  const reference = made(
    'image',
    'bundle',
    '--base',
    'base.tar',
    '--out',
    'image.tar',
    '--name',
    `${name}:1`,
  );
  const nodes = readdirSync(ownDirectory!).filter((one) => /^node-\d$/.test(one)).length;
  importImage(ownDirectory!, nodes, join(bed.directory, 'image.tar'), reference);
  const run = await planned(bed, {
    ...STORE,
    words: ['--image', 'image.tar', '--commit', commit.slice(0, 12)],
  });
  expect(readFileSync(run.file('manifest.yaml'), 'utf8')).toContain(reference);
  expect(JSON.parse(readFileSync(run.file('run.json'), 'utf8'))).toMatchObject({ arch, commit });
  await expectMeasured(run);
  expect(factsOf(run)).toMatchObject({ delivery: 'image', image: reference, commit });
}, 300_000);
