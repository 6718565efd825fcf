/** Whether a calibration vouches for the nodes of a comparison (spec §6). Pure. */
import type { Calibration, CalibrationNode } from '../../schemas/calibration.ts';
import { JUDGED_FROM } from './calibrate.ts';
import { type Gate, gatedBy, gateProblems, medianNoise } from './noise.ts';
import type { OwnMetric } from './measured-profile.ts';

/** The comparison that it is held against. */
export interface Wanted {
  profile: string;
  metrics: readonly OwnMetric[];
  turns: readonly number[];
  nodes: readonly string[];
  gate: Gate;
  maxCv: number;
}

/** Why the calibration does not carry the comparison, one sentence each; empty when it does. */
export const calibrationProblems = (calibration: Calibration, wanted: Wanted): string[] => {
  if (calibration.profile !== wanted.profile)
    return [
      `the calibration is of profile '${calibration.profile}', this run of '${wanted.profile}'; calibrate this profile`,
    ];
  return wanted.turns.flatMap((turns) => {
    const size = calibration.sizes[String(turns)];
    if (!size) return [`the calibration has no size ${turns}; calibrate with --turns ${turns}`];
    if (Object.keys(size.nodes).length === 0)
      return [`the calibration names no node at ${turns} turns; calibrate again`];
    return sizeProblems(size.nodes, turns, wanted);
  });
};

const sizeProblems = (
  nodes: Readonly<Record<string, CalibrationNode>>,
  turns: number,
  { nodes: names, metrics, gate, maxCv }: Wanted,
): string[] => {
  const problems: string[] = [];
  const entries: CalibrationNode[] = [];
  for (const name of new Set(names)) {
    const entry = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
    if (!entry) {
      problems.push(
        `the calibration did not measure node '${name}' at ${turns} turns; calibrate it, or compare on ${Object.keys(
          nodes,
        )
          .map((one) => `'${one}'`)
          .join(', ')}`,
      );
      continue;
    }
    entries.push(entry);
    if (!(entry.runs >= JUDGED_FROM))
      problems.push(
        `the calibration has ${entry.runs} runs at ${turns} turns on node '${name}', and ${JUDGED_FROM} are needed; calibrate with --rounds ${JUDGED_FROM}`,
      );
    if (entry.clock.scaling)
      problems.push(
        `the calibration measured node '${name}' on cores that scale their clock; fix it, then calibrate again`,
      );
  }
  if (entries.length === 0) return problems;
  // The median over this run's nodes: a quiet node elsewhere does not vouch for a noisy one here.
  const noise = gatedBy(medianNoise(entries.map((one) => one.noise)), gate, metrics);
  return [
    ...problems,
    ...gateProblems(noise, gate, maxCv).map((one) => `the calibration at ${turns} turns: ${one.sentence}`),
  ];
};
