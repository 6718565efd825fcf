#!/usr/bin/env bun
/**
 * Runs `bun test` over the given folders and ends with `N passed, N failed`, counted from Bun's own JUnit report. A skipped
 * test, a test file without tests and a folder without test files are failures: nothing that did not run counts as passed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Glob } from 'bun';

const root = resolve(import.meta.dir, '..');
const folders = process.argv.slice(2);
const files = folders
  .flatMap((folder) => [...new Glob(`${folder}/**/*.test.ts`).scanSync({ cwd: root })])
  .toSorted();
if (files.length === 0) {
  console.log(`no test files in ${folders.join(', ')}\n0 passed, 1 failed`);
  process.exit(1);
}
const report = join(tmpdir(), `k8sbench-tests-${process.pid}.xml`);
const tests = Bun.spawn(
  [
    process.execPath,
    'test',
    '--reporter=junit',
    `--reporter-outfile=${report}`,
    '--timeout=60000',
    ...files.map((file) => `./${file}`),
  ],
  {
    cwd: root,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    env: { ...process.env, NO_COLOR: '1' },
  },
);
const status = await tests.exited;
const xml = existsSync(report) ? readFileSync(report, 'utf8') : '';
rmSync(report, { force: true });

const total = (name: string): number =>
  Number(new RegExp(`<testsuites[^>]* ${name}="(\\d+)"`).exec(xml)?.[1] ?? 0);
const problems: string[] = [];
for (const file of files)
  if (!xml.includes(`file="${file}"`) && !xml.includes(`file="./${file}"`))
    problems.push(`${file}: no test ran`);
if (total('skipped') > 0) problems.push(`${total('skipped')} tests were skipped`);
let failed = total('failures') + total('errors');
const passed = total('tests') - failed - total('skipped');
if (status !== 0 && failed === 0) problems.push(`bun test ended with status ${status}`);
failed += problems.length;
for (const one of problems) console.log(one);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
