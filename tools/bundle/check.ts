/** `bundle check`: everything that can be known to be wrong with a bundle before a session uses it. Spec §8. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import { archiveDigest } from '../../shared/bundle/archive.ts';
import { type Contents, missingPrograms, readBundle } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { readProfile } from '../../shared/profiles/read.ts';
import { executablesOf } from './executables.ts';
import type { BundleCall } from './verbs.ts';

export interface Checked {
  contents: Contents;
  problems: string[];
  needs: string[];
}

/** Strays told by name; a forgotten directory has thousands. */
const STRAYS = 10;

const strays = (unlisted: readonly string[]): string[] => [
  ...unlisted
    .slice(0, STRAYS)
    .map((path) => `'${path}' is not listed in ARTIFACTS.sha256; list or remove it`),
  ...(unlisted.length > STRAYS ? [`${unlisted.length - STRAYS} more files are not listed`] : []),
];

/** Whether a target's first word is a program of Node's, or a script that the base image's Node runs. */
const startsNode = (profile: Profile): boolean =>
  profile.targets.some((one) =>
    [one.seed, one.sample, one.command, one.prepare].some((command) => command?.[0] === 'node'),
  );

const nodeProblems = ({ versions }: Contents, profile: Profile | undefined): string[] => {
  const release = versions['node'];
  if (release === undefined)
    return profile && startsNode(profile)
      ? ["VERSIONS lacks 'node=v…': the release of Node that the targets are started with is not known"]
      : [];
  return /^v\d+\.\d+\.\d+$/.test(release)
    ? []
    : [`VERSIONS: expected a Node release such as node=v24.1.0, found 'node=${release}'`];
};

const archProblems = ({ versions, arch }: Contents): string[] =>
  versions['arch'] === undefined || arch === undefined || versions['arch'] === arch
    ? []
    : [`VERSIONS says arch=${versions['arch']}, and the programs in bin/ are for ${arch}`];

/** Reads and checks a directory as a bundle; `shown` is its name in messages. */
export const checkBundle = async (directory: string, shown: string, profile?: Profile): Promise<Checked> => {
  const contents = await readBundle(directory, shown);
  if (contents.files.length === 0) return { contents, problems: contents.problems, needs: [] };
  const executables = executablesOf(contents);
  const known = contents.problems.join('\n');
  const more = [
    ...strays(contents.unlisted),
    // What the first reading said of a file in bin/ is not said again.
    ...executables.problems.filter((one) => !known.includes(/^'bin\/[^']*'/.exec(one)?.[0] ?? '\0')),
    ...archProblems(contents),
    ...nodeProblems(contents, profile),
    ...missingPrograms(contents, profile?.targets ?? []),
  ].map((one) => `bundle '${shown}': ${one}`);
  return { contents, problems: [...contents.problems, ...more], needs: executables.needs };
};

/** A directory that the command line names. */
export const bundleDirectory = (call: BundleCall, given: string): string => {
  const path = resolve(call.world.cwd, given);
  if (!existsSync(path)) throw usage(`bundle '${given}' does not exist; 'k8sbench bundle build' makes one`);
  if (!statSync(path).isDirectory()) throw usage(`bundle '${given}' is not a directory`);
  return path;
};

export const check = {
  about: 'DIR: everything that is wrong with a bundle, at once; prints its identity',
  words: 1,
  flags: ['profile', 'json'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const shown = call.words[1]!;
    const directory = bundleDirectory(call, shown);
    const profile = call.flags.profile
      ? (await readProfile(call.flags.profile, call.world)).profile
      : undefined;
    const { contents, problems, needs } = await checkBundle(directory, shown, profile);
    if (problems.length > 0) throw failed(problems);
    for (const one of needs) call.talk.info(one);
    const identity = await archiveDigest(contents);
    const { commit, arch, versions, files } = contents;
    const size_bytes = files.reduce((sum, one) => sum + one.size, 0);
    await call.talk.flushed();
    await call.world.stdout.write(
      call.flags.json
        ? jsonText({ sha256: identity, commit, arch, versions, files: files.length, size_bytes, needs })
        : `${identity}  ${shown}\n`,
    );
    return EXIT.done;
  },
};
