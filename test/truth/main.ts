#!/usr/bin/env bun
/**
 * Is it true? Simulates sessions whose truth is known, holds every statement of the evidence layer against them, and
 * writes report.jsonl and report.md beside this file. `main.ts NAME…` runs the named checks and writes nothing, with
 * `--merge` before the names their records replace those in the report. Exit 1 when a statement fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../shared/files.ts';
import { sessionEffects } from './blocks.ts';
import { doubts } from './doubting.ts';
import { histories } from './histories.ts';
import { coverage, falseAlarms, power } from './intervals.ts';
import type { TruthRecord } from './record.ts';
import { recorded } from './recorded.ts';
import { reportOf } from './report.ts';
import { stopping } from './stopping.ts';

const CHECKS: Readonly<Record<string, () => Iterable<TruthRecord>>> = {
  'false-alarms': falseAlarms,
  coverage,
  power,
  stopping,
  sessions: sessionEffects,
  doubts,
  histories,
  recorded,
};

const merge = process.argv[2] === '--merge';
const wanted = process.argv.slice(merge ? 3 : 2);
const unknown = wanted.filter((one) => !(one in CHECKS));
if (unknown.length > 0) {
  console.error(`no check '${unknown.join("', '")}'; there are ${Object.keys(CHECKS).join(', ')}`);
  process.exit(2);
}
const records: TruthRecord[] = [];
for (const [name, check] of Object.entries(CHECKS))
  if (wanted.length === 0 || wanted.includes(name))
    for (const record of check()) {
      records.push(record);
      const { check: statement, case: what, value, limit, holds, pass } = record;
      const promise = limit === null ? '' : `, ${holds} ${limit}`;
      console.error(`${pass ? 'holds' : 'FAILS'}  ${statement}: ${what}: ${value.toFixed(4)}${promise}`);
    }
if (wanted.length === 0 || merge) {
  const path = join(import.meta.dir, 'report.jsonl');
  const made = new Set(records.map((one) => one.check));
  const before = (merge ? readFileSync(path, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TruthRecord);
  const all = [...before.filter((one) => !made.has(one.check)), ...records];
  const lines = all.map((one) => `${JSON.stringify(one)}\n`);
  writeAtomically(path, lines.join(''));
  writeAtomically(join(import.meta.dir, 'report.md'), reportOf(all));
}
const failed = records.filter((one) => !one.pass).length;
console.error(`${records.length - failed} statements hold, ${failed} fail`);
process.exitCode = failed === 0 ? 0 : 1;
