/** The measures of a profile, as the evidence asks for them. Pure. */
import type { Metric as OwnMetric } from '../../schemas/profile.ts';
import { metricsOf } from '../sample-values.ts';
import type { Metric } from './input.ts';

/** What conclusions are about when the profile doesn't say. */
const PRIMARY = ['warm'];
/** The floor is subtracted from these. */
const NET = new Set(['warm', 'cold']);
/** What of a profile decides: its own metrics, and the primary ones. */
export interface Measured {
  metrics?: readonly OwnMetric[] | undefined;
  primary?: readonly string[] | undefined;
}

/** Every measure that sample lines may carry; those that a session lacks have no series, and that is said where they are primary. */
export const measuresOf = ({ metrics = [], primary = PRIMARY }: Measured): Metric[] =>
  metricsOf({ metrics: [...metrics] }).map(({ key, basis, better, unit, signed }) => {
    const metric: Metric = { key, basis, better, primary: primary.includes(key), unit };
    if (signed) metric.signed = true;
    if (NET.has(key)) metric.net = true;
    return metric;
  });
