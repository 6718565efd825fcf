/** Which taints keep a pod away, by the scheduler's rules (`ToleratesTaint`). */
import type { Values } from '../../schemas/values.ts';
import type { Taint } from './objects.ts';

export type Toleration = NonNullable<Values['tolerations']>[number];

/** Whether a toleration covers a taint: no effect covers every effect, no key every key; an operator that isn't known covers nothing. */
export const covers = (toleration: Toleration, taint: Taint): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const operator: string = toleration.operator ?? '';
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && (toleration.value ?? '') === (taint.value ?? '');
};

/** Taints that keep new pods away; PreferNoSchedule only asks. */
const isHard = (taint: Taint): boolean => taint.effect === 'NoSchedule' || taint.effect === 'NoExecute';

/** The hard taints that nothing tolerates. */
export const untolerated = (
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[],
): Taint[] =>
  (taints ?? []).filter((taint) => isHard(taint) && !tolerations.some((one) => covers(one, taint)));

/**
 * The longest that a pod stays on a node whose NoExecute taints are tolerated for a time only, s; undefined: for ever. Of
 * the tolerations that cover a taint the first counts, as for the eviction controller; the shortest of all taints ends it.
 */
export const toleratedFor = (
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[],
): number | undefined => {
  const times = (taints ?? [])
    .filter((taint) => taint.effect === 'NoExecute')
    .map((taint) => tolerations.find((one) => covers(one, taint))?.tolerationSeconds)
    .filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** As kubectl writes a taint. */
export const shownTaint = ({ key, value, effect }: Taint): string =>
  `${key}${value ? `=${value}` : ''}:${effect}`;
