/** Flags of a plan that exclude each other or need another one. Pure. */
import type { Where } from '../../shared/where.ts';
import type { PlanFlags } from './flags.ts';

/** What can't be asked together with an effect, or with an early end. */
export const evidenceProblems = (flags: PlanFlags, { spread }: Where): string[] => {
  const asked = flags['for-effect'] !== undefined;
  const calibrate = flags.mode === 'calibrate';
  const stops = flags['stop-when'] !== undefined;
  const rules: [boolean, string][] = [
    [
      asked && flags.from === undefined,
      "'--for-effect' needs --from: the noise of an earlier run says how many rounds it takes",
    ],
    [!asked && flags.from !== undefined, "'--from' needs --for-effect: the difference that is to be found"],
    [!asked && flags.power !== undefined, "'--power' needs --for-effect: the difference that is to be found"],
    [
      calibrate && (asked || stops || flags.margin !== undefined),
      "'--for-effect', '--stop-when' and '--margin' have no meaning for a calibration: it compares nothing",
    ],
    [
      stops && (spread ?? flags.sessions ?? 1) > 1,
      "'--stop-when' and several sessions exclude each other: each would stop by itself",
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
};

/** Flags that exclude each other or need another one. */
export const flagProblems = (flags: PlanFlags, { pinned }: Where): string[] => {
  const stdin = (['profile', 'values', 'run'] as const).filter((name) => flags[name] === '-');
  const rules: [boolean, string][] = [
    [
      flags.mode === 'calibrate' && flags.aa,
      "'--aa' has no meaning for a calibration: it measures the reference alone",
    ],
    [
      flags.mode === 'calibrate' && flags.calibration !== undefined,
      "'--calibration' has no meaning for a calibration; it belongs to a comparison",
    ],
    [
      flags.calibration !== undefined && !pinned,
      "'--calibration' needs a session on known nodes; add --node, --nodes, --pick-node or --spread",
    ],
    [flags.run !== undefined && flags.out === '-', "'--run' and '--out -' exclude each other"],
    [flags.run !== undefined && flags['dry-run'], "'--run' and '--dry-run' exclude each other"],
    [flags.force && flags.run === undefined, "'--force' needs --run: a new run has nothing to force"],
    [stdin.length > 1, `${stdin.map((name) => `'--${name} -'`).join(' and ')}: stdin is read once`],
  ];
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
};
