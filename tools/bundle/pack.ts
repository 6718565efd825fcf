/** `bundle pack`: one compressed archive, the same bytes on every machine. Its identity is the digest before compression. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createGzip } from 'node:zlib';
import { archiveOf } from '../../shared/bundle/archive.ts';
import type { Contents } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { streamAtomically } from '../../shared/files.ts';
import { bundleDirectory, checkBundle } from './check.ts';
import type { BundleCall } from './verbs.ts';

/** Beyond it, archives of programs get hardly smaller, and packing much slower. */
const LEVEL = 4;

/** The archive, compressed; its identity once all parts were read. zlib writes no name and no time. */
const compressed = (contents: Contents): { parts: AsyncIterable<Uint8Array>; identity: () => string } => {
  const hash = new Bun.CryptoHasher('sha256');
  const gzip = createGzip({ level: LEVEL, chunkSize: 1 << 20 });
  const fill = async (): Promise<void> => {
    for await (const part of archiveOf(contents)) {
      hash.update(part);
      if (!gzip.write(part)) await new Promise<void>((drained) => gzip.once('drain', drained));
    }
    gzip.end();
  };
  fill().catch((error: unknown) => gzip.destroy(error as Error));
  return { parts: gzip as AsyncIterable<Uint8Array>, identity: () => hash.digest('hex') };
};

export const pack = {
  about: 'DIR: checks a bundle and writes it as one archive; prints its identity and the file',
  words: 1,
  flags: ['out'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const shown = call.words[1]!;
    const directory = bundleDirectory(call, shown);
    const out = call.flags.out ?? `${shown.replace(/\/+$/, '')}.tar.gz`;
    const path = resolve(call.world.cwd, out);
    if (`${path}/`.startsWith(`${directory}/`))
      throw usage(`flag '--out': '${out}' lies in the bundle itself; name another place`);
    if (existsSync(path) && !statSync(path).isFile()) throw usage(`flag '--out': '${out}' is not a file`);
    const { contents, problems, needs } = await checkBundle(directory, shown);
    if (problems.length > 0) throw failed(problems);
    for (const one of needs) call.talk.info(one);
    const { parts, identity } = compressed(contents);
    await streamAtomically(path, parts);
    await call.talk.flushed();
    await call.world.stdout.write(`${identity()}  ${out}\n`);
    return EXIT.done;
  },
};
