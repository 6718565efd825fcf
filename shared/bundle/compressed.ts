/**
 * A bundle's archive as gzip: blocks of it are compressed side by side and written in order, so that the bytes depend on the
 * archive alone and not on how many cores are here. One gzip member (RFC 1952) without name and time.
 */
import { constants, deflateRaw } from 'node:zlib';
import { ArchiveReader } from './archive.ts';
import type { Contents } from './contents.ts';

const BLOCK = 1 << 20;
/** Blocks under way: as many as cores could be busy with, and few enough to stay small. */
const SIDE_BY_SIDE = 8;
/** gzip's own default, pigz's too. */
const LEVEL = 6;

const HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** The end of a deflate stream: one last block without content. */
const LAST = Uint8Array.of(3, 0);

/** One block, ended on a byte boundary, so that the next can follow it (RFC 1951 §3.2.4, an empty stored block). */
const deflated = (block: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    deflateRaw(
      block,
      { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: BLOCK },
      (error, result) => (error ? reject(error) : resolve(result)),
    ),
  );

export interface Compressed {
  parts: AsyncGenerator<Uint8Array>;
  /** Once all parts were taken: SHA-256 of the archive before compression. */
  identity(): string;
}

export interface How {
  /** Sees the files that aren't as they are listed, before the last part; files are hashed for it. */
  atEnd?(changed: readonly string[]): void;
  /** Everything stands below this directory. */
  under?: string;
  /** Blocks under way. */
  sideBySide?: number;
  /** Learns of the archive's bytes, as they are taken. */
  count?(bytes: number): void;
}

/** The compressed archive, made as it is asked for. */
export const compressed = (
  contents: Contents,
  { atEnd, under = '', sideBySide = SIDE_BY_SIDE, count }: How = {},
): Compressed => {
  const hash = new Bun.CryptoHasher('sha256');
  const made = async function* (): AsyncGenerator<Uint8Array> {
    const reader = new ArchiveReader(contents, { digests: atEnd !== undefined, under });
    const blocks = Array.from({ length: sideBySide }, () => Buffer.allocUnsafe(BLOCK));
    const underWay: Promise<Buffer>[] = [];
    let [crc, size, ended] = [0, 0, false];
    try {
      yield HEAD;
      for (let at = 0; ; at++) {
        const block = blocks[at % sideBySide]!;
        const got = ended ? 0 : reader.fill(block);
        if (got > 0) {
          const part = block.subarray(0, got);
          hash.update(part);
          crc = Bun.hash.crc32(part, crc);
          size += got;
          count?.(got);
          const result = deflated(part);
          // Told where it is awaited.
          result.catch(() => undefined);
          underWay.push(result);
        } else ended = true;
        if (underWay.length === 0) break;
        if (ended || underWay.length === sideBySide) yield await underWay.shift()!;
      }
    } finally {
      reader.close();
      await Promise.allSettled(underWay);
    }
    atEnd?.(reader.changed);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(size % 2 ** 32, 4);
    yield LAST;
    yield trailer;
  };
  return { parts: made(), identity: () => hash.digest('hex') };
};
