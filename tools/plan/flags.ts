/** The command line of `plan`. Flags of the same setting as a values key have the table's names (spec §1). */
import { DEFAULT_PROFILE } from '../../shared/profiles/built-in.ts';
import {
  choice,
  decimal,
  duration,
  fileName,
  type Flag,
  type Flags,
  list,
  type Read,
  readDecimal,
  readText,
  readWhole,
  text,
  type Values,
  whole,
  yes,
} from '../../shared/flags.ts';
import { jobFlags } from '../../shared/job/flags.ts';

const readCommit = (given: string): Read<string> =>
  /^[0-9a-f]{7,64}(-dirty)?$/.test(given)
    ? { ok: true, value: given }
    : { ok: false, expected: 'at least 7 hex digits of a commit, perhaps with -dirty' };

/** A word that may stand in a tracker line. */
const readWord = (given: string): Read<string> =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(given)
    ? { ok: true, value: given }
    : { ok: false, expected: 'a word of letters, digits, ".", "_" and "-"' };

/** `auto`, `none`, or CPUs as the kernel lists them. */
const readPin = (given: string): Read<string> => {
  const ranges = given.split(',').map((part) => /^(0|[1-9]\d{0,4})(?:-(0|[1-9]\d{0,4}))?$/.exec(part));
  const fits = ranges.every((range) => range && Number(range[2] ?? range[1]) >= Number(range[1]));
  return given === 'auto' || given === 'none' || fits
    ? { ok: true, value: given }
    : { ok: false, expected: 'auto, none or a list of CPUs such as 0-1,4' };
};

const readPower = (given: string): Read<number> => {
  const found = readDecimal(given, 0);
  return found.ok && found.value < 1
    ? found
    : { ok: false, expected: 'a share between 0 and 1 such as 0.8 or 80%' };
};

/** A flag whose value another function reads. */
const read = <T>(
  about: string,
  hint: string,
  how: (given: string) => Read<T>,
  fallback?: string,
): Flag<T | undefined> => ({
  kind: 'value',
  about,
  hint,
  read: how,
  ...(fallback === undefined ? {} : { default: fallback }),
});

const what = {
  mode: choice('compare targets, or calibrate: the reference alone', ['compare', 'calibrate'], 'compare'),
  profile: text('built-in name, JSON file, or - for stdin', 'PROFILE', { default: DEFAULT_PROFILE }),
  candidates: list('only these candidates of the profile (Default: all of them)', 'NAME,…', readText),
  turns: list("sizes (Default: the profile's, else 3500; a plain command has none)", 'N,…', (one) =>
    readWhole(one, { min: 1 }),
  ),
  rounds: whole('how often everything is measured', 'N', {
    min: 3,
    max: 10_000,
    default: 12,
    alias: ['runs'],
  }),
  'for-effect': decimal('plan the rounds that a difference of this size takes; needs --from', 'SHARE', {
    above: 0,
  }),
  from: text(
    'with --for-effect: a judged run of the same profile, whose noise says how many (an --aa run, say)',
    'RUN',
  ),
  power: read('with --for-effect: the share of sessions that find it (Default: 0.8)', 'SHARE', readPower),
  'stop-when': choice('decided: the rounds may end at planned looks, when every conclusion is reached', [
    'decided',
  ]),
  'warmup-rounds': whole('rounds before, never counted', 'N', { max: 1000, default: 0 }),
  order: choice(
    'of targets within a round: rotate, or balanced: none follows the same one always',
    ['rotate', 'balanced'],
    'rotate',
  ),
  aa: yes('add the reference once more as control: what a difference of nothing looks like'),
  sessions: whole('repeat the whole session with new fixtures, in turn', 'K', { min: 1, max: 99 }),
  pin: read('cores of the measured processes: auto, none or a list', 'CPUS', readPin, 'auto'),
  'allow-frequency-scaling': yes('run on clocks that move with load: reported, never judged'),
  'step-timeout': duration('the longest that one seed or sample may take', '1h'),
} as const satisfies Flags;

const where = {
  local: yes('on this machine, without a cluster'),
  ...jobFlags,
  bundle: text('directory of artifacts; with --local: what {root} stands for', 'DIR'),
  deadline: whole('the longest that the Job may take, s (Default: 21600)', 'S', { min: 60, max: 31_536_000 }),
} as const satisfies Flags;

const judging = {
  gate: choice('metrics whose noise can refuse a comparison', ['auto', 'wall', 'cpu'], 'auto'),
  'max-cv': decimal('the noise limit', 'CV', { above: 0, default: '0.05' }),
  margin: decimal('differences up to this share are the same (Default: 3%)', 'SHARE', { above: 0 }),
  calibration: fileName('calibration.json, or the run directory that holds it'),
  commit: read('refuse artifacts of another commit', 'COMMIT', readCommit),
  purpose: read('what the run is for: main, pr, bisect, …', 'WORD', readWord),
} as const satisfies Flags;

const files = {
  out: text('directory of run directories; - prints plan.json instead and writes nothing', 'DIR', {
    default: 'out',
  }),
  run: text('the run directory itself, instead of a new one in --out', 'DIR'),
  'dry-run': yes('print plan.json, write nothing'),
  force: yes('with --run: plan again, unless it was started'),
} as const satisfies Flags;

export const flags = { ...what, ...where, ...judging, ...files };
export type PlanFlags = Values<typeof flags>;
