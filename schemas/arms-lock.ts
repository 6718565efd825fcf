/** arms.lock: agents that can be measured, pinned to the last byte for each architecture. Spec §8. */
import * as v from 'valibot';
import { pinnedArchive } from './recipe.ts';
import { formatTag, isInside, positive, sha256, text, word } from './primitives.ts';

const inside = v.pipe(text, v.check(isInside, 'expected a path inside'));

/** The one file that starts the agent, as it must be once it is installed. */
const executable = v.strictObject({ path: inside, sha256, size: v.optional(positive) });

const executables = v.strictObject({ amd64: v.optional(executable), arm64: v.optional(executable) });

/** A package of the npm registry. */
const npmArm = v.strictObject({
  source: v.literal('npm'),
  package: text,
  version: text,
  integrity: v.pipe(text, v.regex(/^sha512-[A-Za-z0-9+/]{86}==$/, 'expected a sha512 integrity')),
  /** Beside arms.lock: the directory with package.json and package-lock.json, and the lockfile's digest. */
  lockfile: v.strictObject({ in: inside, sha256 }),
  executables,
});

/** An archive that its project publishes; the executable's path is that of the archive's member. */
const releaseArm = v.strictObject({
  source: v.literal('release'),
  version: text,
  archives: v.strictObject({ amd64: v.optional(pinnedArchive), arm64: v.optional(pinnedArchive) }),
  executables,
});

export const armsLock = v.object({
  format: formatTag('arms-lock/1'),
  arms: v.record(word, v.variant('source', [npmArm, releaseArm], 'expected source npm or release')),
});

export type ArmsLock = v.InferOutput<typeof armsLock>;
export type Arm = ArmsLock['arms'][string];
export type NpmArm = Extract<Arm, { source: 'npm' }>;
export type ReleaseArm = Extract<Arm, { source: 'release' }>;
