#!/usr/bin/env bun
/**
 * Runs `bun test` over the given folders and files and ends with `N passed, N failed`, counted from Bun's own JUnit report. A skipped
 * test, a test file without tests and a folder without test files are failures: nothing that did not run counts as passed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Glob } from 'bun';

const root = resolve(import.meta.dir, '..');
const folders = process.argv.slice(2);
const files = folders
  .flatMap((one) =>
    one.endsWith('.test.ts') ? [one] : [...new Glob(`${one}/**/*.test.ts`).scanSync({ cwd: root })],
  )
  .toSorted();
if (files.length === 0) {
  console.log(`no test files in ${folders.join(', ')}\n0 passed, 1 failed`);
  process.exit(1);
}
/** Tests that mount file systems: a plain user runs them in a user namespace of its own, where the machine gives one. */
const MOUNTING = new Set(['test/hostile/disk.test.ts']);

/** Runs `bun test` over files; its exit status and its JUnit report. */
const testing = async (some: readonly string[], before: readonly string[] = []) => {
  const report = join(tmpdir(), `k8sbench-tests-${process.pid}.xml`);
  const tests = Bun.spawn(
    [
      ...before,
      process.execPath,
      'test',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      '--timeout=60000',
      ...some.map((file) => `./${file}`),
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
  return { status, xml };
};
const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount'];
const plainUser = process.getuid?.() !== 0 && Bun.which('unshare') !== null;
const apart =
  plainUser && Bun.spawnSync([...NAMESPACE, 'true'], { stderr: 'ignore' }).success
    ? files.filter((file) => MOUNTING.has(file))
    : [];
const others = files.filter((file) => !apart.includes(file));
const runs = [
  ...(others.length > 0 ? [await testing(others)] : []),
  ...(apart.length > 0 ? [await testing(apart, NAMESPACE)] : []),
];
const status = Math.max(...runs.map((one) => one.status));
const xml = runs.map((one) => one.xml).join('\n');

const total = (name: string): number =>
  [...xml.matchAll(new RegExp(`<testsuites[^>]* ${name}="(\\d+)"`, 'g'))].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
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
