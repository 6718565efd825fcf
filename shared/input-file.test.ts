import { afterAll, describe, expect, test } from 'bun:test';
import { closeSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFile, openInput, partsOfFile, readInput } from './input-file.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-input-'));
afterAll(() => rmSync(base, { recursive: true }));
const at = (name: string): string => join(base, name);
const pipe = (name: string): string => {
  expect(Bun.spawnSync(['mkfifo', at(name)]).success).toBe(true);
  return at(name);
};
/** A process that writes into a pipe a little late. */
const writer = (path: string, script: string) =>
  Bun.spawn(['sh', '-c', `exec >"$0"; ${script}`, path], { stdin: 'ignore' });

const whole = (path: string): string => {
  const input = openInput(path, 'x');
  try {
    return readInput(input, 'x', 1 << 20).toString();
  } finally {
    closeSync(input.fd);
  }
};
const streamed = async (path: string): Promise<string> => {
  let text = '';
  for await (const part of partsOfFile(path, 3, 'x')) text += Buffer.from(part).toString();
  return text;
};
const READERS: [string, (path: string) => string | Promise<string>][] = [
  ['at once', whole],
  ['in parts', streamed],
];

describe.each(READERS)('read %s', (way, read) => {
  test('a file, an empty one, the null device', async () => {
    writeFileSync(at('file'), 'some text');
    writeFileSync(at('empty'), '');
    expect([await read(at('file')), await read(at('empty')), await read('/dev/null')]).toEqual([
      'some text',
      '',
      '',
    ]);
  });

  test('a pipe: all of it, however slowly it comes', async () => {
    const path = pipe(`slow ${way}`);
    const writing = writer(path, 'sleep 0.05; printf one; sleep 0.1; printf two; sleep 0.05');
    expect(await read(path)).toBe('onetwo');
    await writing.exited;
  });

  test('a pipe without a writer is refused instead of waited for', async () => {
    const path = pipe(`alone ${way}`);
    await expect((async () => read(path))()).rejects.toThrow(
      "can't read 'x': it is a pipe, and nobody writes to it",
    );
  });

  test.each<[string, string]>([
    ['/dev/zero', 'it is a device; name a file'],
    ['/', 'it is a directory; name a file'],
    ['/nowhere', 'it does not exist'],
    ['/dev/null/x', 'a part of the path is not a directory'],
    [`/${'x'.repeat(300)}`, 'the name is too long'],
  ])('%s is refused', async (path, why) => {
    await expect((async () => read(path))()).rejects.toThrow(`can't read 'x': ${why}`);
  });

  test('a socket is refused', async () => {
    const server = createServer();
    const path = at(`socket ${way.length}`);
    await new Promise<void>((done) => void server.listen(path, done));
    await expect((async () => read(path))()).rejects.toThrow("can't read 'x': it is a socket; name a file");
    server.close();
  });
});

test('more than the limit is refused before it fills the memory', () => {
  writeFileSync(at('large'), 'x'.repeat(200_000));
  const input = openInput(at('large'), 'x');
  expect(() => readInput(input, 'x', 150_000)).toThrow("can't read 'x': more than 150000 bytes");
  closeSync(input.fd);
});

test('what is read more than once is no pipe', () => {
  expect(() => openFile(pipe('again'), 'x')).toThrow(
    "can't read 'x': it is a pipe, and is read more than once",
  );
  writeFileSync(at('file'), 'some text');
  const fd = openFile(at('file'));
  expect(readFileSync(fd, 'utf8')).toBe('some text');
  closeSync(fd);
});
