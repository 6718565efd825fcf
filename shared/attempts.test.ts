import { afterAll, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Attempt } from '../schemas/attempt.ts';
import { attemptsPath, readAttempts, recordAttempt } from './attempts.ts';
import { runDirectory } from './rundir.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-attempts-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const entry: Omit<Attempt, 'format'> = {
  at: '2026-01-02T03:04:05.000Z',
  run: 'a',
  profile: 'store',
  rule: 'store',
  commit: '',
  outcome: 'refused',
  exit: 3,
  reasons: ['noisy'],
};

test('endings stand beside the run directories, each once', () => {
  mkdirSync(join(scratch, 'out', 'a'), { recursive: true });
  const run = runDirectory(join(scratch, 'out', 'a'));
  expect(readAttempts(run)).toEqual([]);
  recordAttempt(run, entry);
  recordAttempt(run, entry);
  recordAttempt(run, { ...entry, outcome: 'judged', exit: 0, reasons: [] });
  expect(attemptsPath(run)).toBe(join(scratch, 'out', 'attempts.jsonl'));
  expect(readAttempts(run).map((one) => one.outcome)).toEqual(['refused', 'judged']);
});

test('lines of a crash or of another version hold nobody up', () => {
  const run = runDirectory(join(scratch, 'out', 'a'));
  appendFileSync(attemptsPath(run), '{"format":"attempt/9"}\nrubbish\n{"format":"att');
  recordAttempt(run, { ...entry, run: 'b' });
  expect(readAttempts(run).map((one) => one.run)).toEqual(['a', 'a', 'b']);
  expect(readFileSync(`${attemptsPath(run)}.torn`, 'utf8')).toBe('{"format":"att\n');
});
