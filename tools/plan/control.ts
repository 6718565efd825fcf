/** `--aa`: the reference once more under its own name, so that the session shows what a difference of nothing looks like. Pure. */
import type { Profile } from '../../schemas/profile.ts';

/** The profile with a control, or why it can't have one. A profile that brings its own keeps it. */
export const withControl = (profile: Profile): { profile: Profile } | { problem: string } => {
  const reference = profile.targets.find((one) => one.role === 'reference')!;
  if (profile.targets.some((one) => one.role === 'control')) return { profile };
  const name = `${reference.name}-control`;
  if (name.length > 63)
    return {
      problem: `flag '--aa': '${name}' is longer than 63 characters; give the reference a shorter name`,
    };
  if (profile.targets.some((one) => one.name === name))
    return { problem: `flag '--aa': the profile has a target '${name}', the control's own name; rename it` };
  return { profile: { ...profile, targets: [...profile.targets, { ...reference, name, role: 'control' }] } };
};
