/** `bundle diff`: which artifact, which version, which bytes two bundles differ in. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleFacts } from '../../schemas/bundle.ts';
import { type Contents, readBundle } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { plainText } from '../../shared/terminal.ts';
import { readFacts } from './assemble.ts';
import { bundleDirectory } from './check.ts';
import { type BuiltFile, listOf } from './tree.ts';
import type { BundleCall } from './flags.ts';

export type Difference =
  | { what: 'commit' | 'version' | 'artifact'; name: string; a: string | null; b: string | null }
  | {
      what: 'file';
      name: string;
      artifact: string | null;
      a: number | null;
      b: number | null;
      at: number | null;
    };

/** Offset of the first byte in which two files differ; the shorter one's length when it is the other's beginning. */
export const firstDifference = (a: string, b: string): number => {
  const fds = [openSync(a, 'r'), openSync(b, 'r')] as const;
  try {
    const [left, right] = [Buffer.alloc(1 << 16), Buffer.alloc(1 << 16)];
    for (let offset = 0; ;) {
      const [gotLeft, gotRight] = [
        readSync(fds[0], left, 0, left.length, offset),
        readSync(fds[1], right, 0, right.length, offset),
      ];
      const both = Math.min(gotLeft, gotRight);
      if (left.compare(right, 0, both, 0, both) !== 0) {
        let at = 0;
        while (left[at] === right[at]) at++;
        return offset + at;
      }
      offset += both;
      if (both === 0 || gotLeft !== gotRight) return offset;
    }
  } finally {
    fds.forEach(closeSync);
  }
};

/** Names of either, in order, whose values differ. */
const differing = <T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  same: (a: T, b: T) => boolean,
): string[] =>
  [...new Set([...a.keys(), ...b.keys()])]
    .filter((name) => !a.has(name) || !b.has(name) || !same(a.get(name)!, b.get(name)!))
    .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

/** What determines an artifact, in few words: what of it differs. */
const reasons = (facts: BundleFacts | undefined): Map<string, string> =>
  new Map(
    (facts?.artifacts ?? []).map(({ name, version, sources, pins, key }) => [
      name,
      [
        ...(version === undefined ? [] : [version]),
        ...(sources === undefined ? [] : [`sources ${sources.slice(0, 12)}`]),
        ...Object.entries(pins).map(([path, digest]) => `${path} ${digest.slice(0, 12)}`),
        `key ${key.slice(0, 12)}`,
      ].join(', '),
    ]),
  );

/** The artifact that a file belongs to, as bundle.json says. */
const ownerOf = (path: string, ...facts: (BundleFacts | undefined)[]): string | null =>
  facts
    .flatMap((one) => one?.artifacts ?? [])
    .find(({ paths }) => paths.some((one) => path === one || path.startsWith(`${one}/`)))?.name ?? null;

const filesOf = async ({ directory }: Contents): Promise<Map<string, BuiltFile>> =>
  new Map((await listOf(directory)).map((one) => [one.path, one] as const));

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** All differences of two bundles: what they say of themselves first, then files. */
const differencesOf = async (a: Contents, b: Contents): Promise<Difference[]> => {
  const [factsA, factsB] = [readFacts(a.directory), readFacts(b.directory)];
  const all: Difference[] = [];
  if (a.commit !== b.commit)
    all.push({ what: 'commit', name: 'COMMIT', a: a.commit ?? null, b: b.commit ?? null });
  const texts = (
    what: 'version' | 'artifact',
    left: Map<string, string>,
    right: Map<string, string>,
  ): void => {
    for (const name of differing(left, right, (one, other) => one === other))
      all.push({ what, name, a: left.get(name) ?? null, b: right.get(name) ?? null });
  };
  texts('version', new Map(Object.entries(a.versions)), new Map(Object.entries(b.versions)));
  texts('artifact', reasons(factsA), reasons(factsB));
  const [left, right] = [await filesOf(a), await filesOf(b)];
  for (const name of differing(left, right, same)) {
    const [inA, inB] = [left.get(name), right.get(name)];
    const bothFiles =
      inA && inB && inA.target === undefined && inB.target === undefined && inA.sha256 !== inB.sha256;
    const at = bothFiles ? firstDifference(join(a.directory, name), join(b.directory, name)) : null;
    all.push({
      what: 'file',
      name,
      artifact: ownerOf(name, factsA, factsB),
      a: inA?.size ?? null,
      b: inB?.size ?? null,
      at,
    });
  }
  return all;
};

const line = (one: Difference): string => {
  if (one.what !== 'file')
    return `${one.what} ${plainText(one.name)}: ${plainText(one.a ?? 'none')} → ${plainText(one.b ?? 'none')}\n`;
  const of = one.artifact === null ? '' : ` (${plainText(one.artifact)})`;
  const name = `file ${plainText(one.name)}${of}:`;
  if (one.a === null) return `${name} only in the second, ${one.b} bytes\n`;
  if (one.b === null) return `${name} only in the first, ${one.a} bytes\n`;
  return one.at === null
    ? `${name} another mode or link\n`
    : `${name} differs from byte ${one.at} on, ${one.a} → ${one.b} bytes\n`;
};

export const diff = {
  about:
    'A B: what two bundles differ in: commit, versions, artifacts, files; prints nothing when in nothing',
  words: 2,
  flags: ['json'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const [a, b] = [call.words[1]!, call.words[2]!];
    const contents = await Promise.all(
      [a, b].map((one) => readBundle(bundleDirectory(call, one), one, { digests: false })),
    );
    const unread = contents.filter((one) => one.files.length === 0).flatMap((one) => one.problems);
    if (unread.length > 0) throw failed(unread);
    const all = await differencesOf(contents[0]!, contents[1]!);
    await call.world.stdout.write(call.flags.json ? jsonText(all) : all.map(line).join(''));
    return EXIT.done;
  },
};
