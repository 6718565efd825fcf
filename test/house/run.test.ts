/** The test command itself: whatever goes wrong, it says so. */
import { afterAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-run-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let places = 0;

const GOOD = `import { test } from 'bun:test';\ntest('good', () => {});\n`;
const BAD = `import { test } from 'bun:test';\ntest('bad', () => { throw new Error('no'); });\n`;
const ONCE = `import { test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
test('fails once', () => {
  const before = existsSync(import.meta.path + '.ran');
  writeFileSync(import.meta.path + '.ran', '');
  if (!before) throw new Error('no');
});\n`;
const LEAK = `import { test, afterAll } from 'bun:test';
test('good', () => { setTimeout(() => { void Promise.reject(new Error('nobody waits for this')); }, 5); });
afterAll(() => Bun.sleep(60));\n`;
const LOADING = `throw new Error('loading');\n`;
const SKIPPED = `import { test } from 'bun:test';\ntest.skip('later', () => {});\ntest('good', () => {});\n`;
const ENDED = `import { test } from 'bun:test';\ntest('ends', () => process.kill(process.pid, 'SIGKILL'));\n`;

const run = (files: Record<string, string>) => {
  const root = join(scratch, String(places++));
  mkdirSync(join(root, 'test'), { recursive: true });
  copyFileSync(join(import.meta.dir, '../run.ts'), join(root, 'test/run.ts'));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(root, 'test', `${name}.test.ts`), content);
  const done = Bun.spawnSync([process.execPath, 'test/run.ts', 'test'], { cwd: root });
  const lines = done.stdout.toString().trimEnd().split('\n');
  return { exit: done.exitCode, last: lines.at(-1), said: lines.join('\n'), told: done.stderr.toString() };
};

describe('the test command', () => {
  test.each<[string, Record<string, string>, number, string, string]>([
    ['all good', { a: GOOD, b: GOOD }, 0, '2 passed, 0 failed', ''],
    ['one bad', { a: GOOD, b: BAD }, 1, '1 passed, 1 failed', 'once more: test/b.test.ts'],
    [
      'bad once',
      { a: GOOD, b: ONCE },
      0,
      '2 passed, 0 failed',
      '\n1 files passed only when run once more: test/b.test.ts\n2 passed',
    ],
    ['an error of nobody', { a: GOOD, b: LEAK }, 1, '2 passed, 1 failed', 'errors outside of any test'],
    [
      'an error of nobody beside a file that is bad once',
      { a: ONCE, b: LEAK },
      1,
      '2 passed, 1 failed',
      '\n1 files passed only when run once more: test/a.test.ts\n2 passed',
    ],
    ['a file that does not load', { a: GOOD, b: LOADING }, 1, '1 passed, 3 failed', 'b.test.ts: no test ran'],
    ['a skipped test', { a: SKIPPED }, 1, '1 passed, 1 failed', '1 tests were skipped'],
    ['a process that is ended', { a: GOOD, b: ENDED }, 1, '0 passed, 2 failed', 'b.test.ts: no test ran'],
    ['no tests', {}, 1, '0 passed, 1 failed', 'no test files in test'],
  ])('%s', (_, files, exit, last, said) => {
    const done = run(files);
    expect({ exit: done.exit, last: done.last }).toEqual({ exit, last });
    expect(done.said).toContain(said);
  });

  test('hands on what Bun says', () => {
    const { told } = run({ a: BAD });
    expect(told).toContain('(fail) bad');
    expect(told).toContain('error: no');
  });
});
