import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sha256 } from '../files.ts';
import { credentialsOf, isHere, parseChallenge } from './access.ts';
import { registryClient, type RegistryOptions } from './client.ts';
import { forPlatform, type Manifest } from './manifest.ts';
import { formatReference, parseReference } from './reference.ts';

describe('an image’s name', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  test.each([
    ['node', 'docker.io/library/node:latest'],
    ['node:24-slim', 'docker.io/library/node:24-slim'],
    ['team/tool', 'docker.io/team/tool:latest'],
    ['index.docker.io/team/tool:1', 'docker.io/team/tool:1'],
    ['localhost:5000/a/b:1', 'localhost:5000/a/b:1'],
    ['localhost/a', 'localhost/a:latest'],
    ['ghcr.io/a/b__c/d.e-f:V_1.x', 'ghcr.io/a/b__c/d.e-f:V_1.x'],
    [`ghcr.io/a/b:1@${digest}`, `ghcr.io/a/b@${digest}`],
    [`node@${digest}`, `docker.io/library/node@${digest}`],
  ])('%s', (given, shown) => expect(formatReference(parseReference(given))).toBe(shown));

  test.each([
    '',
    'Node',
    'a//b',
    'a/b:',
    'a@sha256:12',
    `a@${digest}@${digest}`,
    '../a',
    'https://x/y',
    'a b',
    'a/b:-x',
    `a@sha512:${'a'.repeat(128)}`,
    'x.example:port/a',
  ])('refused: %p', (given) => expect(() => parseReference(given)).toThrow(`image '${given}'`));
});

describe('a challenge', () => {
  test.each<[string, ReturnType<typeof parseChallenge>]>([
    [
      'Bearer realm="https://auth.example/token",service="reg",scope="repository:a/b:pull,push"',
      {
        scheme: 'bearer',
        parameters: {
          realm: 'https://auth.example/token',
          service: 'reg',
          scope: 'repository:a/b:pull,push',
        },
      },
    ],
    ['basic realm=x', { scheme: 'basic', parameters: { realm: 'x' } }],
    ['Negotiate, Basic realm="a b"', { scheme: 'basic', parameters: { realm: 'a b' } }],
    ['Digest qop="auth"', undefined],
    ['', undefined],
  ])('%s', (header, wanted) => expect(parseChallenge(header)).toEqual(wanted!));

  test('this machine alone is spoken to without TLS', () =>
    expect(
      ['localhost:5000', '127.0.0.1', '[::1]:5000', 'localhost.evil.example', '127.0.0.1.nip.io'].map(isHere),
    ).toEqual([true, true, true, false, false]));

  test('no file of credentials is no credentials', () =>
    expect(credentialsOf({ HOME: '/nowhere' })('docker.io')).toBeUndefined());
});

/** A registry with one image of two architectures; what was asked of it is kept. */
let server: ReturnType<typeof Bun.serve>;
let asked: string[] = [];
let behaviour: 'open' | 'token' | 'basic' | 'busy' | 'lies' | 'cut' | 'stalls' = 'open';
const blob = Buffer.from('layer');
const image = JSON.stringify({
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  config: {},
  layers: [],
});
const index = JSON.stringify({
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.index.v1+json',
  manifests: [
    {
      digest: `sha256:${'0'.repeat(64)}`,
      size: 1,
      mediaType: 'x',
      platform: { os: 'unknown', architecture: 'unknown' },
    },
    {
      digest: `sha256:${'1'.repeat(64)}`,
      size: 1,
      mediaType: 'x',
      platform: { os: 'linux', architecture: 'arm', variant: 'v7' },
    },
    {
      digest: `sha256:${'2'.repeat(64)}`,
      size: 1,
      mediaType: 'x',
      platform: { os: 'linux', architecture: 'amd64', variant: 'v3' },
    },
    {
      digest: `sha256:${sha256(image)}`,
      size: image.length,
      mediaType: 'x',
      platform: { os: 'linux', architecture: 'amd64' },
    },
  ],
});
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const authorization = request.headers.get('authorization') ?? '';
      asked.push(`${pathname} ${authorization}`.trim());
      if (pathname === '/token')
        return Response.json({ token: `${searchParams.get('scope')}|${searchParams.get('service')}` });
      if (behaviour === 'busy' && asked.length < 3)
        return new Response('', { status: 429, headers: { 'retry-after': '0' } });
      const wanted = behaviour === 'basic' ? 'Basic bWU6eA==' : 'Bearer repository:team/tool:pull|here';
      const challenge =
        behaviour === 'basic' ? 'Basic realm="x"' : `Bearer realm="${server.url}token",service="here"`;
      if (['token', 'basic'].includes(behaviour) && authorization !== wanted)
        return new Response('', { status: 401, headers: { 'www-authenticate': challenge } });
      const text = pathname.endsWith('/manifests/1')
        ? index
        : pathname.endsWith(sha256(image))
          ? image
          : undefined;
      if (text !== undefined)
        return new Response(text, {
          headers: {
            'docker-content-digest': `sha256:${behaviour === 'lies' ? '9'.repeat(64) : sha256(text)}`,
          },
        });
      if (pathname.endsWith(`/blobs/sha256:${sha256(blob)}`))
        return new Response(null, { status: 307, headers: { location: '/elsewhere' } });
      if (pathname === '/elsewhere' && behaviour === 'stalls')
        return new Response(async function* () {
          yield blob.subarray(1);
          await Bun.sleep(5000);
        } as unknown as BodyInit);
      if (pathname === '/elsewhere') return new Response(behaviour === 'cut' ? blob.subarray(1) : blob);
      return new Response('', { status: 404 });
    },
  });
});
afterAll(() => server.stop(true));

const client = (how: typeof behaviour, more: Partial<RegistryOptions> = {}) => {
  behaviour = how;
  asked = [];
  return registryClient({ interrupted: new AbortController().signal, credentials: () => undefined, ...more });
};
const name = (tag = '1') => parseReference(`127.0.0.1:${server.port}/team/tool:${tag}`);
const layer = { mediaType: 'x', digest: `sha256:${sha256(blob)}`, size: blob.length };
const all = async (parts: AsyncGenerator<Uint8Array>): Promise<string> => {
  const taken: Uint8Array[] = [];
  for await (const part of parts) taken.push(part);
  return Buffer.concat(taken).toString();
};

describe('an image is read', () => {
  test.each(['open', 'token', 'busy'] as const)('of a registry that is %s', async (how) => {
    const registry = client(how);
    const found = await registry.manifest(name());
    const one = forPlatform(found, 'amd64', 'x')!;
    expect(one.digest).toBe(`sha256:${sha256(image)}`);
    const { registry: host, repository } = name();
    const own = await registry.manifest({ registry: host, repository, digest: one.digest });
    expect(forPlatform(own, 'amd64', 'x')).toBeUndefined();
    expect(await all(registry.blob(name(), layer))).toBe('layer');
    // One token for all of a repository.
    expect(asked.filter((path) => path.startsWith('/token')).length).toBe(how === 'token' ? 1 : 0);
  });

  test('with kept credentials', async () =>
    expect((await client('basic', { credentials: () => 'bWU6eA==' }).manifest(name())).digest).toBe(
      `sha256:${sha256(index)}`,
    ));

  test('of a mirror, the registry itself being out of reach', async () => {
    const mirrors = { 'far.invalid': [`http://127.0.0.1:${server.port}/`] };
    const registry = client('open', { mirrors });
    expect((await registry.manifest(parseReference('far.invalid/team/tool:1'))).digest).toBe(
      `sha256:${sha256(index)}`,
    );
  });
});

describe('told', () => {
  test.each<[string, () => Promise<unknown>, string]>([
    ['a login that is missing', () => client('basic').manifest(name()), '401 (it wants a login'],
    ['a tag that is missing', () => client('open').manifest(name('2')), '404 (there is no such image)'],
    [
      'another content than the digest',
      () => client('lies').manifest(name()),
      `not sha256:${'9'.repeat(64)}`,
    ],
    [
      'a blob that stops coming',
      () => all(client('stalls', { silence_ms: 300 }).blob(name(), layer)),
      'nothing came for 0.3 s',
    ],
    ['a blob that is cut', () => all(client('cut').blob(name(), layer)), 'arrived as 4 of 5 bytes'],
    [
      'a blob that is longer',
      () => all(client('open').blob(name(), { ...layer, size: 4 })),
      'is longer than its 4 bytes',
    ],
    [
      'a weak digest',
      () => all(client('open').blob(name(), { ...layer, digest: 'md5:x' })),
      'which is no SHA-256',
    ],
    [
      'a redirect to http elsewhere',
      () =>
        client('open', {
          fetch: async () =>
            new Response(null, { status: 302, headers: { location: 'http://evil.example/' } }),
        }).manifest(name()),
      "leads to 'http://evil.example', which is not https",
    ],
    [
      'a realm without TLS',
      () =>
        client('open', {
          fetch: async () =>
            new Response(null, {
              status: 401,
              headers: { 'www-authenticate': 'Bearer realm="http://evil.example/t"' },
            }),
        }).manifest(name()),
      'which is no https address',
    ],
    [
      'what is no JSON',
      () => client('open', { fetch: async () => new Response('hello') }).manifest(name()),
      'its manifest is no JSON object',
    ],
  ])('%s', async (_, run, says) => expect(run()).rejects.toThrow(says));

  test('an architecture that is not there', () => {
    const found: Manifest = {
      digest: 'x',
      mediaType: JSON.parse(index).mediaType,
      bytes: Buffer.alloc(0),
      value: JSON.parse(index),
    };
    expect(() => forPlatform(found, 'arm64', 'x')).toThrow(
      'has nothing for linux/arm64; it has unknown/unknown, linux/arm, linux/amd64',
    );
  });

  test('a token goes to no other host', async () => {
    const sent: string[] = [];
    const registry = client('open', {
      credentials: () => 'bWU6eA==',
      fetch: async (url, { headers }) => {
        sent.push(`${new URL(url).host} ${(headers as Record<string, string>)['authorization'] ?? 'none'}`);
        if (url.includes('cdn')) return new Response(blob);
        return (headers as Record<string, string>)['authorization']
          ? new Response(null, { status: 307, headers: { location: 'https://cdn.example/x' } })
          : new Response(null, { status: 401, headers: { 'www-authenticate': 'Basic realm=x' } });
      },
    });
    expect(await all(registry.blob(parseReference('reg.example/a:1'), layer))).toBe('layer');
    expect(sent).toEqual(['reg.example none', 'reg.example Basic bWU6eA==', 'cdn.example none']);
  });
});
