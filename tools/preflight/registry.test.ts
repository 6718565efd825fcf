/** A registry on loopback stands for any: what it answers, and what that is taken for. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { askRegistry, type Pull } from './registry.ts';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const digestOf = (text: string): string => `sha256:${sha256(text)}`;
/** Everything that the registry has, by digest. */
const contents = new Map<string, string>();
const put = (text: string): string => {
  contents.set(digestOf(text), text);
  return digestOf(text);
};
const imageOf = (about: object, more: object = {}): string => {
  const config = JSON.stringify(about);
  const descriptor = { mediaType: 'x', digest: put(config), size: config.length, ...more };
  return put(JSON.stringify({ mediaType: MANIFEST, config: descriptor, layers: [] }));
};
const indexOf = (...platforms: string[]): string =>
  put(
    JSON.stringify({
      mediaType: INDEX,
      manifests: platforms.map((one) => {
        const [os, architecture] = one.split('/');
        return { mediaType: MANIFEST, digest: digestOf(one), size: 1, platform: { os, architecture } };
      }),
    }),
  );

const LOGIN = 'Basic bWU6eA==';
/** `token 403`: a token is wanted, and asking for one is answered so. */
type Behaviour = 'open' | 'login' | 'closed' | 'busy' | 'silent' | 'token 403' | 'token 404';
let behaviour: Behaviour = 'open';
let asked: string[] = [];
let server: ReturnType<typeof Bun.serve>;
let host = '';
const home = mkdtempSync(join(tmpdir(), 'k8sbench-preflight-registry-'));
const auth = join(home, 'auth.json');
const broken = join(home, 'broken.json');
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const authorization = request.headers.get('authorization');
      const { pathname } = new URL(request.url);
      asked.push(pathname.replace(/^.*\/(manifests|blobs)\/.*$/, '$1'));
      if (behaviour === 'silent') await Bun.sleep(3000);
      if (behaviour === 'busy') return new Response('', { status: 429, headers: { 'retry-after': '60' } });
      if (behaviour === 'closed') return new Response('', { status: 403 });
      if (pathname === '/token') return new Response('', { status: Number(behaviour.split(' ')[1]) });
      if (behaviour.startsWith('token'))
        return new Response('', {
          status: 401,
          headers: { 'www-authenticate': `Bearer realm="http://${host}/token"` },
        });
      if (behaviour === 'login' && authorization !== LOGIN)
        return new Response('', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } });
      const found = contents.get(pathname.split('/').at(-1)!);
      return found === undefined ? new Response('', { status: 404 }) : new Response(found);
    },
  });
  host = `127.0.0.1:${server.port}`;
  writeFileSync(auth, JSON.stringify({ auths: { [host]: { auth: LOGIN.split(' ')[1] } } }));
  writeFileSync(broken, 'no JSON');
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  await server.stop(true);
  rmSync(home, { recursive: true });
});

const never = new AbortController().signal;
const ask = (digest: string, kept = '/nowhere', ms?: number, interrupted = never): Promise<Pull> =>
  askRegistry(`${host}/team/bench@${digest}`, { env: { REGISTRY_AUTH_FILE: kept }, interrupted }, ms);

const there = (arches: string[], login = false): Pull => ({ is: 'there', arches, login });
const two = indexOf('linux/amd64', 'linux/arm64', 'linux/arm64', 'windows/s390x', 'unknown/unknown');
const single = imageOf({ os: 'linux', architecture: 'arm64' });
const NOWHERE = digestOf('nothing');

test.each<[string, Behaviour, string, () => string, Pull, number]>([
  ['an index', 'open', two, () => '/nowhere', there(['amd64', 'arm64']), 1],
  ['an image alone', 'open', single, () => '/nowhere', there(['arm64']), 2],
  [
    'one for another system',
    'open',
    imageOf({ os: 'windows', architecture: 'amd64' }),
    () => auth,
    there([]),
    2,
  ],
  ['one that says nothing', 'open', imageOf({}), () => auth, { is: 'there', login: false }, 2],
  [
    'a config too large',
    'open',
    imageOf({ a: 1 }, { size: 1e9 }),
    () => auth,
    { is: 'there', login: false },
    1,
  ],
  ['not there', 'open', NOWHERE, () => '/nowhere', { is: 'missing' }, 1],
  ['a login that is wanted', 'login', two, () => '/nowhere', { is: 'refused', status: 401 }, 1],
  ['a login that is kept', 'login', two, () => auth, there(['amd64', 'arm64'], true), 3],
  ['a login, and not there', 'login', NOWHERE, () => auth, { is: 'missing' }, 3],
  ['logins that can not be read', 'login', two, () => broken, { is: 'refused', status: 401 }, 1],
  ['no token for strangers', 'token 403', two, () => '/nowhere', { is: 'refused', status: 403 }, 2],
  [
    'no place for tokens',
    'token 404',
    two,
    () => '/nowhere',
    { is: 'unknown', why: expect.stringContaining('gives no token: it answered 404') },
    2,
  ],
  ['closed to all', 'closed', two, () => auth, { is: 'refused', status: 403 }, 2],
])('%s', async (_, how, digest, kept, expected, requests) => {
  behaviour = how;
  expect([await ask(digest, kept()), asked.length]).toEqual([expected, requests]);
});

test('busy: asked once, however long it wants to be left alone', async () => {
  behaviour = 'busy';
  const why = `'http://${host}' answered 429 (too many requests)`;
  expect([await ask(two), asked.length]).toEqual([{ is: 'unknown', why }, 1]);
});

test('out of reach: nobody listens there', async () => {
  const image = `127.0.0.1:1/a@${two}`;
  expect(await askRegistry(image, { env: {}, interrupted: never })).toMatchObject({
    is: 'unknown',
    why: expect.stringContaining("'http://127.0.0.1:1' can't be reached"),
  });
});

test('silent: until the time is over', async () => {
  behaviour = 'silent';
  const why = `'${host}' gave no answer in 0.2 s`;
  expect(await ask(two, '/nowhere', 200)).toEqual({ is: 'unknown', why });
});

test('silent: until it is interrupted', async () => {
  behaviour = 'silent';
  const stop = new AbortController();
  setTimeout(() => stop.abort('SIGINT'), 50);
  await expect(ask(two, '/nowhere', 60_000, stop.signal)).rejects.toThrow('interrupted');
});
