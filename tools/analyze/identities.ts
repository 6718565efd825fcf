/** Who was measured: each target's commit and the digest of its program, as the facts give them. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Facts } from '../../schemas/log.ts';
import { sha256 } from '../../shared/files.ts';
import type { MeasuredProfile, MeasuredTarget } from './measured-profile.ts';

/** Artifacts that a target's commands name: `{root}/path`, also inside an argument, or a bare program of bin/. */
const namedBy = (target: MeasuredTarget, artifacts: Facts['artifacts']): [string, string][] => {
  const commands = [target.seed ?? [], target.sample ?? [], target.command ?? []];
  const words = commands.flat();
  const programs = new Set(commands.map((one) => one[0]));
  return Object.entries(artifacts)
    .filter((one): one is [string, string] => typeof one[1] === 'string' && /^[0-9a-f]{64}$/.test(one[1]))
    .filter(
      ([path]) =>
        programs.has(path) ||
        programs.has(path.replace(/^bin\//, '')) ||
        words.some((word) => word.endsWith(`{root}/${path}`)),
    )
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
