/** Whether a plan is of a size that its carriers take: the pod's environment, its log, and anybody's patience. Pure. */
import { sequenceOf } from '../../shared/sequence.ts';
import type { Request } from './lay-down.ts';

/** The compact plan travels in an environment variable (spec §4). */
const COMPACT_BYTES = 100 << 10;
/** A log that nobody but the node keeps (DESIGN §4.6). */
const LOG_BYTES = 8 << 20;
const STEPS = 1_000_000;

/** Bytes of a step's two log lines: its readings, and up to forty turns with their CPU times. */
const STEP_BYTES = 2000;
const TURN_BYTES = 24;

export const sizeProblems = ({ session, values }: Request): string[] => {
  const targets = session.mode === 'compare' ? session.profile.targets.length : 1;
  const expected = (session.rounds + session.warmupRounds) * session.turns.length * targets;
  // Counted before they are laid down: a plan of a billion steps is refused without making them.
  if (expected > STEPS) return [`${expected} samples are more than ${STEPS}; plan fewer rounds or sizes`];
  const problems: string[] = [];
  const bytes = Buffer.byteLength(JSON.stringify(session));
  if (bytes > COMPACT_BYTES - 512)
    problems.push(
      `the plan takes ${bytes} bytes, and a pod takes ${COMPACT_BYTES}; shorten the profile's commands`,
    );
  if (session.delivery === 'image' && values.pvc === undefined) {
    const steps = sequenceOf({ ...session, orderSeed: 0 });
    const log = steps.length * (STEP_BYTES + TURN_BYTES * (session.profile.repeat ?? 40));
    if (log > LOG_BYTES)
      problems.push(
        `the log of ${steps.length} steps may reach ${(log / (1 << 20)).toFixed(0)} MiB, and a node keeps about 10 MiB of it; plan fewer rounds or sizes, or keep results on a claim with --pvc`,
      );
  }
  return problems;
};
