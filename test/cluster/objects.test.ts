/** Lists, watches, creating and deleting on a real API server; what only a broken server does comes from a broken server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { isNotFound, isStatus, type KubernetesObject, type WatchEvent } from '../../shared/kubernetes.ts';
import { blocking, forgetHistory, killApiServer, startApiServer } from './faults.ts';
import { until } from './processes.ts';
import { admin, makeNamespace, ownDirectory, through } from './the-cluster.ts';
import { openTunnel } from './tunnel.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

type ConfigMap = KubernetesObject & { data?: Record<string, string> };
let namespace: Awaited<ReturnType<typeof makeNamespace>>;
const scope = (): { namespace: string } => ({ namespace: namespace.name });
const make = (name: string, data: Record<string, string> = {}): Promise<ConfigMap> =>
  admin.create<ConfigMap>('configmaps', scope(), { metadata: { name, labels: { of: 'test' } }, data });

beforeAll(async () => void (namespace = await makeNamespace('objects')));
afterAll(() => namespace.remove());

describe('lists', () => {
  test('more objects than a page holds, each once', async () => {
    await Promise.all(Array.from({ length: 260 }, (_, at) => make(`many-${at}`)));
    const listed = await admin.list<ConfigMap>('configmaps', { ...scope(), labelSelector: 'of=test' });
    expect(new Set(listed.map((one) => one.metadata.uid)).size).toBe(260);
    expect(listed).toHaveLength(260);
    let pages = 0;
    let seen = 0;
    const version = await admin.listPages<ConfigMap>(
      'configmaps',
      { ...scope(), labelSelector: 'of=test' },
      () => (seen = 0),
      (items) => {
        pages++;
        seen += items.length;
      },
      100,
    );
    expect([pages, seen]).toEqual([3, 260]);
    expect(version).toMatch(/^\d+$/);
  });
});

describe('single objects', () => {
  test('create, get, patch, and delete with the UID', async () => {
    const at = { ...scope(), name: 'single' };
    const made = await make('single', { a: '1' });
    const refused = await make('single').catch((error: unknown) => error);
    expect(isStatus(refused, 409)).toBe(true);
    expect(String(refused)).toMatch(/can't create configmaps in namespace '.*': .*already exists/);
    expect((await admin.patch<ConfigMap>('configmaps', at, { data: { b: '2' } })).data).toEqual({
      a: '1',
      b: '2',
    });
    expect(await admin.delete('configmaps', at, '00000000-0000-0000-0000-000000000000')).toBe(false);
    expect((await admin.get<ConfigMap>('configmaps', at)).metadata.uid).toBe(made.metadata.uid);
    expect(await admin.delete('configmaps', at, made.metadata.uid)).toBe(true);
    expect(await admin.delete('configmaps', at, made.metadata.uid)).toBe(false);
    expect(isNotFound(await admin.get('configmaps', at).catch((error: unknown) => error))).toBe(true);
  });

  test('a dry run makes nothing, and says what would be refused', async () => {
    await admin.create('configmaps', scope(), { metadata: { name: 'dry' } }, { dryRun: true });
    expect(admin.get('configmaps', { ...scope(), name: 'dry' })).rejects.toThrow('not found');
    expect(
      admin.create('configmaps', scope(), { metadata: { name: 'Not A Name' } }, { dryRun: true }),
    ).rejects.toThrow('Invalid value');
  });

  test('YAML is read by the server', async () => {
    const made = await admin.create<ConfigMap>(
      'configmaps',
      scope(),
      'metadata: {name: from-yaml}\ndata: {a: "no"}\n',
    );
    expect(made.data).toEqual({ a: 'no' });
  });
});

/** Events of a watch as `type name`, until `stop`. */
const follow = (labelSelector: string, times?: Parameters<typeof admin.watch>[3], cluster = admin) => {
  const stop = new AbortController();
  const told: string[] = [];
  const versions = new Map<string, string>();
  const done = (async () => {
    const events: AsyncGenerator<WatchEvent<ConfigMap>> = cluster.watch(
      'configmaps',
      { ...scope(), labelSelector },
      stop.signal,
      times,
    );
    for await (const event of events) {
      told.push('object' in event ? `${event.type} ${event.object.metadata.name}` : event.type);
      if ('object' in event) versions.set(event.object.metadata.name, event.object.data?.['v'] ?? '');
    }
  })();
  return { told, versions, end: async () => (stop.abort(), done) };
};

const labelled = (name: string, label: string, v = ''): Promise<ConfigMap> =>
  admin.create<ConfigMap>('configmaps', scope(), { metadata: { name, labels: { w: label } }, data: { v } });

test('tell what is there, what changes and what goes', async () => {
  await labelled('w1', 'plain');
  const watched = follow('w=plain');
  await until('the first', () => watched.told.includes('complete'));
  const second = await labelled('w2', 'plain');
  await admin.patch('configmaps', { ...scope(), name: 'w1' }, { data: { v: 'changed' } });
  await admin.delete('configmaps', { ...scope(), name: 'w2' }, second.metadata.uid);
  await until('the last', () => watched.told.includes('gone w2'));
  await watched.end();
  expect(watched.told).toEqual(['is w1', 'complete', 'is w2', 'is w1', 'gone w2']);
  expect(watched.versions.get('w1')).toBe('changed');
});

describe('watches', () => {
  test('go on when the server ends them, without gap or repetition', async () => {
    const watched = follow('w=short', { server_s: 1, grace_ms: 2000, pause_ms: [50, 100] });
    for (let at = 0; at < 12; at++) {
      await labelled(`short-${at}`, 'short');
      await Bun.sleep(250);
    }
    await until('all', () => watched.told.includes('is short-11'));
    await watched.end();
    expect(watched.told.filter((one) => one !== 'complete')).toEqual(
      Array.from({ length: 12 }, (_, at) => `is short-${at}`),
    );
  });

  test('a connection that is cut is taken up again', async () => {
    const tunnel = await openTunnel(new URL(admin.server));
    const watched = follow(
      'w=cut',
      { server_s: 60, grace_ms: 2000, pause_ms: [50, 100] },
      through(tunnel.url),
    );
    await until('the start', () => watched.told.includes('complete'));
    await labelled('cut-1', 'cut');
    await until('the first', () => watched.told.includes('is cut-1'));
    tunnel.cut();
    await labelled('cut-2', 'cut');
    await until('the second', () => watched.told.includes('is cut-2'));
    await watched.end();
    tunnel.close();
    expect(watched.told.filter((one) => one.startsWith('is'))).toEqual(['is cut-1', 'is cut-2']);
  });

  if (ownDirectory) {
    const directory = ownDirectory;

    test('survive a killed API server', async () => {
      await labelled('killed-1', 'killed');
      const watched = follow('w=killed', { server_s: 60, grace_ms: 2000, pause_ms: [200, 1000] });
      await until('the start', () => watched.told.includes('complete'));
      await killApiServer(directory);
      await until('trouble', () => watched.told.includes('trouble'));
      await startApiServer(directory);
      await labelled('killed-2', 'killed');
      await until('the news', () => watched.told.includes('is killed-2'));
      await watched.end();
      expect(watched.told.filter((one) => one.startsWith('is'))).toEqual(['is killed-1', 'is killed-2']);
    }, 180_000);

    test('that come too late list again: what vanished meanwhile is told, what stayed is not', async () => {
      const doomed = await labelled('old-1', 'old');
      await labelled('old-2', 'old');
      const server = new URL(admin.server);
      const first = await openTunnel(server);
      const watched = follow(
        'w=old',
        { server_s: 60, grace_ms: 2000, pause_ms: [100, 200] },
        through(first.url),
      );
      await until('the start', () => watched.told.includes('complete'));
      first.close();
      await until('trouble', () => watched.told.includes('trouble'));
      await admin.delete('configmaps', { ...scope(), name: 'old-1' }, doomed.metadata.uid);
      await labelled('old-3', 'old');
      await forgetHistory(directory);
      const second = await openTunnel(server, Number(new URL(first.url).port));
      await until('the loss', () => watched.told.includes('gone old-1'));
      await until('the news', () => watched.told.filter((one) => one === 'complete').length === 2);
      await watched.end();
      second.close();
      expect(watched.told.filter((one) => one !== 'trouble')).toEqual([
        'is old-1',
        'is old-2',
        'complete',
        'gone old-1',
        'is old-3',
        'complete',
      ]);
    }, 180_000);

    test('a list whose next page comes too late starts again', async () => {
      let starts = 0;
      let seen: string[] = [];
      const fresh = (): void => {
        starts++;
        seen = [];
      };
      await admin.listPages<ConfigMap>(
        'configmaps',
        { ...scope(), labelSelector: 'of=test' },
        fresh,
        (items) => {
          seen.push(...items.map((one) => one.metadata.name));
          // The page after this one is asked for already, the one after that is not.
          if (starts === 1 && seen.length === 100) blocking(directory, 'forget-history');
        },
        100,
      );
      expect(starts).toBe(2);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeGreaterThan(259);
    }, 180_000);
  }
});
