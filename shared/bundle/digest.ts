/** Digests of files of a bundle, tens of thousands of them: small ones are read without streams. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

const BLOCK = Buffer.allocUnsafe(256 << 10);
/** After so many bytes others have their turn: ^C is heard. */
const TURN = 64 << 20;
let since = 0;

/** SHA-256 of a file, in hex; a link is not followed. */
export const fileDigest = async (path: string): Promise<string> => {
  const hash = new Bun.CryptoHasher('sha256');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    for (;;) {
      const got = readSync(fd, BLOCK, 0, BLOCK.length, null);
      if (got === 0) return hash.digest('hex');
      hash.update(BLOCK.subarray(0, got));
      since += got;
      if (since < TURN) continue;
      since = 0;
      await setImmediate();
    }
  } finally {
    closeSync(fd);
  }
};
