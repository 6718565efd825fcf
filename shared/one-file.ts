/** Programs that run in pods, each as one file: it runs on any Node from 20 on and on Bun, wherever it lies. */
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { inTree } from './own-files.ts';

/** The bundler heads each module with its path as seen from the current directory; ours are seen from the tree's top. */
const seenFromTop = (text: string): string =>
  text.replace(/^\/\/ (\S+\.ts)$/gm, (line, path: string) => {
    const full = resolve(path);
    return existsSync(full) ? `// ${relative(inTree(''), full)}` : line;
  });

/** A module of the source tree with all it imports, the same text from every directory; nothing but the runtime's modules is left to import. */
export const oneFile = async (path: string): Promise<string> => {
  const built = await Bun.build({
    entrypoints: [inTree(path)],
    target: 'node',
    format: 'esm',
    // Everything that isn't of the runtime is bundled; a bare import that is left would fail in the pod.
    packages: 'bundle',
  });
  const [file] = built.outputs;
  if (!file || built.outputs.length !== 1) throw new Error(`'${path}' did not become one file`);
  const text = seenFromTop(await file.text());
  const foreign = [...text.matchAll(/^import .*? from "([^"]+)"|\brequire\("([^"]+)"\)/gm)]
    .map((found) => found[1] ?? found[2]!)
    .filter((name) => !name.startsWith('node:'));
  if (foreign.length > 0)
    throw new Error(`'${path}' imports ${foreign.join(', ')}, which a pod may not have`);
  return text;
};
