/**
 * fixtures/runs: small real run directories. Each file fits its format, and analyzing the logs again gives the same bytes.
 * After a change of what analyze writes, K8SBENCH_WRITE=1 writes the derived files anew; look at the difference.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { main as analyze } from '../../tools/analyze/main.ts';
import { runTool } from '../outside.ts';
import { filesIn, unfit } from '../run-files.ts';

const runs = resolve(import.meta.dir, '../../fixtures/runs');
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-runs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('there are runs of every kind', () =>
  expect(readdirSync(runs).toSorted()).toEqual(['calibrated', 'compared', 'refused', 'sessions']));

describe.each(readdirSync(runs))('the run %s', (name) => {
  const run = join(runs, name);

  test('fits its formats', () => expect(unfit(run)).toEqual([]));

  test('is analyzed to the same bytes', async () => {
    // Runs of their own: earlier attempts beside one would be told in the next.
    const copy = join(scratch, name, name);
    cpSync(run, copy, { recursive: true });
    for (const file of [
      'analysis.json',
      'noise.json',
      'calibration.json',
      'results.jsonl',
      'seeds.jsonl',
      'ENV.txt',
    ])
      rmSync(join(copy, file), { force: true });
    const { exit } = await runTool(analyze, ['--run', copy]);
    expect(exit).toBe(name === 'refused' ? 3 : 0);
    if (process.env['K8SBENCH_WRITE']) cpSync(copy, run, { recursive: true });
    const contents = (dir: string) =>
      filesIn(dir).map((file) => [file, readFileSync(join(dir, file), 'utf8')]);
    expect(contents(copy)).toEqual(contents(run));
  });
});

test('a file that does not fit is found', () => {
  const copy = join(scratch, 'spoiled');
  cpSync(join(runs, 'compared'), copy, { recursive: true });
  writeFileSync(join(copy, 'noise.json'), '{}');
  writeFileSync(join(copy, 'stray'), '');
  expect(unfit(copy).join('\n')).toMatch(/noise\.json: format: missing[^]*stray: no format knows it/);
});
