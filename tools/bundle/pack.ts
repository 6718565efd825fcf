/** `bundle pack`: one compressed archive, the same bytes on every machine. Its identity is the digest before compression. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { compressed } from '../../shared/bundle/compressed.ts';
import { changedProblem } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { streamAtomically } from '../../shared/files.ts';
import { bundleDirectory, lookAtBundle, of } from './check.ts';
import type { BundleCall } from './flags.ts';

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
    const { contents, problems, needs } = await lookAtBundle(directory, shown);
    if (problems.length > 0) throw failed(problems);
    for (const one of needs) call.talk.info(one);
    // Files are hashed while they are packed; nothing is written when one of them isn't as it is listed.
    const { parts, identity } = compressed(contents, {
      atEnd(changed) {
        if (changed.length > 0) throw failed(of(shown, changed.map(changedProblem)));
      },
    });
    await streamAtomically(path, parts);
    await call.talk.flushed();
    await call.world.stdout.write(`${identity()}  ${out}\n`);
    return EXIT.done;
  },
};
