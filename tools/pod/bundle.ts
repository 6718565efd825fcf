/** Bundles the session into one file: `bun tools/pod/bundle.ts [OUT]`, dist/pod.mjs by default. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256, writeAtomically } from '../../shared/files.ts';

const top = fileURLToPath(new URL('../..', import.meta.url));

/** The bundler heads each module with its path as seen from the current directory; ours are seen from the tree's top. */
const seenFromTop = (text: string): string =>
  text.replace(/^\/\/ (\S+\.ts)$/gm, (line, path: string) => {
    const full = resolve(path);
    return existsSync(full) ? `// ${relative(top, full)}` : line;
  });

/** Text of pod.mjs, the same from every directory. It must run on any Node from 20 on and on Bun, so it may import nothing but what they bring. */
export const podBundle = async (): Promise<string> => {
  const built = await Bun.build({
    entrypoints: [fileURLToPath(new URL('in-pod.ts', import.meta.url))],
    target: 'node',
    format: 'esm',
    // Everything that isn't of the runtime is bundled; a bare import that is left would fail in the pod.
    packages: 'bundle',
  });
  const [file] = built.outputs;
  if (!file || built.outputs.length !== 1) throw new Error('the session did not become one file');
  const text = seenFromTop(await file.text());
  const foreign = [...text.matchAll(/^import .*? from "([^"]+)"|\brequire\("([^"]+)"\)/gm)]
    .map((found) => found[1] ?? found[2]!)
    .filter((name) => !name.startsWith('node:'));
  if (foreign.length > 0)
    throw new Error(`the session imports ${foreign.join(', ')}, which a pod may not have`);
  return text;
};

if (import.meta.main) {
  const out = process.argv[2] ?? join(top, 'dist/pod.mjs');
  const text = await podBundle();
  mkdirSync(dirname(out), { recursive: true });
  writeAtomically(out, text);
  process.stderr.write(`pod: ${out} (${text.length} bytes, sha256 ${sha256(text)})\n`);
}
