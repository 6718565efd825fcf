/** The profile as a log's facts give it: the log describes itself, so nothing else is needed to analyze it. */
import * as v from 'valibot';
import type { Facts } from '../../schemas/log.ts';
import { metric, profileFields, target } from '../../schemas/profile.ts';
import { problemsOf } from '../../shared/read.ts';

/** What analysis needs of a profile. A later k8sbench may add fields, so unknown ones are kept. */
const measuredProfile = v.looseObject({
  name: profileFields.entries.name,
  rule: profileFields.entries.rule,
  fingerprints: profileFields.entries.fingerprints,
  targets: v.array(v.looseObject(target.entries)),
  metrics: v.optional(v.array(v.looseObject(metric.entries)), []),
  primary: profileFields.entries.primary,
});

export type MeasuredProfile = v.InferOutput<typeof measuredProfile>;
export type MeasuredTarget = MeasuredProfile['targets'][number];
export type OwnMetric = MeasuredProfile['metrics'][number];

/** The profile of a log's facts, or what is wrong with it: path, what was wanted and what was found. */
export const profileOf = (facts: Facts): { profile: MeasuredProfile } | { problems: string[] } => {
  const result = v.safeParse(measuredProfile, facts.profileSpec);
  if (!result.success)
    return {
      problems: problemsOf(measuredProfile, { value: facts.profileSpec }, 'profileSpec').map((one) =>
        one.replace(/^profileSpec: /, 'profileSpec.'),
      ),
    };
  const { targets } = result.output;
  const count = (role: string): number => targets.filter((one) => one.role === role).length;
  const rules: [boolean, string][] = [
    [count('reference') === 1, `exactly one reference, found ${count('reference')}`],
    [facts.mode === 'calibrate' || count('candidate') > 0, 'at least one candidate'],
    [count('floor') <= 1, `at most one floor, found ${count('floor')}`],
    [new Set(targets.map((one) => one.name)).size === targets.length, 'names used once'],
  ];
  const broken = rules.filter(([holds]) => !holds);
  return broken.length === 0
    ? { profile: result.output }
    : { problems: broken.map(([, wanted]) => `profileSpec.targets: expected ${wanted}`) };
};

/** The targets that a session of this mode measures: all, or the reference alone (spec §5). */
export const measuredTargets = (profile: MeasuredProfile, mode: Facts['mode']): MeasuredTarget[] =>
  profile.targets.filter((one) => mode === 'compare' || one.role === 'reference');

export const referenceOf = (profile: MeasuredProfile): MeasuredTarget =>
  profile.targets.find((one) => one.role === 'reference')!;

export const floorOf = (profile: MeasuredProfile): MeasuredTarget | undefined =>
  profile.targets.find((one) => one.role === 'floor');

export const candidatesOf = (profile: MeasuredProfile): MeasuredTarget[] =>
  profile.targets.filter((one) => one.role === 'candidate');
