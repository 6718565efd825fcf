/** Whether a calibration vouches for the nodes of a comparison (spec §6). Pure. */
import type { Calibration } from '../../schemas/calibration.ts';
import { calibrationFit, type SizeFit } from '../../shared/calibration-fit.ts';
import { atSize, type Counted } from '../../shared/sizes.ts';
import { type Gate, gatedBy, gateProblems, medianNoise } from './noise.ts';
import type { OwnMetric } from './measured-profile.ts';

/** The comparison that it is held against. */
export interface Wanted extends Counted {
  profile: string;
  metrics: readonly OwnMetric[];
  turns: readonly number[];
  nodes: readonly string[];
  gate: Gate;
  maxCv: number;
}

/** Why the calibration does not carry the comparison, one sentence each; empty when it does. */
export const calibrationProblems = (calibration: Calibration, wanted: Wanted): string[] =>
  calibrationFit(calibration, wanted).flatMap((size) => size.problems.concat(noiseProblems(size, wanted)));

const noiseProblems = ({ turns, entries }: SizeFit, { metrics, gate, maxCv, ...about }: Wanted): string[] => {
  if (entries.length === 0) return [];
  // The median over this run's nodes: a quiet node elsewhere does not vouch for a noisy one here.
  const noise = gatedBy(medianNoise(entries.map((one) => one.noise)), gate, metrics);
  return gateProblems(noise, gate, maxCv).map(
    (one) => `the calibration ${atSize(turns, about)}: ${one.sentence}`,
  );
};
