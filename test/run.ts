#!/usr/bin/env bun
/**
 * Runs `bun test` over the given folders and files and ends with `N passed, N failed`, counted from Bun's own JUnit report. A
 * skipped test, a test file without tests and a folder without test files are failures: nothing that did not run counts as
 * passed. Files that failed run once more, by themselves: many tests are real processes on a machine that others use, and what
 * is broken fails again. What passed only then is counted and named in the line before the last. An error outside of any test belongs to no file for certain: it is a
 * failure, whatever runs once more.
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
const MOUNTING = new Set([
  'test/hostile/disk.test.ts',
  'test/sessions/trial-gate.test.ts',
  'test/sessions/trial-model.test.ts',
]);

/** What Bun's report says of a file; without an entry no test of it ran. */
interface Counts {
  tests: number;
  failures: number;
  skipped: number;
}

/** The suites of files in Bun's report; those of `describe` have other names. */
const countsIn = (xml: string): Map<string, Counts> =>
  new Map(
    [
      ...xml.matchAll(
        /<testsuite name="(?:\.\/)?([^"]+)" file="(?:\.\/)?\1" tests="(\d+)" assertions="\d+" failures="(\d+)" skipped="(\d+)"/g,
      ),
    ].map(([, file, ...counts]) => {
      const [tests, failures, skipped] = counts.map(Number);
      return [file!, { tests: tests!, failures: failures!, skipped: skipped! }];
    }),
  );

const isGood = (counts: Counts | undefined): boolean =>
  counts !== undefined && counts.tests > 0 && counts.failures === 0 && counts.skipped === 0;

/** Errors outside of any test, as Bun counts them under the tests. */
const errorsIn = (summary: string): number => Number(/^ *(\d+) errors?$/m.exec(summary)?.[1] ?? 0);

/** Hands on what a process says and gives the end of it. */
const handedOn = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let end = '';
  const decoder = new TextDecoder();
  for await (const part of stream) {
    process.stderr.write(part);
    end = (end + decoder.decode(part, { stream: true })).slice(-SUMMARY);
  }
  return end;
};
/** The longest end of Bun's output that has nothing but its summary, characters. */
const SUMMARY = 200;

let outside = 0;

/** Runs `bun test` over files. A file that broke before a test of it ran has no counts. */
const testing = async (some: readonly string[], before: readonly string[]): Promise<Map<string, Counts>> => {
  if (some.length === 0) return new Map();
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
      stderr: 'pipe',
      env: { ...process.env, NO_COLOR: '1' },
    },
  );
  const [status, end] = await Promise.all([tests.exited, handedOn(tests.stderr)]);
  const counts = countsIn(existsSync(report) ? readFileSync(report, 'utf8') : '');
  rmSync(report, { force: true });
  const errors = errorsIn(end);
  outside += errors;
  if (errors === 0 && status !== 0 && some.every((file) => isGood(counts.get(file)))) return new Map();
  return counts;
};
const plainUser = process.getuid?.() !== 0 && Bun.which('unshare') !== null;
/** With the user's subordinate ids, where newuidmap(1) may map them, else with one user alone. */
const NAMESPACE = ['--map-auto', '--mount']
  .map((more) => ['unshare', '--user', '--map-root-user', '--mount', more])
  .find((words) => plainUser && Bun.spawnSync([...words, 'true'], { stderr: 'ignore' }).success);

const testAll = async (some: readonly string[]): Promise<Map<string, Counts>> => {
  const apart = NAMESPACE ? some.filter((file) => MOUNTING.has(file)) : [];
  const others = some.filter((file) => !apart.includes(file));
  return new Map([...(await testing(others, [])), ...(await testing(apart, NAMESPACE ?? []))]);
};

const first = await testAll(files);
const failedOnce = files.filter((file) => !isGood(first.get(file)));
if (failedOnce.length > 0) console.log(`once more: ${failedOnce.join(' ')}`);
const counts = new Map([...first, ...(await testAll(failedOnce))]);

if (outside > 0) console.log(`errors outside of any test, as told above: ${outside}`);
let [passed, failed] = [0, outside];
const again: string[] = [];
for (const file of files) {
  const of = counts.get(file);
  passed += of ? of.tests - of.failures - of.skipped : 0;
  failed += of ? of.failures + of.skipped : 1;
  if (!of) console.log(`${file}: no test ran`);
  else if (of.skipped > 0) console.log(`${file}: ${of.skipped} tests were skipped`);
  else if (failedOnce.includes(file) && isGood(of)) again.push(file);
}
if (again.length > 0) console.log(`${again.length} files passed only when run once more: ${again.join(' ')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
