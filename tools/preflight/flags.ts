/** The command line of `preflight`: the settings of a run that a cluster can refuse, as `plan` has them. */
import { type Flags, text, type Values, yes } from '../../shared/flags.ts';
import { jobFlags } from '../../shared/job/flags.ts';

export const flags = {
  run: text('run directory to check for, or - for its path on stdin; without it: the settings below', 'DIR'),
  ...jobFlags,
  'pick-node': yes('the node is to be picked by what is free'),
  json: yes('print the findings as JSON'),
  'dry-run': yes('print what would be asked, contact nothing'),
} as const satisfies Flags;
export type PreflightFlags = Values<typeof flags>;

/** Flags that say what a run directory says already. */
export const SETTINGS = (Object.keys(flags) as (keyof PreflightFlags)[]).filter(
  (name) => name !== 'run' && name !== 'json' && name !== 'dry-run',
);
