#!/usr/bin/env bun
/**
 * Is it true? Simulates sessions whose truth is known, holds every statement of the evidence layer against them, and
 * writes report.jsonl and report.md beside this file. `main.ts NAME…` runs the named checks and writes nothing. Exit 1
 * when a statement fails.
 */
import { join } from 'node:path';
import { writeAtomically } from '../../shared/files.ts';
import { CHECKS } from './checks.ts';
import type { TruthRecord } from './record.ts';
import { reportOf } from './report.ts';

const wanted = process.argv.slice(2);
const names = Object.keys(CHECKS) as (keyof typeof CHECKS)[];
const unknown = wanted.filter((one) => !names.includes(one as keyof typeof CHECKS));
if (unknown.length > 0) {
  console.error(`no check '${unknown.join("', '")}'; there are ${names.join(', ')}`);
  process.exit(2);
}
const records: TruthRecord[] = [];
for (const name of names)
  if (wanted.length === 0 || wanted.includes(name))
    for (const record of CHECKS[name]()) {
      records.push(record);
      const { check, case: what, value, limit, holds, pass } = record;
      console.error(`${pass ? 'holds' : 'FAILS'}  ${check}: ${what}: ${value.toFixed(4)}${limit === null ? '' : ` (${holds} ${limit})`}`);
    }
if (wanted.length === 0) {
  const lines = records.map((one) => JSON.stringify(one));
  writeAtomically(join(import.meta.dir, 'report.jsonl'), `${lines.join('\n')}\n`);
  writeAtomically(join(import.meta.dir, 'report.md'), reportOf(records));
}
const failed = records.filter((one) => !one.pass).length;
console.error(`${records.length - failed} statements hold, ${failed} fail`);
process.exitCode = failed === 0 ? 0 : 1;
