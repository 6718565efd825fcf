/** Whether a calibration can vouch for a comparison that is not measured yet (spec §6; the CVs are judged afterwards). Pure. */
import type { Calibration } from '../../schemas/calibration.ts';

/** A calibration judges a size from as many runs. */
const JUDGED_FROM = 12;

export interface Wanted {
  profile: string;
  turns: readonly number[];
  /** The nodes that will run it; undefined while they are not picked. */
  nodes?: readonly string[];
}

/** Why it can't; one sentence each, with what to do. */
export const calibrationProblems = (
  calibration: Calibration,
  { profile, turns, nodes }: Wanted,
): string[] => {
  if (calibration.profile !== profile)
    return [
      `the calibration is of profile '${calibration.profile}', not of '${profile}'; calibrate with --profile ${profile}`,
    ];
  return turns.flatMap((size) => {
    const measured = calibration.sizes[size]?.nodes;
    if (!measured) return [`the calibration lacks size ${size}; calibrate with --turns ${size}`];
    const names = Object.keys(measured);
    if (names.length === 0) return [`the calibration names no node at size ${size}; calibrate again`];
    return (nodes ?? names).flatMap((node): string[] => {
      const found = Object.hasOwn(measured, node) ? measured[node] : undefined;
      if (!found)
        return [
          `the calibration did not measure node '${node}' at size ${size}, only ${names.join(', ')}; calibrate there`,
        ];
      const problems: string[] = [];
      if (!(found.runs >= JUDGED_FROM))
        problems.push(
          `the calibration has ${found.runs} runs at size ${size} on node '${node}', and needs ${JUDGED_FROM}; calibrate with --rounds ${JUDGED_FROM}`,
        );
      if (found.clock.scaling)
        problems.push(
          `the calibration of node '${node}' was measured on clocks that move with load; fix the clock and calibrate again`,
        );
      return problems;
    });
  });
};
