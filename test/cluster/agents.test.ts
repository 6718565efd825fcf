/** Two real agents compared in a pod, from a bundle: rounds of tools, a pseudo-terminal, no network, a restricted pod. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import { main as analyze } from '../../tools/analyze/main.ts';
import { main as view } from '../../tools/view/main.ts';
import { agentBundle } from '../agents/agent-bundle.ts';
import { runTool } from '../outside.ts';
import { sized } from './fault.ts';
import {
  type Bed,
  grants,
  jobOf,
  makeBed,
  planned,
  samplesIn,
  session,
  untilNothingIsLeft,
} from './session-runs.ts';

setDefaultTimeout(1_200_000);

/** Twelve and more are a comparison that may be judged; three tell whether it works. */
const ROUNDS = Number(process.env['K8SBENCH_TEST_ROUNDS'] ?? 3);
const TURNS = '8';

let bed: Bed;
let bundle: string;
beforeAll(async () => {
  bed = await makeBed('agents', grants().get('k8sbench-bundle')!);
  // Homes and a session of an agent take more than the tests' usual memory.
  writeFileSync(join(bed.directory, 'values.local.yaml'), 'scratchSize: 2Gi\n');
  bundle = agentBundle();
}, 900_000);
afterAll(() => bed.remove());

test('pi and codex, from a bundle', async () => {
  const run = await planned(bed, {
    profile: 'overhead-pi',
    turns: TURNS,
    rounds: ROUNDS,
    words: ['--candidates', 'codex', '--bundle', bundle, '--base-image', bed.images.base],
    change: ({ spec }) => sized(spec.template.spec, '1', '3Gi'),
  });
  const ended = await session(bed, run);
  expect(ended.exit === 0 ? '' : ended.stderr).toBe('');
  expect(jobOf(run)).toMatchObject({ outcome: 'done', exit: 0 });
  expect(samplesIn(run)).toHaveLength(2 * ROUNDS);
  await untilNothingIsLeft(bed, run);
  const samples = readFileSync(run.file('pod.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"t":"sample"'))
    .map((line) => JSON.parse(line) as Record<string, number>);
  for (const one of samples) {
    // The pod's cgroup counts exactly, and no less than polling saw.
    expect(one['printToolsExactCpu']!).toBeGreaterThan(0.9 * one['printToolsCpu']!);
    expect(one['ptyToScreen']!).toBeGreaterThan(0);
  }
  const outside = { cwd: bed.directory, env: { PATH: process.env['PATH'] } };
  const judged = await runTool(analyze, ['--run', run.name, '--max-cv', '10'], outside);
  expect([0, 3]).toContain(judged.exit);
  const analysis = JSON.parse(readFileSync(run.file('analysis.json'), 'utf8')) as Analysis;
  expect(JSON.stringify(analysis)).toContain('rpcPrompt');
  expect(analysis.conclusions?.map((one) => one.candidate)).toContain('codex');
  expect((await runTool(view, ['--run', run.name], outside)).exit).toBe(0);
  expect(readFileSync(run.file('report.html'), 'utf8')).toContain('ptyToScreen');
  // The run, for whoever wants to read it.
  const keep = process.env['K8SBENCH_TEST_KEEP'];
  if (keep !== undefined) cpSync(dirname(run.file('pod.log')), keep, { recursive: true });
});
