/** WebSockets through what knows them and what does not; real ones are tested in test/cluster. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Cluster, connect } from '../kubernetes.ts';
import { realWorld } from '../world.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let scratch: string;
beforeAll(() => void (scratch = mkdtempSync(join(tmpdir(), 'k8sbench-exec-'))));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const clusterAt = (server: string): Cluster => {
  const path = join(scratch, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(config));
  return connect({ kubeconfig: path }, { ...realWorld(), env: {} });
};

/** Whether one opens to a server, and what it was asked for. */
const opens = async (answer: 'upgrades' | 'streams' | 'refuses'): Promise<[boolean, string, string]> => {
  let asked = '';
  let origin = '';
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, self) {
      const { pathname, search } = new URL(request.url);
      asked = pathname + search;
      origin = request.headers.get('origin') ?? '';
      if (answer === 'upgrades' && self.upgrade(request)) return undefined;
      return answer === 'streams' ? new Response('{"type":"BOOKMARK"}\n') : new Response('', { status: 403 });
    },
    websocket: { message: () => undefined },
  });
  try {
    const cluster = clusterAt(server.url.href);
    return [await cluster.webSocketOpens('team'), asked, origin === cluster.server ? 'own' : origin];
  } finally {
    server.stop(true);
  }
};

test.each([
  ['upgrades', true],
  // What a proxy makes of it that knows no upgrades: a plain request, answered as one.
  ['streams', false],
  ['refuses', false],
] as const)('a server that %s', async (answer, opened) =>
  expect(await opens(answer)).toEqual([
    opened,
    '/api/v1/namespaces/team/pods?watch=true&timeoutSeconds=1',
    'own',
  ]),
);

/** What comes of a command whose server says success as soon as it was given anything, and closes. */
const successAtOnce = async (stdin: AsyncIterable<Uint8Array>): Promise<string> => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, self) =>
      self.upgrade(request, { headers: { 'Sec-WebSocket-Protocol': 'v5.channel.k8s.io' } })
        ? undefined
        : new Response('', { status: 400 }),
    websocket: {
      message(socket) {
        socket.send(Buffer.concat([Buffer.from([3]), Buffer.from('{"status":"Success"}')]));
        socket.close();
      },
    },
  });
  try {
    const about = { namespace: 'team', pod: 'p', container: 'c', command: ['true'] };
    return await clusterAt(server.url.href)
      .exec({ ...about, stdin })
      .then(String, String);
  } finally {
    server.stop(true);
  }
};

async function* parts(count: number, pause_ms: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at++) {
    yield new Uint8Array([at]);
    await Bun.sleep(pause_ms);
  }
}

test('success counts once all of the input was sent: of a command that left it, servers do not know', async () => {
  expect(await successAtOnce(parts(3, 20))).toBe('0');
  expect(await successAtOnce(parts(Infinity, 20))).toContain('ended before all of its input was sent');
});
