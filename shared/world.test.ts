import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { readStdin, realWorld } from './world.ts';

const here = join(import.meta.dir, 'world.ts');
/** A process of its own in the real outside. */
const program = (code: string): string[] => [
  process.execPath,
  '-e',
  `import { realWorld, readStdin } from ${JSON.stringify(here)}; const world = realWorld(); ${code}`,
];

const clock = (now: string): string =>
  Bun.spawnSync(program('console.log(world.now())'), { env: { ...process.env, K8SBENCH_NOW: now } })
    .stdout.toString()
    .trim();

/** Bash with a program in it, its parts quoted. */
const inBash = (words: readonly string[], script: (program: string) => string) => {
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const done = Bun.spawnSync(['bash', '-o', 'pipefail', '-c', script(quoted)]);
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
};

describe('the real outside', () => {
  test('a large output arrives whole through a pipe', () => {
    const done = Bun.spawnSync(
      program(`await world.stdout.write('x'.repeat(3_000_000)); process.exitCode = 3;`),
    );
    expect(done.stdout.length).toBe(3_000_000);
    expect(done.exitCode).toBe(3);
  });

  test('a closed pipe is no error, and is known', () => {
    const words = program(`
      for (let at = 0; at < 200 && !world.stdout.closed; at++) await world.stdout.write('x'.repeat(10_000));
      await world.stderr.write(world.stdout.closed ? 'closed' : 'open');`);
    expect(inBash(words, (one) => `${one} | head -c 1 >/dev/null`)).toEqual({
      exit: 0,
      stdout: '',
      stderr: 'closed',
    });
  });

  test('a pipe that takes no more for a while gets everything, in order', () => {
    const words = program(`
      const { dlopen } = await import('bun:ffi');
      const [F_SETFL, O_WRONLY, O_NONBLOCK] = [4, 1, 0o4000];
      dlopen('libc.so.6', { fcntl: { args: ['i32', 'i32', 'i32'], returns: 'i32' } }).symbols.fcntl(1, F_SETFL, O_WRONLY | O_NONBLOCK);
      const all = Array.from({ length: 40 }, (_, at) => world.stdout.write(String(at % 10).repeat(10_000)));
      await Promise.all(all);
      process.exitCode = 3;`);
    const ended = inBash(words, (one) => `${one} | (sleep 0.2; sha256sum)`);
    const wanted = Array.from({ length: 40 }, (_, at) => String(at % 10).repeat(10_000)).join('');
    expect(ended).toEqual({
      exit: 3,
      stdout: `${new Bun.CryptoHasher('sha256').update(wanted).digest('hex')}  -\n`,
      stderr: '',
    });
  });

  test('a full disk is an error on stdout, and nothing on stderr', () => {
    const code = `
      await world.stderr.write('words').then(() => undefined);
      await world.stdout.write('data').catch((error) => (process.exitCode = error.code === 'ENOSPC' ? 7 : 8));`;
    expect(inBash(program(code), (one) => `${one} >/dev/full`)).toEqual({
      exit: 7,
      stdout: '',
      stderr: 'words',
    });
    expect(inBash(program(code), (one) => `${one} 2>/dev/full`)).toEqual({
      exit: 0,
      stdout: 'data',
      stderr: '',
    });
  });

  test('is a terminal or not', () => {
    const code = `await world.stdout.write([world.stdout.isTerminal, world.stdout.columns].join(' '));`;
    expect(inBash(program(code), (one) => `${one} 2>&1`).stdout).toBe('false 80');
  });

  test('the first signal is told, the second ends it at once', async () => {
    const child = Bun.spawn(
      program(`
        world.interrupted.addEventListener('abort', () => console.log(String(world.interrupted.reason)));
        process.on('exit', () => console.log('leaves'));
        console.log('ready');
        setInterval(() => undefined, 1000);`),
      { stdout: 'pipe' },
    );
    const reader = child.stdout.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe('ready\n');
    child.kill('SIGTERM');
    expect(await next()).toBe('SIGTERM\n');
    child.kill('SIGINT');
    expect(await next()).toBe('leaves\n');
    expect(await child.exited).toBe(130);
  });

  test('K8SBENCH_NOW stops the clock', () => {
    expect(clock('1767323045678')).toBe('1767323045678');
    expect(Number(clock(''))).toBeGreaterThan(Date.parse('2020-01-01'));
  });

  test.each(['yesterday', '-1', '1e3', '0x10', '1.5', '999999999999999', ' 1'])(
    'K8SBENCH_NOW=%j is refused when the time is asked for',
    (now) => {
      const asked = program(
        `try { world.now(); } catch (error) { await world.stdout.write(error.message); }`,
      );
      const { stdout } = Bun.spawnSync(asked, { env: { ...process.env, K8SBENCH_NOW: now } });
      expect(stdout.toString()).toBe(`$K8SBENCH_NOW: expected a time in ms since 1970, found '${now}'`);
    },
  );

  test('whoever waits for standard input hears the first signal', async () => {
    const child = Bun.spawn(
      program(`
        const reading = readStdin(world);
        console.log('ready');
        await reading.catch((error) => console.log(error.exit, error.message));`),
      { stdin: 'pipe', stdout: 'pipe' },
    );
    const reader = child.stdout.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe('ready\n');
    child.kill('SIGTERM');
    expect(await next()).toBe('130 interrupted by SIGTERM while reading stdin\n');
    expect(await child.exited).toBe(0);
  });

  test('standard input is read whole, up to a limit', async () => {
    const reader = program(`await world.stdout.write(String((await readStdin(world)).length));`);
    const child = Bun.spawn(reader, { stdin: new Blob(['ä'.repeat(500_000)]), stdout: 'pipe' });
    expect(await new Response(child.stdout).text()).toBe('500000');
    const parts = (async function* () {
      yield new Uint8Array(3);
      yield new Uint8Array(3);
    })();
    await expect(readStdin({ ...realWorld(), stdin: parts }, 5)).rejects.toThrow(
      'more than 5 bytes on stdin',
    );
  });
});
