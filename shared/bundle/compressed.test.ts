import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sha256 } from '../files.ts';
import { archiveOf } from './archive.ts';
import { compressed, type How } from './compressed.ts';
import { type Contents, readBundle } from './contents.ts';

const directory = mkdtempSync(join(tmpdir(), 'k8sbench-compressed-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Some MB: several blocks, the last one not full. */
const files: Readonly<Record<string, Buffer>> = {
  'share/noise': Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))),
  'share/zeros': Buffer.alloc(3_000_001),
  'share/text': Buffer.from('word '.repeat(200_000)),
};
let contents: Contents;
beforeAll(async () => {
  mkdirSync(join(directory, 'share'));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes);
  writeFileSync(join(directory, 'COMMIT'), '');
  writeFileSync(join(directory, 'VERSIONS'), 'arch=amd64\n');
  const sums = Object.entries(files).map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
  writeFileSync(join(directory, 'ARTIFACTS.sha256'), sums.toSorted().join(''));
  contents = await readBundle(directory);
  expect(contents.problems).toEqual([]);
});

const whole = async (parts: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part.slice());
  return Buffer.concat(all);
};

test.each<How>([{}, { sideBySide: 1 }, { sideBySide: 3 }])(
  'it is the archive, whole, with its identity: %p',
  async (how) => {
    let counted = 0;
    const { parts, identity } = compressed(contents, { ...how, count: (bytes) => (counted += bytes) });
    const archive = await whole(archiveOf(contents));
    const found = gunzipSync(await whole(parts));
    expect(found.equals(archive)).toBe(true);
    expect([counted, identity()]).toEqual([archive.length, sha256(archive)]);
  },
);

test('how many blocks are under way does not change a byte', async () => {
  const of = (sideBySide: number): Promise<Buffer> => whole(compressed(contents, { sideBySide }).parts);
  expect((await of(1)).equals(await of(8))).toBe(true);
});

test('a file that is not as it is listed is told at the end', async () => {
  writeFileSync(join(directory, 'share/text'), Buffer.alloc(files['share/text']!.length));
  const told: string[][] = [];
  await whole(compressed(contents, { atEnd: (changed) => void told.push([...changed]) }).parts);
  expect(told).toEqual([['share/text']]);
});
