import { afterAll, describe, expect, test } from 'bun:test';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from './failure.ts';
import {
  sha256,
  sha256File,
  streamAtomically,
  touch,
  tryLock,
  withLock,
  writeAll,
  writeAtomically,
} from './files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-files-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let made = 0;
const place = (): string => {
  const path = join(scratch, String(made++));
  mkdirSync(path);
  return path;
};

describe('what is no plain file', () => {
  test('a character device is written into and stays', async () => {
    // A device of our own: root may make one; elsewhere the real one can't be replaced anyhow.
    const device = join(place(), 'null');
    const own = Bun.spawnSync(['mknod', device, 'c', '1', '3']).exitCode === 0;
    const path = own ? device : '/dev/null';
    writeAtomically(path, 'text');
    await streamAtomically(path, ['more', 'text']);
    expect(statSync(path).isCharacterDevice()).toBe(true);
  });

  test('a link stays, what it leads to is replaced', async () => {
    const dir = place();
    writeAtomically(join(dir, 'real'), 'one');
    symlinkSync('real', join(dir, 'link'));
    writeAtomically(join(dir, 'link'), 'two');
    await streamAtomically(join(dir, 'link'), ['three']);
    expect(lstatSync(join(dir, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(dir, 'real'), 'utf8')).toBe('three');
    expect(readdirSync(dir).toSorted()).toEqual(['link', 'real']);
  });

  test('a pipe and a directory are refused, at once', async () => {
    const dir = place();
    const pipe = join(dir, 'pipe');
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
    expect(() => writeAtomically(pipe, 'text')).toThrow('not a file; name a file');
    expect(streamAtomically(pipe, ['text'])).rejects.toThrow('not a file; name a file');
    expect(() => writeAtomically(dir, 'text')).toThrow('it is a directory');
    expect(statSync(pipe).isFIFO()).toBe(true);
  });
});

describe('whole files', () => {
  test('are replaced, and nothing else is left', async () => {
    const dir = place();
    const path = join(dir, 'a.json');
    writeAtomically(path, 'one');
    writeAtomically(path, new TextEncoder().encode('two'));
    expect(readFileSync(path, 'utf8')).toBe('two');
    await streamAtomically(path, ['th', 'ree']);
    expect(readFileSync(path, 'utf8')).toBe('three');
    expect(readdirSync(dir)).toEqual(['a.json']);
  });

  test('are those of all their parts, also when these are many and come slowly', async () => {
    const path = join(place(), 'large');
    const part = new Uint8Array(2 << 20);
    const hash = new Bun.CryptoHasher('sha256');
    await streamAtomically(
      path,
      (async function* () {
        for (let at = 0; at < 20; at++) {
          // A part may be used again once the next but one is asked for.
          const own = part.subarray((at % 2) << 20, ((at % 2) + 1) << 20).fill(at);
          hash.update(own);
          yield own;
          await Bun.sleep(at % 2);
        }
      })(),
    );
    expect(sha256(readFileSync(path))).toBe(hash.digest('hex'));
  });

  test('a failure keeps the old file, leaves nothing, and names the file that was meant', async () => {
    const dir = place();
    const path = join(dir, 'a.json');
    writeAtomically(path, 'old');
    const broken = (function* () {
      yield 'half';
      throw new Failure(1, 'the source broke');
    })();
    await expect(streamAtomically(path, broken)).rejects.toThrow('the source broke');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(dir)).toEqual(['a.json']);
    const missing = join(dir, 'missing', 'a.json');
    expect(() => writeAtomically(missing, 'x')).toThrow(expect.objectContaining({ path: missing }));
    await expect(streamAtomically(missing, ['x'])).rejects.toMatchObject({ path: missing });
    const taken = join(dir, 'taken');
    mkdirSync(join(taken, 'full'), { recursive: true });
    expect(() => writeAtomically(taken, 'x')).toThrow();
    expect(readdirSync(dir).toSorted()).toEqual(['a.json', 'taken']);
  });

  test('digests of texts, bytes and files agree', async () => {
    const path = join(place(), 'a');
    const content = 'abc'.repeat(1_000_000);
    writeAtomically(path, content);
    expect(await sha256File(path)).toBe(sha256(content));
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('touch makes a file newer and keeps its content', () => {
    const path = join(place(), 'a');
    writeAtomically(path, 'x');
    Bun.spawnSync(['touch', '-d', '2001-01-01', path]);
    touch(path);
    expect(statSync(path).mtimeMs).toBeGreaterThan(Date.parse('2020-01-01'));
    expect(readFileSync(path, 'utf8')).toBe('x');
    expect(() => touch(join(scratch, 'missing'))).toThrow();
  });
});

/** Appends the number of lines so far, `times` times; without a lock two writers would write the same number. */
const writer = (path: string, times: number): string => `
  import { readFileSync, writeSync } from 'node:fs';
  import { withLock } from ${JSON.stringify(join(import.meta.dir, 'files.ts'))};
  for (let at = 0; at < ${times}; at++)
    withLock(${JSON.stringify(path)}, (fd) => {
      const lines = readFileSync(${JSON.stringify(path)}, 'utf8').split('\\n').length - 1;
      for (const part of [String(lines), ' ', '\\n']) writeSync(fd, part);
    });`;
const run = (code: string) => Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe', stderr: 'pipe' });

describe('a lock', () => {
  test('keeps 20 writers apart, also when its holder is killed', async () => {
    const path = join(place(), 'track.jsonl');
    const holder = run(`
      import { withLock } from ${JSON.stringify(join(import.meta.dir, 'files.ts'))};
      withLock(${JSON.stringify(path)}, () => {
        require('node:fs').writeSync(1, 'held');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`);
    const { value } = await holder.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('held');
    const writers = Array.from({ length: 20 }, () => run(writer(path, 10)));
    await Bun.sleep(100);
    expect(statSync(path).size).toBe(0);
    holder.kill('SIGKILL');
    for (const one of writers) {
      expect(await new Response(one.stderr).text()).toBe('');
      expect(await one.exited).toBe(0);
    }
    expect(readFileSync(path, 'utf8').split('\n')).toEqual([
      ...Array.from({ length: 200 }, (_, at) => `${at} `),
      '',
    ]);
  }, 60_000);

  test('that is taken is not waited for', async () => {
    const path = join(place(), 'build.lock');
    const release = tryLock(path);
    expect(release).toBeDefined();
    expect(tryLock(path)).toBeUndefined();
    const attempt = `
      import { tryLock } from ${JSON.stringify(join(import.meta.dir, 'files.ts'))};
      process.exitCode = tryLock(${JSON.stringify(path)}) ? 0 : 3;`;
    expect(await run(attempt).exited).toBe(3);
    release!();
    expect(await run(attempt).exited).toBe(0);
    const again = tryLock(path);
    expect(again).toBeDefined();
    again!();
  });

  test('is on the file of that name, also when it was replaced meanwhile', () => {
    const dir = place();
    const path = join(dir, 'a');
    writeAtomically(path, 'old\n');
    withLock(path, (fd) => writeAll(fd, 'more\n'));
    expect(readFileSync(path, 'utf8')).toBe('old\nmore\n');
    unlinkSync(path);
    expect(withLock(path, () => 7)).toBe(7);
    expect(() => withLock(join(dir, 'missing', 'a'), () => 0)).toThrow();
    symlinkSync(path, join(dir, 'link'));
    withLock(join(dir, 'link'), (fd) => writeAll(fd, 'through the link\n'));
    expect(readFileSync(path, 'utf8')).toBe('through the link\n');
  });
});
