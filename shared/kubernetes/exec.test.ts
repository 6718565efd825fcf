/** WebSockets through what knows them and what does not; real ones are tested in test/cluster. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from '../kubernetes.ts';
import { realWorld } from '../world.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let scratch: string;
beforeAll(() => void (scratch = mkdtempSync(join(tmpdir(), 'k8sbench-exec-'))));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

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
  const path = join(scratch, answer);
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url.href } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(config));
  try {
    const cluster = connect({ kubeconfig: path }, { ...realWorld(), env: {} });
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
