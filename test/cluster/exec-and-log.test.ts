/** Commands in pods and their logs, on a real kubelet, with connections that break. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { ConnectionError, isForbidden, isNotFound, isNotStarted } from '../../shared/kubernetes.ts';
import { until } from './processes.ts';
import { admin, connectedAs, image, makeNamespace, makeUser, runPod, through } from './the-cluster.ts';
import { openTunnel } from './tunnel.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

let namespace: Awaited<ReturnType<typeof makeNamespace>>;
const at = (pod = 'worker') => ({ namespace: namespace.name, pod, container: 'main' });
const sh = (script: string): string[] => ['sh', '-c', script];
const text = (parts: Uint8Array[]): string => Buffer.concat(parts).toString('utf8');
beforeAll(async () => {
  namespace = await makeNamespace('exec');
  await runPod(namespace.name, 'worker', sh('sleep 3600'));
});
afterAll(() => namespace.remove());

describe('exec', () => {
  test.each<[string, string, number, string, string]>([
    ['success', 'echo out; echo err >&2', 0, 'out\n', 'err\n'],
    ['failure', 'echo out; exit 7', 7, 'out\n', ''],
    ['a signal', 'kill -9 $$', 137, '', ''],
    ['words as they are', 'printf %s "ü \\"q\\" $((1+1)) &=?#%20"', 0, 'ü "q" 2 &=?#%20', ''],
  ])('%s', async (_, script, exit, out, err) => {
    const [stdout, stderr]: [Uint8Array[], Uint8Array[]] = [[], []];
    const status = await admin.exec({
      ...at(),
      command: sh(script),
      stdout: (part) => stdout.push(part),
      stderr: (part) => stderr.push(part),
    });
    expect([status, text(stdout), text(stderr)]).toEqual([exit, out, err]);
  });

  test('200 MB of input arrive whole, in little memory', async () => {
    const block = randomBytes(1 << 20);
    const hash = createHash('sha256');
    let most = 0;
    const before = process.memoryUsage().rss;
    const stdin = (async function* () {
      for (let part = 0; part < 200; part++) {
        block[part] = part;
        hash.update(block);
        most = Math.max(most, process.memoryUsage().rss - before);
        yield new Uint8Array(block);
      }
    })();
    const out: Uint8Array[] = [];
    expect(
      await admin.exec({ ...at(), command: ['sha256sum'], stdin, stdout: (part) => out.push(part) }),
    ).toBe(0);
    expect(text(out)).toStartWith(hash.digest('hex'));
    // Half of it, for what is not collected yet: without back-pressure it is more than all of it.
    expect(most).toBeLessThan(100 << 20);
  });

  test('empty input ends, and much output arrives whole', async () => {
    const none = (async function* (): AsyncGenerator<Uint8Array> {})();
    expect(await admin.exec({ ...at(), command: ['cat'], stdin: none })).toBe(0);
    const hash = createHash('sha256');
    let bytes = 0;
    const command = sh('seq 1 1000000');
    expect(
      await admin.exec({ ...at(), command, stdout: (part) => ((bytes += part.length), hash.update(part)) }),
    ).toBe(0);
    const expected = createHash('sha256');
    for (let line = 1; line <= 1_000_000; line++) expected.update(`${line}\n`);
    expect([bytes, hash.digest('hex')]).toEqual([6_888_896, expected.digest('hex')]);
  });

  test('a command that leaves its input unread holds us no longer than the deadline', async () => {
    const endless = async function* () {
      for (;;) yield new Uint8Array(1 << 16);
    };
    // Kubernetes may never tell the status then, to kubectl neither, or tell success; what must not happen is that sending goes on
    // for ever, or that it is taken for success.
    const ended = (): Promise<string> =>
      admin.exec({ ...at(), command: sh('exit 3'), stdin: endless(), deadline: 3000 }).then(String, String);
    for (const one of await Promise.all(Array.from({ length: 8 }, ended)))
      expect(one).toMatch(/^3$|'sh' took longer than 3 s|ended before all of its input was sent/);
  });

  test('what can not be run', async () => {
    await expect(admin.exec({ ...at(), command: ['no-such-program'] })).rejects.toThrow(
      /can't run 'no-such-program' in pod 'worker': .*not found/,
    );
    const gone = await admin.exec({ ...at('nobody'), command: ['true'] }).catch((error: unknown) => error);
    expect(isNotFound(gone)).toBe(true);
    expect(String(gone)).toMatch(/can't get pods\/exec 'nobody' in namespace '.*': not found/);
    await expect(admin.exec({ ...at(), container: 'other', command: ['true'] })).rejects.toThrow(
      /container.*other|can't reach/,
    );
  });

  test('a deadline and a stop end it', async () => {
    await expect(admin.exec({ ...at(), command: sh('sleep 1001'), deadline: 300 })).rejects.toThrow(
      "'sh' took longer than 0.3 s",
    );
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    await expect(admin.exec({ ...at(), command: sh('sleep 1002'), signal: stop.signal })).rejects.toThrow(
      'stopped',
    );
    await expect(admin.exec({ ...at(), command: ['true'], signal: stop.signal })).rejects.toThrow('stopped');
  });

  test('a connection that breaks is no success', async () => {
    const tunnel = await openTunnel(new URL(admin.server));
    const cluster = through(tunnel.url);
    const started = Promise.withResolvers<void>();
    const command = sh('echo go; sleep 30');
    const broken = cluster
      .exec({ ...at(), command, stdout: () => started.resolve() })
      .catch((error: unknown) => error);
    await started.promise;
    tunnel.cut();
    expect(await broken).toBeInstanceOf(ConnectionError);
    tunnel.close();
  });

  test('a pod that is deleted under it', async () => {
    await runPod(namespace.name, 'doomed', sh('sleep 3600'));
    const pod = await admin.get('pods', { namespace: namespace.name, name: 'doomed' });
    const ended = admin
      .exec({ ...at('doomed'), command: sh('sleep 3600'), deadline: 30_000 })
      .then(String, String);
    await Bun.sleep(300);
    await admin.delete('pods', { namespace: namespace.name, name: 'doomed' }, pod.metadata.uid, {
      graceSeconds: 0,
    });
    expect(await ended).toMatch(/137|closed|can't run/);
  });

  test('what RBAC refuses is told by verb', async () => {
    const token = await makeUser(namespace.name, 'no-exec', [
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    ]);
    const user = connectedAs(token);
    const refused = await user.exec({ ...at(), command: ['true'] }).catch((error: unknown) => error);
    expect(isForbidden(refused)).toBe(true);
    expect(String(refused)).toMatch(
      /not allowed to get pods\/exec 'worker' in namespace .*no-exec.* cannot \w+ resource "pods\/exec"/,
    );
    const log = user
      .log(at(), new AbortController().signal)
      .next()
      .catch((error: unknown) => error);
    expect(String(await log)).toMatch(/not allowed to get pods\/log/);
  });
});

const read = async (
  cluster: typeof admin,
  pod: string,
  more: object = {},
  signal = new AbortController().signal,
): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const part of cluster.log({ ...at(pod), ...more }, signal)) parts.push(part);
  return text(parts);
};

describe('logs', () => {
  test('what was written, its end, and what follows until the container ends', async () => {
    await runPod(
      namespace.name,
      'talker',
      sh(
        'for i in 1 2 3 4 5; do echo line $i; done; sleep 1; head -c 100000 /dev/zero | tr "\\0" x; echo; echo last',
      ),
    );
    const first = 'line 1\nline 2\nline 3\nline 4\nline 5\n';
    await until('its first lines', async () => (await read(admin, 'talker')).startsWith(first));
    const followed = await read(admin, 'talker', { follow: true });
    expect(followed).toBe(`${first}${'x'.repeat(100_000)}\nlast\n`);
    expect(await read(admin, 'talker', { tailLines: 1 })).toBe('last\n');
    expect(await read(admin, 'talker', { tailLines: 0 })).toBe('');
    expect(await read(admin, 'talker', { limitBytes: 6 })).toBe('line 1');
  });

  test('not started, and gone, are told apart', async () => {
    await admin.create(
      'pods',
      { namespace: namespace.name },
      {
        metadata: { name: 'waiting' },
        spec: {
          automountServiceAccountToken: false,
          containers: [
            { name: 'main', image, command: ['true'], envFrom: [{ configMapRef: { name: 'missing' } }] },
          ],
        },
      },
    );
    await until('its container waits', async () => {
      const error = await read(admin, 'waiting').then(
        () => undefined,
        (caught: unknown) => caught,
      );
      return isNotStarted(error) && String(error).includes('waiting to start');
    });
    const gone = await read(admin, 'nobody').catch((error: unknown) => error);
    expect([isNotFound(gone), isNotStarted(gone)]).toEqual([true, false]);
  });

  test('a follower is stopped, and a broken connection is told', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    await expect(read(admin, 'worker', { follow: true }, stop.signal)).rejects.toThrow('stopped');
    await runPod(namespace.name, 'chatty', sh('while true; do echo tick; sleep 0.1; done'));
    const tunnel = await openTunnel(new URL(admin.server));
    const log = through(tunnel.url).log({ ...at('chatty'), follow: true }, new AbortController().signal);
    expect(text([(await log.next()).value!])).toStartWith('tick');
    tunnel.cut();
    const ending = (async () => {
      for await (const _ of log);
    })();
    await expect(ending).rejects.toBeInstanceOf(ConnectionError);
    tunnel.close();
  });
});
