/** Manifests as one text: YAML documents in the order in which they have to be applied. */
import { formatYaml } from '../yaml-format.ts';

/** `# ` before each line. */
export const comment = (lines: readonly string[]): string =>
  lines.map((line) => (line === '' ? '#\n' : `# ${line}\n`)).join('');

/** Objects as documents; the words before the first say what it is about. */
export const documents = (objects: readonly object[], about: readonly string[] = []): string =>
  comment(about) + objects.map((one) => formatYaml(one, { plain: true })).join('---\n');
