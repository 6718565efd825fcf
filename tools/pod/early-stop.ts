/**
 * Whether the rounds may end: after planned looks, decided by the very code that judges the session afterwards (DESIGN §5).
 * The rule was laid down before anything was measured, so looking costs no error.
 */
import type { Sample } from '../../schemas/log.ts';
import type { CompactPlan, StopWhen } from '../../schemas/plan.ts';
import type { EvidenceInput } from '../../shared/evidence/input.ts';
import { conclusionsOf, isDecided } from '../../shared/evidence/judging.ts';
import { measuresOf } from '../../shared/evidence/measures.ts';
import { metricsOf, type SampleMetric, sampleValues } from '../../shared/sample-values.ts';

export class EarlyStop {
  readonly #plan: CompactPlan;
  readonly #rule: StopWhen;
  readonly #primary: readonly SampleMetric[];
  /** Target, size and metric → values by round; null where a sample has none. */
  readonly #values = new Map<string, (number | null)[]>();

  constructor(plan: CompactPlan & { stopWhen: StopWhen }) {
    this.#plan = plan;
    this.#rule = plan.stopWhen;
    const primary = new Set(measuresOf(plan.profile).flatMap((one) => (one.primary ? [one.key] : [])));
    this.#primary = metricsOf({ metrics: plan.profile.metrics ?? [] }).filter((one) => primary.has(one.key));
  }

  /** A sample line, and the cpu line before it. */
  take(line: Readonly<Record<string, unknown>>, cpu: Readonly<Record<string, unknown>>): void {
    const found = sampleValues(line as Sample, this.#primary);
    if (typeof cpu['usageUsec'] === 'number') found.set('cpu', cpu['usageUsec'] / 1000);
    for (const { key } of this.#primary) {
      const place = `${String(line['target'])} ${String(line['turns'])} ${key}`;
      const values = this.#values.get(place) ?? [];
      values.push(found.get(key) ?? null);
      this.#values.set(place, values);
    }
  }

  /** What is known after whole rounds, as the analysis would be asked. A metric exists only when every sample has it (spec §6). */
  input(): EvidenceInput {
    const { profile, turns } = this.#plan;
    // A log of before may call a candidate otherwise.
    const named = (...roles: string[]) =>
      profile.targets.filter((one) => roles.includes(one.role)).map((one) => one.name);
    const [control, floor] = [named('control')[0], named('floor')[0]];
    const series = profile.targets.flatMap(({ name: target }) =>
      turns.flatMap((size) =>
        this.#primary.flatMap(({ key: metric }) => {
          const values = this.#values.get(`${target} ${size} ${metric}`) ?? [];
          return values.includes(null) ? [] : [{ target, turns: size, metric, values }];
        }),
      ),
    );
    const { margin, level, seed, looks } = this.#rule;
    return {
      reference: named('reference')[0]!,
      candidates: named('candidate', 'pig'),
      ...(control === undefined ? {} : { control }),
      ...(floor === undefined ? {} : { floor }),
      turns,
      metrics: measuresOf(profile),
      sessions: [{ name: this.#plan.run, series }],
      margin,
      level,
      seed,
      looks,
    };
  }

  /** Why the rounds end after so many of them; undefined when they go on. */
  after(rounds: number): string | undefined {
    if (!this.#rule.looks.includes(rounds) || rounds === this.#plan.rounds) return undefined;
    return isDecided(conclusionsOf(this.input()))
      ? `every conclusion is reached after ${rounds} of ${this.#plan.rounds} rounds`
      : undefined;
  }
}

/** The rule by which the rounds of a plan may end early, when it has one. */
export const earlyStopOf = ({ stopWhen, ...plan }: CompactPlan): EarlyStop | undefined =>
  stopWhen && new EarlyStop({ ...plan, stopWhen });
