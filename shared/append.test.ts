import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendUnderLock } from './append.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-append-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let made = 0;
const file = (content?: string): string => {
  const path = join(scratch, `${made++}.jsonl`);
  if (content !== undefined) writeFileSync(path, content);
  return path;
};
const read = (path: string): string => readFileSync(path, 'utf8');

test('lines go to the end, and what is read while they are made stands before them', () => {
  const path = file();
  expect(appendUnderLock(path, () => '{"a":1}\n')).toBeUndefined();
  expect(appendUnderLock(path, () => `{"before":${read(path).length}}\n`)).toBeUndefined();
  expect(read(path)).toBe('{"a":1}\n{"before":8}\n');
  expect(appendUnderLock(path, () => '')).toBeUndefined();
  expect(read(path)).toBe('{"a":1}\n{"before":8}\n');
});

test('a torn last line is moved out, by name, and never merged', () => {
  const path = file('{"a":1}\n{"b":');
  expect(appendUnderLock(path, () => '{"c":3}\n')).toEqual({ kind: 'torn', bytes: 5, side: `${path}.torn` });
  expect(read(path)).toBe('{"a":1}\n{"c":3}\n');
  expect(read(`${path}.torn`)).toBe('{"b":\n');
  writeFileSync(path, '{"a":1}\n{"d"');
  appendUnderLock(path, () => '{"c":4}\n');
  expect(read(`${path}.torn`)).toBe('{"b":\n{"d"\n');
});

test('a torn line may be all there is, and longer than a block', () => {
  const path = file(`{"a":"${'x'.repeat(200_000)}`);
  expect(appendUnderLock(path, () => '{}\n')).toMatchObject({ kind: 'torn', bytes: 200_006 });
  expect(read(path)).toBe('{}\n');
});

test('a whole last line only gets its newline', () => {
  const path = file('{"a":1}\n{"b":2}');
  expect(appendUnderLock(path, () => '{"c":3}\n')).toEqual({ kind: 'ended' });
  expect(read(path)).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
  expect(readdirSync(scratch).filter((one) => one.startsWith(path.slice(scratch.length + 1)))).toHaveLength(
    1,
  );
});

test('a file that is none of ours is not cut', () => {
  const path = file('dear diary');
  expect(() => appendUnderLock(path, () => '{}\n')).toThrow('is it a JSONL file?');
  expect(read(path)).toBe('dear diary');
});

test('many writers leave whole lines', async () => {
  const path = file('{"torn');
  const code = `
    import { appendUnderLock } from ${JSON.stringify(join(import.meta.dir, 'append.ts'))};
    for (let at = 0; at < 20; at++)
      appendUnderLock(${JSON.stringify(path)}, () => JSON.stringify({ who: process.argv[1], text: 'x'.repeat(5000) }) + '\\n');`;
  const writers = Array.from({ length: 4 }, () =>
    Bun.spawn([process.execPath, '-e', code], { stderr: 'pipe' }),
  );
  for (const one of writers) {
    expect(await new Response(one.stderr).text()).toBe('');
    expect(await one.exited).toBe(0);
  }
  const lines = read(path).trimEnd().split('\n');
  expect(lines).toHaveLength(80);
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('text');
});
