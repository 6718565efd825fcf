/** Downloads that end before they are done: nothing of them stays, and the reason is the real one. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../shared/failure.ts';
import type { World } from '../../shared/world.ts';
import { archiveFile, fetchArchive } from './download.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-download-'));
/** Half of an answer, and then nothing; `/mute` has not even that. */
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    if (request.url.endsWith('/mute')) await Bun.sleep(5000);
    return new Response(async function* () {
      yield 'half';
      await Bun.sleep(5000);
    } as unknown as BodyInit);
  },
});
afterAll(() => {
  void server.stop(true);
  rmSync(base, { recursive: true });
});

test.each(['mute', 'half'])('^C while /%s is fetched', async (path) => {
  for (const pinned of [false, true]) {
    const controller = new AbortController();
    const world = {
      cwd: base,
      env: { XDG_CACHE_HOME: base },
      interrupted: controller.signal,
    } as unknown as World;
    const url = new URL(path, server.url).href;
    const asked = pinned
      ? archiveFile({ url, size: 100, sha256: 'a'.repeat(64) }, { world }, () => undefined)
      : fetchArchive(url, join(base, 'to'), { world, say: () => undefined });
    setTimeout(() => controller.abort('SIGINT'), 100);
    const error = (await asked.catch((one: unknown) => one)) as Failure;
    expect([error.exit, error.message]).toEqual([130, `interrupted by SIGINT while '${url}' was downloaded`]);
  }
  const left = readdirSync(base, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  expect(left.map((one) => one.name)).toEqual([]);
});
