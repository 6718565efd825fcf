/** Puts built artifacts together into one bundle, with what every bundle says of itself. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BundleFacts, bundle as bundleSchema } from '../../schemas/bundle.ts';
import { formatManifest } from '../../schemas/manifest.ts';
import { problemsOf } from '../../shared/read.ts';
import { jsonText } from '../../shared/read.ts';
import { VERSION } from '../../shared/version.ts';
import type { Built } from './cache.ts';
import { exchange } from './exchange.ts';
import type { Job, Ready } from './prepare.ts';
import { type BuiltFile, copyBuilt, listOf } from './tree.ts';

/** An artifact and its files; k8sbench's own parts are one more. */
export interface Part {
  fact: Omit<BundleFacts['artifacts'][number], 'files' | 'size_bytes' | 'paths'>;
  built: Built;
}

export const factOf = ({ artifact, name, key, sources, prepared }: Ready): Part['fact'] => ({
  name,
  kind: artifact.kind,
  key,
  ...(sources === undefined ? {} : { sources }),
  pins: prepared.pins,
  ...(prepared.version === undefined ? {} : { version: prepared.version }),
});

const toolchainsOf = ({ artifacts }: Job): Record<string, string> =>
  Object.fromEntries(
    artifacts
      .flatMap((one) => Object.entries(one.prepared.toolchains))
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );

/** bundle.json of these parts. */
export const factsOf = (job: Job, parts: readonly Part[]): BundleFacts => ({
  format: 'bundle/1',
  commit: job.asked.source.commit,
  arch: job.asked.arch,
  k8sbench: VERSION,
  recipe: { path: job.asked.source.recipe, sha256: job.recipeSha256 },
  toolchains: toolchainsOf(job),
  artifacts: parts.map(({ fact, built }) => ({
    ...fact,
    files: built.files.length,
    size_bytes: built.files.reduce((sum, one) => sum + one.size, 0),
    paths: topsOf(
      built.files,
      parts.flatMap((other) => (other.built === built ? [] : other.built.files)),
    ),
  })),
});

/** The directory of a file that stands for it, two steps deep at most; the file itself at the top. */
const topOf = ({ path }: BuiltFile): string => path.split('/').slice(0, -1).slice(0, 2).join('/') || path;

/** The shortest paths that hold all files of an artifact: directories of it alone, or its files. */
const topsOf = (files: readonly BuiltFile[], others: readonly BuiltFile[]): string[] => {
  if (files.length <= 8) return files.map((one) => one.path);
  const shared = new Set(files.map(topOf));
  for (const top of [...shared])
    if (!others.some((one) => one.path.startsWith(`${top}/`))) shared.delete(top);
  return [...new Set(files.map((one) => (shared.has(topOf(one)) ? one.path : topOf(one))))];
};

/** bundle.json of a directory; undefined: not there, or not ours. */
export const readFacts = (directory: string): BundleFacts | undefined => {
  const path = join(directory, 'bundle.json');
  if (!existsSync(path)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return problemsOf(bundleSchema, { value }, path).length === 0 ? (value as BundleFacts) : undefined;
  } catch {
    return undefined;
  }
};

const versionLines = (job: Job): string => {
  const node = job.recipe.artifacts.find((one) => one.kind === 'node')?.release ?? job.recipe.node;
  const versions: Record<string, string> = {
    arch: job.asked.arch,
    k8sbench: VERSION,
    ...(node === undefined ? {} : { node }),
    ...toolchainsOf(job),
  };
  for (const { prepared } of job.artifacts) Object.assign(versions, prepared.versions);
  return Object.entries(versions)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
};

/** Writes a bundle's files into an empty directory. */
export const assemble = async (job: Job, parts: readonly Part[], directory: string): Promise<void> => {
  mkdirSync(directory, { recursive: true });
  for (const { built } of parts) copyBuilt(built.directory, built.files, directory);
  writeFileSync(join(directory, 'bundle.json'), jsonText(factsOf(job, parts)), { flag: 'wx' });
  const list = (await listOf(directory)).filter((one) => one.target === undefined);
  writeFileSync(join(directory, 'ARTIFACTS.sha256'), formatList(list), { flag: 'wx' });
  writeFileSync(join(directory, 'COMMIT'), `${job.asked.source.commit}\n`, { flag: 'wx' });
  writeFileSync(join(directory, 'VERSIONS'), versionLines(job), { flag: 'wx' });
};

/** sha256sum's lines in bytewise order, the order that the files were listed in. */
const formatList = (files: readonly BuiltFile[]): string =>
  files.map((one) => formatManifest([{ sha256: one.sha256, path: one.path }])).join('');

/**
 * Puts a finished directory where the old one was; whoever looks finds one of them, whole. The old one is left beside the
 * finished one's place, or in it. Where the file system can't exchange two directories, there is none for a moment.
 */
export const replace = (fresh: string, directory: string): void => {
  mkdirSync(dirname(directory), { recursive: true });
  if (existsSync(directory)) {
    if (exchange(fresh, directory)) return;
    renameSync(directory, `${fresh}.old`);
  }
  renameSync(fresh, directory);
};
