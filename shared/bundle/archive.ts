/**
 * A bundle as one tar archive: paths sorted, fixed times, no owners, two modes; the same bytes on every machine. Its identity
 * is the SHA-256 of these bytes, before any compression (spec §8).
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { type Headers, pack } from 'tar-stream';
import { failed } from '../failure.ts';
import type { BundleFile, BundleLink, Contents } from './contents.ts';

const EPOCH = new Date(0);
const CHUNK = 1 << 20;

const header = (path: string, more: Partial<Headers>): Headers => ({
  name: path,
  mtime: EPOCH,
  uid: 0,
  gid: 0,
  uname: '',
  gname: '',
  ...more,
});

/** Everything in the archive, in its order. */
const entriesOf = ({ files, links }: Contents): (BundleFile | BundleLink)[] =>
  [...files, ...links].toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

/** Bytes of the archive: each entry's head and content in blocks of 512, two empty blocks at the end; long names take more. */
export const archiveSize = (contents: Contents): number =>
  contents.files.reduce(
    (sum, one) => sum + 512 + Math.ceil(one.size / 512) * 512,
    1024 + contents.links.length * 512,
  );

/** The archive's bytes, made as they are asked for. A file that changes meanwhile is an error. */
export async function* archiveOf(contents: Contents): AsyncGenerator<Uint8Array> {
  const archive = pack();
  const fill = async (): Promise<void> => {
    for (const entry of entriesOf(contents)) {
      if ('target' in entry) {
        archive.entry(header(entry.path, { type: 'symlink', linkname: entry.target, mode: 0o777 }));
        continue;
      }
      const { path, size, executable } = entry;
      await new Promise<void>((resolve, reject) => {
        const sink = archive.entry(header(path, { size, mode: executable ? 0o755 : 0o644 }), (error) =>
          error ? reject(error) : resolve(),
        );
        sink.on('error', reject);
        if (size === 0) return sink.end();
        const source = createReadStream(join(contents.directory, path), { highWaterMark: CHUNK });
        source.on('error', reject);
        source.on('data', (part) => {
          if (!sink.write(part)) {
            source.pause();
            sink.once('drain', () => source.resume());
          }
        });
        source.on('end', () => sink.end());
      }).catch((error: unknown) => {
        throw failed(`can't pack '${path}': ${(error as Error).message}; does something change the bundle?`);
      });
    }
    archive.finalize();
  };
  // Told where the parts are read.
  archive.on('error', () => undefined);
  const filled = fill().catch((error: unknown) => archive.destroy(error as Error));
  for await (const part of archive as AsyncIterable<Uint8Array>) yield part;
  await filled;
}

/** The bundle's identity. */
export const archiveDigest = async (contents: Contents): Promise<string> => {
  const hash = new Bun.CryptoHasher('sha256');
  for await (const part of archiveOf(contents)) hash.update(part);
  return hash.digest('hex');
};
