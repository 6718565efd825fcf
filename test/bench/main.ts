#!/usr/bin/env bun
/** Benchmarks against peers: `main.ts [ROW…] [--repetitions N] [--json]`. Writes README.md here when every row ran. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeAtomically } from '../../shared/files.ts';
import { agentVersion } from './agent-version.ts';
import { analyzing } from './analyzing.ts';
import type { Bed } from './bed.ts';
import { timeBetween } from './between-samples.ts';
import { bundles } from './bundles.ts';
import { changes } from './changes.ts';
import { evidence } from './evidence.ts';
import type { Figure } from './figure.ts';
import { history } from './history.ts';
import { load, machineNow } from './machine.ts';
import { pages } from './page.ts';
import { processCost } from './per-process.ts';
import { run } from './process-run.ts';
import { pageOf, tableOf, withMachinePart } from './report.ts';
import { reportedTime } from './reported-time.ts';
import { startUp } from './start-up.ts';
import { trials } from './trials.ts';

const ROWS: Readonly<Record<string, (bed: Bed) => Promise<Figure[]>>> = {
  'per-process': processCost,
  'between-samples': timeBetween,
  'reported-time': reportedTime,
  analyze: analyzing,
  history,
  evidence,
  changes,
  page: pages,
  bundle: bundles,
  'start-up': startUp,
  'agent-version': agentVersion,
  trials,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, repetitions: { type: 'string', default: '5' } },
});
const repetitions = Number(values.repetitions);
const unknown = positionals.filter((one) => !(one in ROWS));
if (unknown.length > 0 || !Number.isSafeInteger(repetitions) || repetitions < 1) {
  console.error(`usage: main.ts [ROW…] [--repetitions N] [--json]; rows are ${Object.keys(ROWS).join(', ')}`);
  process.exit(2);
}
const loadBefore = load();
const bed: Bed = {
  directory: mkdtempSync(join(tmpdir(), 'k8sbench-bench-')),
  repetitions,
  say: (text) => console.error(text),
};
const figures: Figure[] = [];
try {
  for (const [name, row] of Object.entries(ROWS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    bed.say(name);
    const found = await row(bed);
    figures.push(...found);
    console.error(tableOf(found));
  }
} finally {
  rmSync(bed.directory, { recursive: true });
}
const node = (await run(['node', '--version'], { keep: true })).stdout.trim();
const machine = machineNow(loadBefore, node);
if (positionals.length === 0) {
  const page = join(import.meta.dir, 'README.md');
  const before = existsSync(page) ? readFileSync(page, 'utf8') : '';
  writeAtomically(page, withMachinePart(before, pageOf(figures, machine)));
}
if (values.json) console.log(JSON.stringify({ machine, figures }, null, 2));
