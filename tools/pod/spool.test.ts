import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linger, lingerFor, Spool } from './spool.ts';

let base: string;
beforeAll(() => void (base = mkdtempSync(join(tmpdir(), 'k8sbench-spool-'))));
afterAll(() => rmSync(base, { recursive: true }));

const outputOf = (parts: string[]) => ({
  write: async (text: string) => void parts.push(text),
  closed: false,
});

test('what is written stands in the copy, too', async () => {
  const parts: string[] = [];
  const spool = new Spool(outputOf(parts), join(base, 'log'));
  await spool.write('one\n');
  await spool.write('zwei ü\n');
  spool.close();
  expect(parts.join('')).toBe('one\nzwei ü\n');
  expect(readFileSync(join(base, 'log'), 'utf8')).toBe('one\nzwei ü\n');
});

test('a copy that can not be written, or no more, costs nothing', async () => {
  for (const path of ['nonexistent/log', 'full']) {
    if (path === 'full') symlinkSync('/dev/full', join(base, path));
    const parts: string[] = [];
    const spool = new Spool(outputOf(parts), join(base, path));
    await spool.write('one\n');
    await spool.write('two\n');
    expect(parts.join('')).toBe('one\ntwo\n');
    expect(existsSync(join(base, path))).toBe(false);
  }
});

test('it lingers until it is told, stopped, or late', async () => {
  const file = join(base, 'acknowledged');
  const never = new AbortController().signal;
  await linger(file, never, 1);
  await linger(file, AbortSignal.abort(), 60_000);
  setTimeout(() => writeFileSync(file, ''), 20);
  await linger(file, never, 60_000);
  expect(existsSync(file)).toBe(true);
});

test('never into the deadline', () => {
  const plan = JSON.stringify({ limits: { session_s: 600 } });
  const of = (age_ms: number): number => lingerFor(plan, undefined, age_ms, 0);
  expect([of(0), of(590_000), of(700_000)]).toEqual([600_000, 10_000, 0]);
  // Its Job waited 300 s before this process began.
  const submitted = '2026-01-02T03:04:05.000Z';
  expect(lingerFor(plan, submitted, 90_000, Date.parse(submitted) + 390_000)).toBe(210_000);
  const long = JSON.stringify({ limits: { session_s: 90_000 } });
  expect(lingerFor(long, undefined, 0, 0)).toBe(15 * 60_000);
  expect([undefined, 'no'].map((one) => lingerFor(one, undefined, 0, 0))).toEqual([0, 0]);
});
