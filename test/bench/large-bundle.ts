/** A made-up bundle of 1 GB in 20,000 files: `large-bundle.ts OUT`. Sizes from a few hundred bytes to a megabyte, content as programs and texts have it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { inTree } from './bed.ts';

const FILES = 20_000;
const BYTES = 1e9;

const makeLargeBundle = (out: string): void => {
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const weights = Array.from({ length: FILES }, () => Math.exp(8 * random()));
  const sum = weights.reduce((all, one) => all + one, 0);
  // What compresses as a bundle's files do: half of it a program's bytes, half of it text.
  const program = readFileSync(process.execPath).subarray(0, 64 << 20);
  const text = readFileSync(inTree('bun.lock'));
  const content = Buffer.concat([
    program,
    ...Array.from({ length: Math.ceil((64 << 20) / text.length) }, () => text),
  ]);
  const lines: string[] = [];
  for (const [at, weight] of weights.entries()) {
    const size = Math.round((weight / sum) * BYTES);
    const from = Math.floor(random() * (content.length - size));
    const bytes = content.subarray(from, from + size);
    const path = `lib/part-${at % 200}/file-${at}`;
    mkdirSync(join(out, path, '..'), { recursive: true });
    writeFileSync(join(out, path), bytes);
    lines.push(`${sha256(bytes)}  ${path}\n`);
  }
  writeFileSync(join(out, 'ARTIFACTS.sha256'), lines.join(''));
  writeFileSync(join(out, 'COMMIT'), `${'c0ffee'.repeat(6)}c0ff\n`);
  writeFileSync(join(out, 'VERSIONS'), 'arch=amd64\n');
};

if (import.meta.main) makeLargeBundle(process.argv[2]!);
