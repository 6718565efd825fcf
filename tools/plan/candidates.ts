/** `--candidates`: some of the profile's candidates, where it has more than are wanted. Pure. */
import { candidateRule, type Profile } from '../../schemas/profile.ts';

/** The profile with these candidates alone, or the names that it doesn't have. A candidate that is left alone keeps its rule. */
export const withCandidates = (
  profile: Profile,
  names: readonly string[] | undefined,
): { profile: Profile } | { problems: string[] } => {
  if (names === undefined) return { profile };
  const all = profile.targets.filter((one) => one.role === 'candidate').map((one) => one.name);
  const problems = names
    .filter((name) => !all.includes(name))
    .map(
      (name) =>
        `flag '--candidates': profile '${profile.name}' has no candidate '${name}'; it has ${all.join(', ')}`,
    );
  if (problems.length > 0) return { problems };
  const targets = profile.targets
    .filter((one) => one.role !== 'candidate' || names.includes(one.name))
    .map((one) => (one.role === 'candidate' ? { ...one, rule: candidateRule(profile, one) } : one));
  return { profile: { ...profile, targets } };
};
