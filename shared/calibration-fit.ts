/**
 * Whether a calibration is one of this comparison's profile, sizes and nodes (spec §6): `plan` and `pick-nodes` ask before a
 * session, `analyze` asks again and then judges its noise. Pure.
 */
import type { Calibration, CalibrationNode } from '../schemas/calibration.ts';
import { atSize, type Counted } from './sizes.ts';

/** A calibration judges a size from as many runs. */
export const JUDGED_FROM = 12;

/** `counted`: what its sizes count. */
export interface Wanted extends Counted {
  profile: string;
  turns: readonly number[];
  /** The nodes of the comparison; undefined while they are not picked: then any that the calibration measured. */
  nodes?: readonly string[];
}

export interface SizeFit {
  turns: number;
  /** Why this size is not vouched for, one sentence each, with what to do. */
  problems: string[];
  /** What the calibration measured on the wanted nodes. */
  entries: CalibrationNode[];
}

const nodeProblems = (name: string, { runs, clock }: CalibrationNode, size: string): string[] => [
  // Written as what must hold, so that a count that is no number does not pass.
  ...(runs >= JUDGED_FROM
    ? []
    : [
        `the calibration has ${runs} runs ${size} on node '${name}', and ${JUDGED_FROM} are needed; calibrate with --rounds ${JUDGED_FROM}`,
      ]),
  ...(clock.scaling
    ? [
        `the calibration measured node '${name}' on cores that scale their clock; fix it, then calibrate again`,
      ]
    : []),
];

const sizeFit = (calibration: Calibration, turns: number, { nodes: wanted, ...about }: Wanted): SizeFit => {
  const nodes = calibration.sizes[String(turns)]?.nodes;
  const without = (problem: string): SizeFit => ({ turns, problems: [problem], entries: [] });
  const flag = about.counted === 'processes' ? '--repeat' : '--turns';
  if (!nodes) return without(`the calibration has no size ${turns}; calibrate with ${flag} ${turns}`);
  const size = atSize(turns, about);
  const measured = Object.keys(nodes);
  if (measured.length === 0) return without(`the calibration names no node ${size}; calibrate again`);
  const fit: SizeFit = { turns, problems: [], entries: [] };
  for (const name of new Set(wanted ?? measured)) {
    const entry = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
    if (!entry) {
      const others = measured.map((one) => `'${one}'`).join(', ');
      fit.problems.push(
        `the calibration did not measure node '${name}' ${size}; calibrate it, or compare on ${others}`,
      );
      continue;
    }
    fit.entries.push(entry);
    fit.problems.push(...nodeProblems(name, entry, size));
  }
  return fit;
};

/** How the calibration fits each size; one of another profile fits none. */
export const calibrationFit = (calibration: Calibration, wanted: Wanted): SizeFit[] => {
  const { profile, turns } = wanted;
  if (calibration.profile === profile) return turns.map((size) => sizeFit(calibration, size, wanted));
  const problem = `the calibration is of profile '${calibration.profile}', this run of '${profile}'; calibrate this profile`;
  return turns.slice(0, 1).map((size) => ({ turns: size, problems: [problem], entries: [] }));
};
