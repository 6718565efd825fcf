/** `bundle check`: everything that can be known to be wrong with a bundle before a session uses it. Spec §8. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import { archiveDigests } from '../../shared/bundle/archive.ts';
import { changedProblem, type Contents, missingPrograms, readBundle } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { readProfile } from '../../shared/profiles/read.ts';
import { executablesOf } from './executables.ts';
import { missingNeeds } from '../../shared/bundle/needs.ts';
import type { BundleCall } from './flags.ts';

export interface Checked {
  contents: Contents;
  problems: string[];
  /** What the base image must have, one sentence each. */
  needs: string[];
  /** When there are no problems. */
  identity: string;
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

/** Everything but the files' digests: what can be said without reading all of it. */
export const lookAtBundle = async (
  directory: string,
  shown: string,
  profile?: Profile,
): Promise<Omit<Checked, 'identity'>> => {
  const contents = await readBundle(directory, shown, { digests: false });
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
    ...missingNeeds(contents, profile?.needs ?? []),
  ];
  return { contents, problems: [...contents.problems, ...of(shown, more)], needs: executables.needs };
};

/** Problems of a bundle, as they are told. */
export const of = (shown: string, problems: readonly string[]): string[] =>
  problems.map((one) => `bundle '${shown}': ${one}`);

/** Reads and checks a directory as a bundle, each file once; `shown` is its name in messages. */
export const checkBundle = async (directory: string, shown: string, profile?: Profile): Promise<Checked> => {
  const looked = await lookAtBundle(directory, shown, profile);
  if (looked.contents.files.length === 0) return { ...looked, identity: '' };
  try {
    const { identity, changed } = await archiveDigests(looked.contents, { digests: true });
    return { ...looked, identity, problems: [...looked.problems, ...of(shown, changed.map(changedProblem))] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...looked, identity: '', problems: [...looked.problems, ...error.problems] };
  }
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
    const { contents, problems, needs, identity } = await checkBundle(directory, shown, profile);
    if (problems.length > 0) throw failed(problems);
    for (const one of needs) call.talk.info(one);
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
