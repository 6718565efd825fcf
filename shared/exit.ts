/** Exit statuses, the same for every tool (DESIGN §2.2). */
export const EXIT = {
  /** Done; also a calibration that was not judged. */
  done: 0,
  /** Failed: infrastructure, a workload, files that don't fit together. */
  failed: 1,
  /** Wrong command line or configuration; nothing was started. */
  usage: 2,
  /** Comparison not judged; calibration unfit or above the limit. */
  notJudged: 3,
  /** Judged and bad; only with `--fail-on`, from conclusions. */
  judgedBad: 4,
  /** Invalid: affinity, cpuset, governor or admitted pod changed, or the harness was the limit. */
  invalid: 5,
  interrupted: 130,
} as const;

export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** One line per status, for help texts and the README. */
export const EXIT_ABOUT: Readonly<Record<Exit, string>> = {
  0: 'done (also: a calibration not judged)',
  1: 'failed: infrastructure, workload, or files that do not fit together',
  2: 'wrong command line or configuration; nothing was started',
  3: 'comparison not judged, or calibration unfit or above the limit',
  4: 'judged and bad (only with --fail-on, from conclusions)',
  5: 'invalid: affinity, cpuset, governor or admitted pod changed, or the harness was the limit',
  130: 'interrupted',
};
