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
    const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const done = Bun.spawnSync(['bash', '-o', 'pipefail', '-c', `${quoted} | head -c 1 >/dev/null`]);
    expect(done.stderr.toString()).toBe('closed');
    expect(done.exitCode).toBe(0);
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
    expect(Number(clock('yesterday'))).toBeGreaterThan(Date.parse('2020-01-01'));
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
