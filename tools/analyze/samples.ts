/** The numbers kept of one target's samples at one size: spec §6 per sample, spec §7 pooled. */
import { shownValue } from '../../shared/read.ts';
import type { Throttle } from '../../schemas/calibration.ts';
import { LARGEST, type Cpu, type Sample } from '../../schemas/log.ts';
import type { OwnMetric } from './measured-profile.ts';
import { Column, medianFrom, NumberPool, TurnPool } from './number-pool.ts';

/** A profile's own metric: a value per sample, and for pooled ones every value of every turn. */
export interface OwnColumn {
  readonly metric: OwnMetric;
  readonly perSample: Column;
  readonly pool: TurnPool;
}

/** A sum that no counter reaches and no number holds exactly is not one. */
const sumOf = (a: number | null, b: number | null): number | null =>
  a !== null && b !== null && a + b <= Number.MAX_SAFE_INTEGER ? a + b : null;

/** Sums over processes; null from the first one on that could not be measured. */
class Throttling {
  #throttledSamples: number | null = 0;
  #nrThrottled: number | null = 0;
  #throttledUsec: number | null = 0;

  add(cpu: Cpu | undefined): void {
    const { nrThrottled = null, throttledUsec = null } = cpu ?? {};
    this.#throttledSamples =
      nrThrottled === null || this.#throttledSamples === null
        ? null
        : this.#throttledSamples + (nrThrottled > 0 ? 1 : 0);
    this.#nrThrottled = sumOf(this.#nrThrottled, nrThrottled);
    this.#throttledUsec = sumOf(this.#throttledUsec, throttledUsec);
  }

  of(samples: number): Throttle {
    const measured = samples > 0;
    return {
      samples,
      throttledSamples: measured ? this.#throttledSamples : null,
      nrThrottled: measured ? this.#nrThrottled : null,
      throttledUsec: measured ? this.#throttledUsec : null,
    };
  }
}

const NONE: readonly string[] = [];

export class Samples {
  count = 0;
  /** The round of each sample. */
  readonly rounds = new NumberPool();
  /** Transcripts' fingerprints with their counts. */
  readonly fingerprints = new Map<string, number>();
  /** ms: every turn after the first of every sample. */
  readonly warmTurns = new TurnPool();
  /** CPU ms of the same turns; undefined once a sample came without. */
  warmCpuTurns: TurnPool | undefined = new TurnPool();
  /** ms. */
  readonly warm = new Column();
  readonly cold = new Column();
  /** CPU ms of the process. */
  readonly cpu = new Column();
  readonly cpuWarm = new Column();
  readonly cpuCold = new Column();
  readonly cpuSeconds = new Column();
  /** MiB. */
  readonly peakRss = new Column();
  readonly bytes = new Column();
  /** MiB. */
  readonly retained = new Column();
  /** Bytes per turn. */
  readonly growthPerTurn = new Column();
  /** MHz. */
  readonly mhz = new Column();
  readonly own: readonly OwnColumn[];
  readonly #throttling = new Throttling();

  constructor(metrics: readonly OwnMetric[]) {
    this.own = metrics.map((metric) => ({ metric, perSample: new Column(), pool: new TurnPool() }));
  }

  /** One sample with the readings around its process. Returns what is wrong with the profile's own metrics in it. */
  add(sample: Sample, cpu: Cpu | undefined): readonly string[] {
    this.count++;
    this.rounds.push(sample.sample);
    const { turn, fingerprint } = sample;
    if (fingerprint) this.fingerprints.set(fingerprint, (this.fingerprints.get(fingerprint) ?? 0) + 1);
    this.warmTurns.pushFrom(turn, 1);
    this.warm.push(medianFrom(turn, 1));
    this.cold.push(sample.open + turn[0]!);
    this.#addCpu(sample, cpu);
    this.cpuSeconds.push(sample.cpuSeconds);
    this.peakRss.push(sample.peakRss);
    this.bytes.push(sample.bytes);
    this.retained.push(sample.retained);
    this.growthPerTurn.push(sample.growthPerTurn);
    return this.own.length === 0 ? NONE : this.own.flatMap((one) => addOwn(one, sample));
  }

  #addCpu({ turn, turnCpu, openCpu }: Sample, cpu: Cpu | undefined): void {
    this.#throttling.add(cpu);
    const usage = cpu?.usageUsec ?? null;
    this.cpu.push(usage === null ? null : usage / 1000);
    this.mhz.push(cpu?.mhz);
    if (turnCpu && turnCpu.length === turn.length) {
      this.warmCpuTurns?.pushFrom(turnCpu, 1);
      this.cpuWarm.push(medianFrom(turnCpu, 1));
      this.cpuCold.push(openCpu === null || openCpu === undefined ? null : openCpu + turnCpu[0]!);
    } else {
      this.warmCpuTurns = undefined;
      this.cpuWarm.push(null);
      this.cpuCold.push(null);
    }
  }

  /** Rounds that stand more than once. */
  get repeatedRounds(): number[] {
    const ascending = this.rounds.toArray().toSorted();
    return [...new Set(ascending.filter((one, at) => at > 0 && ascending[at - 1] === one))];
  }

  get throttle(): Throttle {
    return this.#throttling.of(this.count);
  }
}

const addOwn = ({ metric, perSample, pool }: OwnColumn, sample: Sample): string[] => {
  const value = sample[metric.key];
  if (value === null || value === undefined) {
    perSample.push(null);
    return [];
  }
  const fits = (one: unknown): one is number =>
    typeof one === 'number' && Math.abs(one) <= LARGEST && (metric.signed || one >= 0);
  const wanted = `a finite number${metric.signed ? '' : ' ≥ 0'}`;
  if (!metric.pooled) {
    if (!fits(value)) return [`${metric.key}: expected ${wanted}, found ${shownValue(value)}`];
    perSample.push(value);
    return [];
  }
  if (!Array.isArray(value) || !value.every(fits))
    return [`${metric.key}: expected a list, each ${wanted}, found ${shownValue(value)}`];
  pool.pushFrom(value, 0);
  perSample.push(medianFrom(value, 0));
  return [];
};
