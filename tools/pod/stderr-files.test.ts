import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StderrFiles } from './stderr-files.ts';

test('what a step wrote is kept under its name, and the next one begins with an empty file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'k8sbench-stderr-'));
  const files = new StderrFiles(directory);
  files.keep('0-quiet');
  writeSync(files.fd, 'one');
  files.keep('1-loud');
  files.keep('2-quiet');
  writeSync(files.fd, 'two');
  files.keep('3-loud');
  files.close();
  expect(readdirSync(directory).toSorted()).toEqual(['1-loud', '3-loud', 'stderr']);
  expect(readFileSync(join(directory, '1-loud'), 'utf8')).toBe('one');
  expect(readFileSync(join(directory, '3-loud'), 'utf8')).toBe('two');
  expect(readFileSync(join(directory, 'stderr'), 'utf8')).toBe('');
  rmSync(directory, { recursive: true });
});
