/** What was read around each sample, in the session's order: what the doubts are made of. */
import { type Cpu, LARGEST, type Pin, type Sample } from '../../schemas/log.ts';
import type { Reading } from '../../shared/evidence/input.ts';
import { NumberPool } from './number-pool.ts';

const PRESSURES = ['psiCpuSomeUsec', 'psiMemorySomeUsec', 'psiIoSomeUsec'] as const;

/** Kept of a sample where it was measured, and this where it was not: nothing measured is negative. */
const ABSENT = -1;
const KEPT = ['wallMs', 'throttledMs', 'stealMs', 'speedMs', 'stalledMs', 'mhz'] as const;
type Kept = (typeof KEPT)[number];

/** A field in ms from one in µs; the spec's own fields are checked with the line, the others here. */
const inMs = (cpu: Cpu, field: string): number => {
  const value = cpu[field];
  return typeof value === 'number' && value >= 0 && value <= LARGEST ? value / 1000 : ABSENT;
};

const READ: Readonly<Record<Kept, (cpu: Cpu) => number>> = {
  wallMs: (cpu) => cpu.wallMs,
  throttledMs: (cpu) => inMs(cpu, 'throttledUsec'),
  stealMs: (cpu) => inMs(cpu, 'stealUsec'),
  speedMs: (cpu) => inMs(cpu, 'probeUsec'),
  stalledMs: (cpu) => Math.max(...PRESSURES.map((field) => inMs(cpu, field))),
  mhz: (cpu) => cpu.mhz ?? ABSENT,
};

/**
 * The samples of a session in the order they ran. Kept as columns: a log of hundreds of megabytes has half a million, and as
 * many objects that stay make each collection of the others longer.
 */
export class Readings {
  readonly #targets: string[] = [];
  readonly #columns = {
    target: new NumberPool(),
    turns: new NumberPool(),
    round: new NumberPool(),
    predecessor: new NumberPool(),
  };
  readonly #kept = Object.fromEntries(KEPT.map((key) => [key, new NumberPool()])) as Record<Kept, NumberPool>;
  #pressureIsOwn = false;
  #before = ABSENT;

  /** The pin line says whose pressure is read: that of a whole machine is not the sample's own. */
  begin(pin: Pin): void {
    this.#pressureIsOwn = pin['pressureOf'] === 'cgroup';
  }

  /** A warm-up: only what comes after it is told. */
  warmup(target: string): void {
    this.#before = this.#numberOf(target);
  }

  add({ target, turns, sample: round }: Sample, cpu: Cpu | undefined): void {
    const { target: targets, turns: sizes, round: rounds, predecessor } = this.#columns;
    const number = this.#numberOf(target);
    targets.push(number);
    sizes.push(turns);
    rounds.push(round);
    predecessor.push(this.#before);
    this.#before = number;
    for (const key of KEPT)
      this.#kept[key].push(cpu && (key !== 'stalledMs' || this.#pressureIsOwn) ? READ[key](cpu) : ABSENT);
  }

  #numberOf(target: string): number {
    const at = this.#targets.indexOf(target);
    return at === -1 ? this.#targets.push(target) - 1 : at;
  }

  /** All, with the rounds as `numberOf` counts them. What the machine does not offer stays away. */
  all(numberOf: (round: number) => number): Reading[] {
    const [targets, sizes, rounds, before] = Object.values(this.#columns).map((one) => one.toArray());
    const kept = KEPT.map((key) => [key, this.#kept[key].toArray()] as const);
    let position = 0;
    return Array.from({ length: rounds!.length }, (_, at) => {
      const same = at > 0 && sizes![at] === sizes![at - 1] && rounds![at] === rounds![at - 1];
      position = same ? position + 1 : 0;
      const reading: Reading = {
        target: this.#targets[targets![at]!]!,
        turns: sizes![at]!,
        round: numberOf(rounds![at]!),
        position,
      };
      if (before![at] !== ABSENT) reading.predecessor = this.#targets[before![at]!]!;
      for (const [key, values] of kept) if (values[at] !== ABSENT) reading[key] = values[at]!;
      return reading;
    });
  }
}
