/** The files of run directories, held to their formats. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FORMATS } from '../schemas/formats.ts';
import { parseManifest } from '../schemas/manifest.ts';
import { problemsOf } from '../shared/read.ts';

/** Every file below a directory, by its path inside it. */
export const filesIn = (dir: string): string[] =>
  (readdirSync(dir, { recursive: true }) as string[])
    .filter((name) => statSync(join(dir, name)).isFile())
    .toSorted();

/** Problems of every file of a run against its schema; a file that no format knows is one. */
export const unfit = (dir: string): string[] =>
  filesIn(dir).flatMap((path) => {
    const file = basename(path);
    if (file === 'ENV.txt') return [];
    const format = Object.values(FORMATS).find(
      (one) => one.file === file || (file === 'values.json' && one.file === 'values.yaml'),
    );
    if (!format) return [`${path}: no format knows it`];
    const content = readFileSync(join(dir, path), 'utf8');
    const records =
      format.shape === 'jsonl'
        ? content
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as unknown)
        : [format.shape === 'sha256sum' ? parseManifest(content) : (JSON.parse(content) as unknown)];
    return records.flatMap((value) => problemsOf(format.schema, { value }, path));
  });
