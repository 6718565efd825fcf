import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Profile, profile } from '../../schemas/profile.ts';
import { Failure, usage } from '../failure.ts';
import { check, parseJson, readText } from '../read.ts';
import { readStdin, type World } from '../world.ts';
import { BUILT_IN } from './built-in.ts';

export interface ReadProfile {
  profile: Profile;
  /** It came with k8sbench: its programs stand in the built-in workloads, or in a bundle of them. */
  builtIn: boolean;
}

/** A text as a profile, checked; `shown` names it in messages. */
const parseProfile = (text: string, shown: string): Profile =>
  check(profile, { value: parseJson(text, shown, usage) }, shown, usage);

/**
 * The profile that a user names: a built-in name, a JSON file, or `-` for stdin. A word without `/` and `.json` is a built-in
 * name first, so that a stray file never stands in for one. Every problem of it is told at once, exit 2.
 */
export const readProfile = async (given: string, world: World): Promise<ReadProfile> => {
  if (given === '-') return { profile: parseProfile(await readStdin(world), 'stdin'), builtIn: false };
  if (Object.hasOwn(BUILT_IN, given)) return { profile: BUILT_IN[given]!, builtIn: true };
  const path = resolve(world.cwd, given);
  if (!existsSync(path))
    throw usage(
      given.includes('/') || given.endsWith('.json')
        ? `profile file '${given}' does not exist`
        : `no profile '${given}'; built in are ${Object.keys(BUILT_IN).join(', ')}; a file is named by its path`,
    );
  try {
    return { profile: parseProfile(readText(path, given), given), builtIn: false };
  } catch (error) {
    // An unreadable file was named on the command line: that is where the mistake is.
    throw error instanceof Failure ? usage(error.problems) : error;
  }
};
