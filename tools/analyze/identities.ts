/** Who was measured: each target's commit and the digest of its program, as the facts give them. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Facts } from '../../schemas/log.ts';
import { fill, rootPathsIn } from '../../schemas/placeholders.ts';
import { sha256 } from '../../shared/files.ts';
import type { MeasuredProfile, MeasuredTarget } from './measured-profile.ts';

/** Whether a word of a command means an artifact: `{root}/path`, also inside an argument, or a path or program outside it. */
const means = (word: string, artifact: string): boolean => {
  const inRoot = rootPathsIn(word).map((path) => fill(path, {}));
  if (inRoot.length > 0)
    return inRoot.some((path) => artifact === path || artifact.startsWith(path === '' ? '' : `${path}/`));
  // The session wrote down where it found a program or a script: below the root's bin/, or anywhere else.
  const path = word.replace(/^(\.\/)+/, '');
  return path !== '' && (artifact === path || artifact.endsWith(`/${path}`));
};

/** Artifacts that a target's commands name, in bytewise order. */
const namedBy = (target: MeasuredTarget, artifacts: Facts['artifacts']): [string, string][] => {
  const words = [target.seed ?? [], target.sample ?? [], target.command ?? [], target.prepare ?? []].flat();
  return Object.entries(artifacts)
    .filter((one): one is [string, string] => typeof one[1] === 'string' && /^[0-9a-f]{64}$/.test(one[1]))
    .filter(([artifact]) => words.some((word) => means(word, artifact)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
};

/** One digest as it is, several as the digest over their sha256sum lines; nothing where the facts know none. */
export const identitiesOf = (facts: Facts, profile: MeasuredProfile): Analysis['identities'] =>
  Object.fromEntries(
    profile.targets.map((target) => {
      const named = namedBy(target, facts.artifacts);
      const commit = target.commit ?? (target.role === 'candidate' ? facts.commit : undefined);
      const digest =
        named.length > 1 ? sha256(named.map(([path, one]) => `${one}  ${path}\n`).join('')) : named[0]?.[1];
      return [target.name, { ...(commit ? { commit } : {}), ...(digest ? { sha256: digest } : {}) }];
    }),
  );
