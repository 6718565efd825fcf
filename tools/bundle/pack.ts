/** `bundle pack`: one compressed archive, the same bytes on every machine. Its identity is the digest before compression. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { archiveDigests } from '../../shared/bundle/archive.ts';
import { compressed } from '../../shared/bundle/compressed.ts';
import { changedProblem, type Contents } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { streamAtomically } from '../../shared/files.ts';
import { bundleDirectory, lookAtBundle, of } from './check.ts';
import type { BundleCall } from './flags.ts';

const refuseChanged = (shown: string, changed: readonly string[]): void => {
  if (changed.length > 0) throw failed(of(shown, changed.map(changedProblem)));
};

/** The archive on stdout, once every file was found to be as it is listed: a program that reads it must not get half of it. */
const packOut = async (contents: Contents, shown: string, { world, talk }: BundleCall): Promise<void> => {
  const { identity, changed } = await archiveDigests(contents, { digests: true });
  refuseChanged(shown, changed);
  talk.info(`${identity}  ${shown}`);
  await talk.flushed();
  for await (const part of compressed(contents).parts) {
    if (world.stdout.closed) return;
    await world.stdout.write(part);
  }
};

/** The file that the archive goes to; undefined: standard output. */
const destination = ({ flags, world }: BundleCall, shown: string, directory: string): string | undefined => {
  const out = flags.out ?? `${shown.replace(/\/+$/, '')}.tar.gz`;
  if (out === '-') {
    if (world.stdout.isTerminal)
      throw usage("flag '--out': '-' is a terminal here; send it into a file or a program");
    return undefined;
  }
  const path = resolve(world.cwd, out);
  if (`${path}/`.startsWith(`${directory}/`))
    throw usage(`flag '--out': '${out}' lies in the bundle itself; name another place`);
  if (existsSync(path) && !statSync(path).isFile()) throw usage(`flag '--out': '${out}' is not a file`);
  return out;
};

export const pack = {
  about: 'DIR: checks a bundle and writes it as one archive; prints its identity and the file',
  words: 1,
  flags: ['out'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const shown = call.words[1]!;
    const directory = bundleDirectory(call, shown);
    const out = destination(call, shown, directory);
    const { contents, problems, needs } = await lookAtBundle(directory, shown);
    if (problems.length > 0) throw failed(problems);
    for (const one of needs) call.talk.info(one);
    if (out === undefined) {
      await packOut(contents, shown, call);
      return EXIT.done;
    }
    // Files are hashed while they are packed; nothing is written when one of them isn't as it is listed.
    const { parts, identity } = compressed(contents, {
      atEnd: (changed) => refuseChanged(shown, changed),
    });
    await streamAtomically(resolve(call.world.cwd, out), parts);
    await call.talk.flushed();
    await call.world.stdout.write(`${identity()}  ${out}\n`);
    return EXIT.done;
  },
};
