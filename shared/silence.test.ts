import { afterAll, expect, test } from 'bun:test';
import { Silence } from './silence.ts';

/** Answers with as many parts as the path says, each after the one before was long sent; `/n/silent` never ends. */
const server = Bun.serve({
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const [, count, silent] = new URL(request.url).pathname.split('/');
    if (count === 'never') await Bun.sleep(5000);
    return new Response(async function* () {
      for (let at = 0; at < Number(count); at++) {
        yield `${at} `;
        await Bun.sleep(30);
      }
      if (silent) await Bun.sleep(5000);
    } as unknown as BodyInit);
  },
});
afterAll(() => server.stop(true));

const never = new AbortController().signal;
const read = async (path: string, ms: number, interrupted = never, between = 0): Promise<string> => {
  const silence = new Silence(interrupted, ms);
  try {
    const response = await fetch(new URL(path, server.url), { signal: silence.signal });
    let text = '';
    for await (const part of silence.parts(response)) {
      text += Buffer.from(part).toString();
      await Bun.sleep(between);
    }
    return text;
  } finally {
    silence.end();
  }
};

test('an answer may take longer than the limit, as long as something comes', async () => {
  expect(await read('/20', 300)).toBe(Array.from({ length: 20 }, (_, at) => `${at} `).join(''));
});
test('whoever takes it may take longer, too', async () => {
  expect(await read('/3', 300, never, 400)).toBe('0 1 2 ');
});
test.each(['/never', '/2/silent'])('%s is ended', (path) =>
  expect(read(path, 300)).rejects.toThrow('nothing came for 0.3 s'),
);
test('an interruption ends it', async () => {
  const interrupted = new AbortController();
  setTimeout(() => interrupted.abort(new Error('SIGINT')), 50);
  await expect(read('/2/silent', 3000, interrupted.signal)).rejects.toThrow('SIGINT');
});
