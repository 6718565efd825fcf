/** What a healthy API server doesn't do on demand: busy, broken and silent answers, from a server made for it. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { connectionError } from './api-error.ts';
import { listPages, watch } from './listing.ts';
import type { KubernetesObject } from './objects.ts';
import { type Endpoint, send, sendForJson } from './transport.ts';

/** Answers in turn; the last one again and again. */
let answers: (() => Response | Promise<Response>)[] = [];
let asked: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: ({ method, url }) => {
    asked.push(`${method} ${new URL(url).pathname}${new URL(url).search}`);
    return (answers.length > 1 ? answers.shift()! : answers[0]!)();
  },
});
afterAll(() => server.stop(true));

let paused: number[] = [];
afterEach(() => {
  [answers, asked, paused] = [[], [], []];
});
const endpoint = (signal = new AbortController().signal): Endpoint => ({
  access: { context: 'test', server: server.url.href, insecure: false, user: { name: 'tester' } },
  base: server.url.href.replace(/\/$/, ''),
  proxy: false,
  authorities: undefined,
  source: { current: async () => ({ headers: {} }), refused: () => false },
  signal,
  sleep: async (ms) => void paused.push(ms),
});
const about = { verb: 'list', resource: 'pods' };
const json =
  (value: unknown, status = 200, headers = {}) =>
  (): Response =>
    Response.json(value, { status, headers });
const status = (code: number, message: string, headers = {}) =>
  json({ kind: 'Status', reason: 'X', message }, code, headers);
const page = (names: string[], after = ''): (() => Response) =>
  json({
    metadata: { resourceVersion: '7', continue: after },
    items: names.map((name) => ({ metadata: { name, uid: name, resourceVersion: '1' } })),
  });

describe('answers that may pass', () => {
  test('busy: waits as long as the server says, for any request', async () => {
    answers = [
      status(429, 'slow down', { 'Retry-After': '3' }),
      status(429, 'slow down'),
      json({ ok: true }),
    ];
    expect(await sendForJson<unknown>(endpoint(), { about, path: '/x', method: 'POST', body: '{}' })).toEqual(
      { ok: true },
    );
    expect(paused).toEqual([3000, 600]);
  });

  test('busy for too long: says so', async () => {
    answers = [status(429, 'slow down', { 'Retry-After': '1' })];
    await expect(send(endpoint(), { about, path: '/x' })).rejects.toThrow(
      /too busy to list pods: slow down; try again later/,
    );
    expect(asked).toHaveLength(8);
  });

  test.each([500, 502, 503, 504])('%d: reading is tried again', async (code) => {
    answers = [status(code, 'etcd is away'), json({ ok: true })];
    expect(await sendForJson<unknown>(endpoint(), { about, path: '/x' })).toEqual({ ok: true });
  });

  test('500: what changes something is not', async () => {
    answers = [status(500, 'etcd is away')];
    await expect(
      send(endpoint(), {
        about: { verb: 'create', resource: 'jobs' },
        path: '/x',
        method: 'POST',
        body: '{}',
      }),
    ).rejects.toThrow("can't create jobs: etcd is away");
    expect(asked).toHaveLength(1);
  });

  test("an answer of something before the server: its page isn't shown whole", async () => {
    answers = [() => new Response('<html><b>Bad</b>\n gateway</html>', { status: 403 })];
    await expect(send(endpoint(), { about, path: '/x' })).rejects.toThrow(
      'the cluster refuses to list pods: 403 Bad gateway',
    );
  });

  test('a redirect is not followed: it would be shown the credentials', async () => {
    answers = [() => Response.redirect('http://127.0.0.1:1/elsewhere', 302)];
    await expect(send(endpoint(), { about, path: '/x' })).rejects.toThrow("can't reach the API server");
  });
});

const never = (): Promise<Response> => new Promise(() => undefined);

/** Starts to answer and goes silent. */
const half = (): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')),
    }),
  );

test('silence ends at the deadline', async () => {
  answers = [never];
  const late = send(endpoint(), { about, path: '/x', deadline: 50, method: 'POST', body: '{}' });
  await expect(late).rejects.toThrow(/no answer from the API server 'http:.*' within 0.05 s/);
});

describe('answers that do not come', () => {
  test('so does half an answer', async () => {
    answers = [half];
    await expect(
      sendForJson(endpoint(), { about, path: '/x', deadline: 50, method: 'POST', body: '{}' }),
    ).rejects.toThrow('no answer');
  });

  test('half an answer that ends there is asked for again, when reading', async () => {
    answers = [() => new Response('{"a":'), json({ a: 1 })];
    expect(await sendForJson<unknown>(endpoint(), { about, path: '/x' })).toEqual({ a: 1 });
  });

  test.each(['the connection', 'the request'])('a stop of %s ends the wait', async (which) => {
    answers = [never];
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    const waiting =
      which === 'the connection'
        ? send(endpoint(stop.signal), { about, path: '/x' })
        : send(endpoint(), { about, path: '/x', signal: stop.signal });
    await expect(waiting).rejects.toThrow(which === 'the connection' ? 'interrupted' : 'stopped');
  });
});

const list = (): Promise<string[]> => {
  let seen: string[] = [];
  return listPages<KubernetesObject>(
    endpoint(),
    'pods',
    {},
    () => (seen = []),
    (items) => seen.push(...items.map((one) => one.metadata.name)),
  ).then(() => seen);
};

const pod = (name: string, version: string) => ({
  metadata: { name, uid: name, resourceVersion: version },
});

const lines =
  (...events: object[]) =>
  (): Response =>
    new Response(events.map((one) => `${JSON.stringify(one)}\n`).join(''));

describe('lists and watches', () => {
  test('a continuation that never holds ends', async () => {
    answers = [];
    const expired = status(410, 'the continue parameter is too old');
    answers = [
      page(['a'], 'c'),
      expired,
      page(['b'], 'c'),
      expired,
      page(['c'], 'c'),
      expired,
      page(['d'], 'c'),
      expired,
    ];
    await expect(list()).rejects.toThrow('too old');
    expect(asked).toHaveLength(8);
  });

  test('a server that answers null for no items', async () => {
    answers = [json({ metadata: {}, items: null })];
    expect(await list()).toEqual([]);
  });

  test.each([
    [200, 500, 500],
    [200, 200, 200],
    [16_000, 500, 131],
    [300_000, 500, 10],
  ])('pages by size: after objects of %d bytes, at most %d, %d are asked for', async (size, most, then) => {
    const sized = (): Response => Response.json({ metadata: { continue: 'c' }, items: ['x'.repeat(size)] });
    answers = [sized, page([])];
    await listPages(
      endpoint(),
      'pods',
      {},
      () => undefined,
      () => undefined,
      most,
    );
    const limits = asked.map((one) => Number(/limit=(\d+)/.exec(one)![1]));
    expect(limits[0]).toBe(100);
    // The list around the objects counts, too.
    expect(limits[1]).toBeWithin(then * 0.97, then + 1);
  });

  test('trouble told inside a watch is told on, waited out, and everything is listed again', async () => {
    answers = [
      page(['a', 'b']),
      lines(
        { type: 'BOOKMARK', object: pod('', '8') },
        { type: 'ERROR', object: { code: 500, message: 'etcd is away' } },
      ),
      page(['b', 'c']),
      lines(
        { type: 'ADDED', object: pod('d', '9') },
        { type: 'ERROR', object: { code: 410, message: 'too old' } },
      ),
      page(['b', 'c']),
      () => new Promise(() => undefined),
    ];
    const stop = new AbortController();
    const told: string[] = [];
    for await (const event of watch<KubernetesObject>(endpoint(), 'pods', { namespace: 'n' }, stop.signal)) {
      told.push('object' in event ? `${event.type} ${event.object.metadata.name}` : event.type);
      if (told.filter((one) => one === 'complete').length === 3) stop.abort();
    }
    expect(told).toEqual([
      'is a',
      'is b',
      'complete',
      'trouble',
      'gone a',
      'is c',
      'complete',
      'is d',
      'gone d',
      'complete',
    ]);
    expect(asked[1]).toBe(
      'GET /api/v1/namespaces/n/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=240',
    );
  });

  test('what was allowed may be refused for a moment: a server that has just started does not know yet who may what', async () => {
    const event = (name: string) => (): Response =>
      new Response(
        `${JSON.stringify({ type: 'ADDED', object: { metadata: { name, uid: name, resourceVersion: '8' } } })}\n`,
      );
    const refused = status(403, 'User "tester" cannot watch resource "pods"');
    answers = [page([]), event('a'), refused, refused, event('b')];
    const events = watch<KubernetesObject>(endpoint(), 'pods', {}, new AbortController().signal);
    const told: string[] = [];
    for await (const one of events) {
      told.push('object' in one ? one.object.metadata.name : one.type);
      if (told.at(-1) === 'b') break;
    }
    expect(told).toEqual(['complete', 'a', 'trouble', 'trouble', 'b']);
  });

  test('a watch that may not go on is an error', async () => {
    answers = [page([]), status(403, 'User "tester" cannot watch resource "pods"')];
    const events = watch<KubernetesObject>(endpoint(), 'pods', {}, new AbortController().signal);
    expect((await events.next()).value).toEqual({ type: 'complete' });
    await expect(events.next()).rejects.toThrow('not allowed to watch pods');
  });
});

test.each<[string, object, string]>([
  ['ECONNREFUSED', { code: 'ECONNREFUSED' }, 'connection refused'],
  ['a certificate by code', { code: 'CERT_HAS_EXPIRED' }, 'has expired; verification is only off'],
  [
    'a certificate by message',
    { message: 'TLS handshake failed: DEPTH_ZERO_SELF_SIGNED_CERT' },
    'self-signed',
  ],
])('%s in words', (_, fields, says) => {
  const error = Object.assign(new Error('x'), fields);
  expect(connectionError(error, { server: 'https://s', proxy: false }).message).toContain(says);
});
