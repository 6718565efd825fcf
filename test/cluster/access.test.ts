/** Reaching the API server: kubeconfigs, credentials, verification, proxies. Every way is tried on a real server that demands certificates. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, connect, isForbidden, type KubernetesObject } from '../../shared/kubernetes.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { readKubeconfig } from '../../shared/kubernetes/kubeconfig.ts';
import {
  admin,
  connected,
  kubeconfig,
  makeNamespace,
  makeUser,
  runPod,
  scratch,
  worldWith,
} from './the-cluster.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

const files = scratch();
const own = readKubeconfig({ kubeconfig, cwd: '/', env: {} })!;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const url = new URL(own.server);
/** A name that the server's certificate holds and that is not this machine's, so that proxies of the environment count. */
const otherName = own.server.replace(url.hostname, 'kubernetes.default.svc');

/** A self-signed certificate that signed nothing. */
const OTHER_AUTHORITY = Bun.spawnSync([
  'openssl',
  'req',
  '-x509',
  '-newkey',
  'rsa:2048',
  '-nodes',
  '-subj',
  '/CN=other',
  '-keyout',
  '/dev/null',
]).stdout.toString();

let namespace: Awaited<ReturnType<typeof makeNamespace>>;
let token: string;
let tunnel: Tunnel;

interface Parts {
  cluster?: object;
  user?: object;
  context?: object;
}
let written = 0;
/** A kubeconfig with the real server and administrator, changed. */
const config = (parts: Parts = {}): string => {
  const path = join(files.path, `${written++}.kubeconfig`);
  const { cert, key } = own.user.certificate ?? { cert: '', key: '' };
  const value = {
    clusters: [
      {
        name: 'c',
        cluster: { server: own.server, 'certificate-authority-data': base64(own.ca ?? ''), ...parts.cluster },
      },
    ],
    users: [
      {
        name: 'u',
        user: parts.user ?? {
          'client-certificate-data': base64(cert),
          'client-key-data': base64(key),
          ...(own.user.token ? { token: own.user.token } : {}),
        },
      },
    ],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...parts.context } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const using = (parts: Parts, env: Record<string, string> = {}): Cluster =>
  connected({ kubeconfig: config(parts) }, { env });
const nodes = (cluster: Cluster): Promise<KubernetesObject[]> => cluster.list<KubernetesObject>('nodes', {});
const pods = (cluster: Cluster): Promise<unknown[]> => cluster.list('pods', { namespace: namespace.name });

beforeAll(async () => {
  namespace = await makeNamespace('access');
  tunnel = await openTunnel(url);
  token = await makeUser(namespace.name, 'reader', [
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'get', 'watch'] },
    { apiGroups: [''], resources: ['pods/log', 'pods/exec'], verbs: ['get', 'create'] },
  ]);
  await runPod(namespace.name, 'talker', ['sh', '-c', 'echo hello; sleep 600']);
});
afterAll(async () => {
  tunnel.close();
  files.remove();
  await namespace.remove();
});

describe('certificates', () => {
  test('the administrator by client certificate', async () => {
    expect((await nodes(admin)).length).toBeGreaterThan(0);
    expect((await admin.version()).major).toBe(1);
  });

  test('without one the server knows nobody', async () => {
    const refused = await nodes(using({ user: {} })).catch((error: unknown) => error);
    expect(isForbidden(refused)).toBe(true);
    expect(String(refused)).toMatch(/not allowed to list nodes: .*system:anonymous/);
  });

  test.each<[string, object]>([
    ['no authority', { 'certificate-authority-data': '' }],
    ['another authority', { 'certificate-authority-data': base64(OTHER_AUTHORITY) }],
    ['another name', { 'tls-server-name': 'elsewhere.example.com' }],
  ])('%s is not trusted', async (_, cluster) => {
    // Switching verification off for the whole runtime must not do it for us.
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expect(nodes(using({ cluster }))).rejects.toThrow(/can't trust the API server .*kubeconfig/);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    const { exec } = using({ cluster });
    await expect(
      exec({ namespace: namespace.name, pod: 'talker', container: 'main', command: ['true'] }),
    ).rejects.toThrow("can't trust");
  });

  test.each<[string, object]>([
    [
      'verification switched off by the kubeconfig',
      { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true },
    ],
    ['the right other name', { 'tls-server-name': 'kubernetes.default' }],
  ])('%s works for requests and exec', async (_, cluster) => {
    const there = using({ cluster });
    expect((await nodes(there)).length).toBeGreaterThan(0);
    expect(
      await there.exec({ namespace: namespace.name, pod: 'talker', container: 'main', command: ['true'] }),
    ).toBe(0);
  });

  test('an authority beside insecure is refused, as by kubectl', () =>
    expect(() => using({ cluster: { 'insecure-skip-tls-verify': true } })).toThrow('remove one'));
});

describe('tokens', () => {
  test('a token, a token file, a provider of old kubectls, and what they may not', async () => {
    const path = join(files.path, 'token');
    writeFileSync(path, `${token}\n`);
    for (const user of [
      { token },
      { tokenFile: path },
      { tokenFile: 'token' },
      { tokenFile: path, token: 'stale' },
      { 'auth-provider': { name: 'oidc', config: { 'id-token': token } } },
    ]) {
      const reader = using({ user });
      expect(await pods(reader)).toHaveLength(1);
      await expect(nodes(reader)).rejects.toThrow(
        /not allowed to list nodes: .*reader.* cannot list resource "nodes"/,
      );
      await expect(reader.delete('pods', { namespace: namespace.name, name: 'talker' }, 'x')).rejects.toThrow(
        'not allowed to delete pods',
      );
    }
  });

  test('a wrong token is told as such', () =>
    expect(pods(using({ user: { token: 'nonsense' } }))).rejects.toThrow(
      /does not know the credentials of user 'u' \(context 'x'\); log in again/,
    ));

  test('a token file is read again when the server refuses what it held', async () => {
    const path = join(files.path, 'renewed');
    writeFileSync(path, 'stale');
    const reader = using({ user: { tokenFile: path } });
    await expect(pods(reader)).rejects.toThrow('log in again');
    writeFileSync(path, token);
    expect(await pods(reader)).toHaveLength(1);
  });

  test('in a pod: its service account', async () => {
    const directory = join(files.path, 'serviceaccount');
    Bun.spawnSync(['mkdir', '-p', directory]);
    writeFileSync(join(directory, 'token'), token);
    writeFileSync(join(directory, 'ca.crt'), own.ca!);
    writeFileSync(join(directory, 'namespace'), namespace.name);
    const env = { KUBERNETES_SERVICE_HOST: url.hostname, KUBERNETES_SERVICE_PORT: url.port };
    const inside = connect({}, worldWith({ env }), { serviceAccount: directory });
    expect(inside.namespace).toBe(namespace.name);
    expect(await pods(inside)).toHaveLength(1);
    expect(() => connect({}, worldWith(), { serviceAccount: directory })).toThrow('no kubeconfig');
  });
});

describe('exec plugins', () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  let made = 0;
  const plugin = (script: string, more: object = {}): { user: object; runs: () => number } => {
    const path = join(files.path, `plugin-${made++}`);
    writeFileSync(path, `#!/bin/sh\necho run >> ${path}.runs\n${script}\n`);
    chmodSync(path, 0o755);
    return {
      user: { exec: { apiVersion, command: path, interactiveMode: 'Never', ...more } },
      runs: () => readFileSync(`${path}.runs`, 'utf8').split('\n').length - 1,
    };
  };
  const credential = (status: object, version = apiVersion): string =>
    `cat <<'J'\n${JSON.stringify({ kind: 'ExecCredential', apiVersion: version, status })}\nJ`;

  test('a token, asked for once', async () => {
    const { user, runs } = plugin(credential({ token }));
    const reader = using({ user });
    await Promise.all([pods(reader), pods(reader)]);
    expect(await pods(reader)).toHaveLength(1);
    expect(runs()).toBe(1);
  });

  test('a token that has expired is asked for again', async () => {
    const { user, runs } = plugin(credential({ token, expirationTimestamp: '2020-01-01T00:00:00Z' }));
    const reader = using({ user });
    await pods(reader);
    await pods(reader);
    expect(runs()).toBe(2);
  });

  test('a token that the server refuses is asked for again, once', async () => {
    const { user, runs } = plugin(
      `if [ $(wc -l < "$0.runs") -gt 1 ]; then\n${credential({ token })}\nelse\n${credential({ token: 'old' })}\nfi`,
    );
    expect(await pods(using({ user }))).toHaveLength(1);
    expect(runs()).toBe(2);
    const never = plugin(credential({ token: 'old' }));
    await expect(pods(using({ user: never.user }))).rejects.toThrow('log in again');
    expect(never.runs()).toBe(2);
  });

  test('a client certificate, for requests and exec', async () => {
    const { cert, key } = own.user.certificate!;
    const there = using({
      user: plugin(credential({ clientCertificateData: cert, clientKeyData: key })).user,
    });
    expect((await nodes(there)).length).toBeGreaterThan(0);
    expect(
      await there.exec({ namespace: namespace.name, pod: 'talker', container: 'main', command: ['true'] }),
    ).toBe(0);
  });

  test('what it is told', async () => {
    const { user } = plugin(
      `echo "$KUBERNETES_EXEC_INFO" > "$0.info"; echo "$WORD $1" >> "$0.info"\n${credential({ token })}`,
      { args: ['first'], env: [{ name: 'WORD', value: 'word' }], provideClusterInfo: true },
    );
    await pods(using({ user }));
    const [info, words] = readFileSync(
      `${(user as { exec: { command: string } }).exec.command}.info`,
      'utf8',
    ).split('\n');
    expect(words).toBe('word first');
    expect(JSON.parse(info!)).toMatchObject({
      kind: 'ExecCredential',
      apiVersion,
      spec: { interactive: false, cluster: { server: own.server } },
    });
  });

  test.each<[string, string, object, string]>([
    [
      'is missing',
      '',
      { command: 'no-such-plugin', installHint: 'get it from example.com' },
      'not on the PATH; get it from example.com',
    ],
    ['fails', 'exit 3', {}, 'ended with status 3'],
    ['prints no JSON', 'echo hello', {}, 'printed no JSON'],
    [
      'prints another version',
      credential({ token: 't' }, 'client.authentication.k8s.io/v1beta1'),
      {},
      'make them agree',
    ],
    ['gives nothing', credential({}), {}, 'neither a token nor'],
    ['wants a terminal', credential({ token: 't' }), { interactiveMode: 'Always' }, 'needs a terminal'],
  ])('one that %s', async (_, script, more, says) => {
    await expect(pods(using({ user: plugin(script, more).user }))).rejects.toThrow(says);
  });
});

describe('kubeconfigs', () => {
  test('several files: the first that names a thing counts', async () => {
    const first = join(files.path, 'first');
    writeFileSync(
      first,
      JSON.stringify({
        contexts: [{ name: 'main', context: { cluster: 'c', user: 'reader', namespace: 'from-first' } }],
        users: [{ name: 'reader', user: { token } }],
        'current-context': 'main',
      }),
    );
    const second = config({ user: { token: 'nonsense' }, context: { namespace: 'from-second' } });
    const env = { KUBECONFIG: `/dev/null/none:${first}:${second}` };
    const merged = connected({}, { env });
    expect([merged.context, merged.namespace]).toEqual(['main', 'from-first']);
    expect(await pods(merged)).toHaveLength(1);
    expect(connected({ kubeContext: 'x' }, { env }).namespace).toBe('from-second');
    expect(() => connected({ kubeContext: 'y' }, { env })).toThrow("has no context 'y'; it has 'main', 'x'");
  });

  test('paths beside the file, YAML with anchors, data before files', async () => {
    writeFileSync(join(files.path, 'own-ca.crt'), own.ca!);
    const path = join(files.path, 'anchored');
    writeFileSync(
      path,
      `x: &server {server: "${own.server}", certificate-authority: own-ca.crt}\nclusters:\n- {name: c, cluster: *server}\nusers:\n- name: u\n  user: {token: "${token}"}\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\ncurrent-context: x\n`,
    );
    expect(parseForeignYaml(readFileSync(path, 'utf8'), path)).toBeDefined();
    expect(await pods(connected({ kubeconfig: path }))).toHaveLength(1);
    expect(
      await pods(using({ cluster: { 'certificate-authority': '/nonexistent' }, user: { token } })),
    ).toHaveLength(1);
  });

  test('impersonation', async () => {
    const { cert, key } = own.user.certificate!;
    const as = {
      'client-certificate-data': base64(cert),
      'client-key-data': base64(key),
      as: `system:serviceaccount:${namespace.name}:reader`,
    };
    const reader = using({ user: as });
    expect(await pods(reader)).toHaveLength(1);
    await expect(nodes(reader)).rejects.toThrow('not allowed to list nodes');
    expect(() => using({ user: { ...as, 'as-groups': ['a', 'b'] } })).toThrow('not supported');
  });
});

/** Requests, a watch, a log and exec, each through a connection. */
const everything = async (cluster: Cluster): Promise<void> => {
  const at = { namespace: namespace.name, pod: 'talker', container: 'main' };
  expect(await pods(cluster)).toHaveLength(1);
  const stop = new AbortController();
  for await (const event of cluster.watch('pods', { namespace: namespace.name }, stop.signal)) {
    expect(event.type).toBe('is');
    break;
  }
  let log = '';
  for await (const part of cluster.log(at, stop.signal)) log += new TextDecoder().decode(part);
  expect(log).toBe('hello\n');
  expect(await cluster.exec({ ...at, command: ['sh', '-c', 'exit 4'] })).toBe(4);
};

describe('proxies', () => {
  test("the kubeconfig's proxy-url carries everything, with its password", async () => {
    const before = tunnel.asked.length;
    const withPassword = tunnel.url.replace('://', '://user:p%40ss@');
    await everything(using({ cluster: { 'proxy-url': withPassword }, user: { token } }));
    const asked = tunnel.asked.slice(before);
    expect(asked.length).toBeGreaterThan(1);
    for (const { target, authorization } of asked) {
      expect(target).toBe(url.host);
      expect(authorization).toBe(`Basic ${base64('user:p@ss')}`);
    }
  });

  test.each(['HTTPS_PROXY', 'https_proxy'])('%s carries everything', async (name) => {
    const before = tunnel.asked.length;
    await everything(
      using(
        { cluster: { server: otherName }, user: { token } },
        { [name]: tunnel.url, NO_PROXY: 'example.com' },
      ),
    );
    expect(tunnel.asked.slice(before).map(({ target }) => target)).toContain(new URL(otherName).host);
  });

  test('NO_PROXY and loopback go past it', async () => {
    const before = tunnel.asked.length;
    const env = { HTTPS_PROXY: tunnel.url };
    if (url.hostname === '127.0.0.1') await everything(using({ user: { token } }, env));
    await everything(using({ user: { token } }, { ...env, NO_PROXY: `other.example.com,${url.hostname}` }));
    expect(tunnel.asked.length).toBe(before);
  });

  test.each<[string, object, Record<string, string>, string]>([
    [
      'proxy-url against NO_PROXY',
      { 'proxy-url': 'http://127.0.0.1:1' },
      { NO_PROXY: '*' },
      'unset NO_PROXY',
    ],
    [
      'a socks proxy',
      { 'proxy-url': 'socks5://127.0.0.1:1' },
      {},
      "proxy-url 'socks5://127.0.0.1:1' is not supported",
    ],
  ])('%s is refused', (_, cluster, env, says) => expect(() => using({ cluster }, env)).toThrow(says));

  test('a proxy that is not there is named, without its password', () =>
    expect(
      pods(using({ cluster: { 'proxy-url': 'http://user:secret@127.0.0.1:1' }, user: { token } })),
    ).rejects.toThrow(
      /can't reach the API server '.*' through the proxy 'http:\/\/127.0.0.1:1': connection refused/,
    ));
});

describe('servers that are not there', () => {
  test.each<[string, string, RegExp]>([
    [
      'nothing listens',
      'https://127.0.0.1:1',
      /can't reach the API server 'https:\/\/127.0.0.1:1': connection refused/,
    ],
    ['no such name', 'https://no-such-host.invalid:6443', /its name is not known/],
  ])('%s', async (_, server, says) => {
    await expect(nodes(using({ cluster: { server } }))).rejects.toThrow(says);
  });
});
