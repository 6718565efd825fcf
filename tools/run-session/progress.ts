/** How far a session is, from its plan and the lines read so far. Pure: time comes in with each line. */
import type { Plan, Step } from '../../schemas/plan.ts';
import type { SessionLine } from '../../shared/session-log.ts';
import { mean, median, standardDeviation } from '../../shared/statistics.ts';
import { timeInWords } from '../../shared/time-words.ts';

export interface View {
  stage: 'starting' | 'seeds' | 'warm-up' | 'rounds' | 'done';
  /** Steps of this stage: seeds, or rounds that are complete. */
  done: number;
  of: number;
  /** s until the last step, once every kind of step still to come was seen; else absent. */
  left_s?: number;
  /** The reference's warm CV so far, per size with at least 3 samples. */
  noise: { turns: number; cv: number }[];
  reference: string;
}

/** How much longer than its process a step may take to say so, ms: beyond this the line has waited for its reader. */
const AROUND_MS = 1000;

const keyOf = (step: Step): string =>
  `${step.step === 'seed' ? 'seed' : 'sample'} ${step.target} ${step.turns}`;

/** A log's lines are checked where they are analyzed; here what does not fit is passed over. */
const isTimes = (turn: unknown): turn is number[] =>
  Array.isArray(turn) && turn.length > 1 && turn.every((one) => Number.isFinite(one));

export class Progress {
  readonly #plan: Plan;
  readonly #reference: string;
  /** Step kind → how often and how long, ms. */
  readonly #durations = new Map<string, { count: number; total: number }>();
  /** Size → warm medians of the reference's samples, ms. */
  readonly #warm = new Map<number, number[]>();
  #at = 0;
  #last: number | undefined;
  /** Of the step under way, as the session's `cpu` line tells it, ms. */
  #wall: number | undefined;
  #finished = false;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#reference = plan.compact.profile.targets.find((one) => one.role === 'reference')!.name;
  }

  /** Takes a line that arrived at `now` (ms); true when a step ended with it. */
  take(line: SessionLine, now: number): boolean {
    if (line.t === 'pin') this.#last = now;
    if (line.t === 'done') this.#finished = true;
    if (line.t === 'cpu' && Number.isFinite(line['wallMs'])) this.#wall = line['wallMs'] as number;
    const step = this.#plan.steps[this.#at];
    if (!step || line.t !== step.step) return line.t === 'done';
    this.#at++;
    if (this.#last !== undefined) {
      const { count, total } = this.#durations.get(keyOf(step)) ?? { count: 0, total: 0 };
      this.#durations.set(keyOf(step), { count: count + 1, total: total + this.#took(now - this.#last) });
    }
    this.#last = now;
    this.#wall = undefined;
    const turn = line['turn'];
    if (line.t === 'sample' && step.target === this.#reference && isTimes(turn)) {
      const before = this.#warm.get(step.turns);
      if (before) before.push(median(turn.slice(1)));
      else this.#warm.set(step.turns, [median(turn.slice(1))]);
    }
    return true;
  }

  /** How long a step took, ms. Lines come late and all at once when a runner stood still or attaches: its process's own time counts then. */
  #took(apart: number): number {
    const wall = this.#wall;
    return wall === undefined ? apart : Math.min(Math.max(apart, wall), wall + AROUND_MS);
  }

  view(): View {
    const { steps } = this.#plan;
    const next = steps[this.#at];
    const stageOf = { seed: 'seeds', warmup: 'warm-up', sample: 'rounds' } as const;
    const stage =
      this.#finished || !next ? 'done' : this.#last === undefined ? 'starting' : stageOf[next.step];
    const kind = next?.step ?? 'sample';
    const ofKind = steps.filter((one) => one.step === kind);
    const done = steps.slice(0, this.#at).filter((one) => one.step === kind);
    const rounds = new Set(ofKind.map((one) => one.sample)).size;
    const count =
      kind === 'seed'
        ? { done: done.length, of: ofKind.length }
        : { done: Math.floor(done.length / (ofKind.length / rounds)), of: rounds };
    const left = this.#left();
    return {
      stage,
      ...count,
      ...(left === undefined || stage === 'done' ? {} : { left_s: left / 1000 }),
      noise: [...this.#warm]
        .filter(([, values]) => values.length >= 3 && mean(values) > 0)
        .map(([turns, values]) => ({ turns, cv: standardDeviation(values) / mean(values) })),
      reference: this.#reference,
    };
  }

  /** ms, from the mean duration of each kind of step. */
  #left(): number | undefined {
    let total = 0;
    for (const step of this.#plan.steps.slice(this.#at)) {
      const seen = this.#durations.get(keyOf(step));
      if (!seen) return undefined;
      total += seen.total / seen.count;
    }
    return total;
  }
}

/** A view in one line. */
export const viewInWords = ({ stage, done, of, left_s, noise, reference }: View): string => {
  const where = {
    starting: 'starting',
    seeds: `seed ${Math.min(done + 1, of)} of ${of}`,
    'warm-up': `warm-up round ${Math.min(done + 1, of)} of ${of}`,
    rounds: `${done} of ${of} rounds done`,
    done: `${done} of ${of} rounds done`,
  }[stage];
  const left = left_s === undefined ? [] : [`${timeInWords(left_s)} left`];
  const several = noise.length > 1;
  const cv = noise.map(
    ({ turns, cv: value }) => `${(value * 100).toFixed(1)} %${several ? ` at ${turns} turns` : ''}`,
  );
  return [where, ...left, ...(cv.length > 0 ? [`CV of ${reference}'s warm ${cv.join(', ')}`] : [])].join(
    ', ',
  );
};
