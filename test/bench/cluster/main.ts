#!/usr/bin/env bun
/**
 * Benchmarks in a cluster, as root on Linux: `main.ts [ROW…] [--repetitions N] [--json]`. Writes its part of ../README.md when
 * every row ran, now or in what an earlier `--json` printed on this machine: `--with FILE`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeAtomically } from '../../../shared/files.ts';
import type { Bed } from '../bed.ts';
import type { Figure } from '../figure.ts';
import { load, machineNow } from '../machine.ts';
import { live } from '../pick-nodes/live.ts';
import { offline } from '../pick-nodes/offline.ts';
import { run } from '../process-run.ts';
import { tableOf, withClusterPart } from '../report.ts';
import { type ClusterBed, clusterBed } from './cluster-bed.ts';
import { delivery } from './delivery.ts';
import { clusterPart } from './part.ts';
import { clusterStartUp } from './start-up.ts';
import { submit } from './submit.ts';

/** Rows that share a cluster of two nodes, and rows that do without or have one of their own. */
const TOGETHER: Readonly<Record<string, (bed: ClusterBed) => Promise<Figure[]>>> = { delivery, submit };
const ALONE: Readonly<Record<string, (bed: Bed) => Promise<Figure[]>>> = {
  'start-up': clusterStartUp,
  'pick-nodes-offline': offline,
  'pick-nodes-live': live,
};
const ROWS = [...Object.keys(TOGETHER), ...Object.keys(ALONE)];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    repetitions: { type: 'string', default: '5' },
    with: { type: 'string', multiple: true, default: [] },
  },
});
const repetitions = Number(values.repetitions);
const unknown = positionals.filter((one) => !ROWS.includes(one));
if (unknown.length > 0 || !Number.isSafeInteger(repetitions) || repetitions < 1) {
  console.error(
    `usage: main.ts [ROW…] [--repetitions N] [--json] [--with FILE]; rows are ${ROWS.join(', ')}`,
  );
  process.exit(2);
}
const isAsked = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
const loadBefore = load();
const bed: Bed = {
  directory: mkdtempSync(join(tmpdir(), 'k8sbench-bench-')),
  repetitions,
  say: (text) => console.error(text),
};
let figures: Figure[] = [];
const measure = async <B extends Bed>(
  rows: Readonly<Record<string, (bed: B) => Promise<Figure[]>>>,
  on: B,
): Promise<void> => {
  for (const [name, row] of Object.entries(rows)) {
    if (!isAsked(name)) continue;
    bed.say(name);
    try {
      const found = await row(on);
      figures.push(...found);
      console.error(tableOf(found));
    } catch (error) {
      // The others took their time, too.
      console.error(error);
      process.exitCode = 1;
    }
  }
};
try {
  if (Object.keys(TOGETHER).some(isAsked)) {
    const cluster = await clusterBed(bed);
    try {
      await measure(TOGETHER, cluster.bed);
    } finally {
      await cluster.remove();
    }
  }
  await measure(ALONE, bed);
} finally {
  rmSync(bed.directory, { recursive: true });
}
const node = (await run(['node', '--version'], { keep: true })).stdout.trim();
const machine = machineNow(loadBefore, node);
const found = new Set(figures.map((one) => one.row));
const earlier = values.with.flatMap(
  (file) => (JSON.parse(readFileSync(file, 'utf8')) as { figures: Figure[] }).figures,
);
figures = [...figures, ...earlier.filter((one) => !found.has(one.row))].toSorted(
  (a, b) => ROWS.indexOf(a.row) - ROWS.indexOf(b.row),
);
if (ROWS.every((row) => figures.some((one) => one.row === row))) {
  const page = resolve(import.meta.dir, '../README.md');
  const before = existsSync(page) ? readFileSync(page, 'utf8') : '';
  writeAtomically(page, withClusterPart(before, clusterPart(figures, machine)));
}
if (values.json) console.log(JSON.stringify({ machine, figures }, null, 2));
