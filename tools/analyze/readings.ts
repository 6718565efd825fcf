/** What was read around each sample, in the session's order: what the doubts are made of. */
import { type Cpu, type Facts, LARGEST, type Pin, type Sample } from '../../schemas/log.ts';
import { parseCpuList } from '../../shared/cpu-list.ts';
import type { Reading } from '../../shared/evidence/input.ts';
import { NumberPool } from './number-pool.ts';

const PRESSURES = ['psiCpuSomeUsec', 'psiMemorySomeUsec', 'psiIoSomeUsec'] as const;

/** Kept of a sample where it was measured, and this where it was not: nothing measured is negative. */
const ABSENT = -1;
const KEPT = ['wallMs', 'throttledMs', 'stealMs', 'speedMs', 'stalledMs', 'contendedMs', 'mhz'] as const;
type Kept = (typeof KEPT)[number];

/** A field in ms from one in µs; the spec's own fields are checked with the line, the others here. */
const inMs = (cpu: Cpu, field: string): number => {
  const value = cpu[field];
  return typeof value === 'number' && value >= 0 && value <= LARGEST ? value / 1000 : ABSENT;
};

/** A sample that has used so much of all cores by itself has made its own tasks wait. */
const ALL = 0.9;

/** `cores`: how many are measured. */
const READ: Readonly<Record<Kept, (cpu: Cpu, cores: number) => number>> = {
  wallMs: (cpu) => cpu.wallMs,
  throttledMs: (cpu) => inMs(cpu, 'throttledUsec'),
  stealMs: (cpu) => inMs(cpu, 'stealUsec'),
  speedMs: (cpu) => inMs(cpu, 'probeUsec'),
  stalledMs: (cpu) => Math.max(...PRESSURES.map((field) => inMs(cpu, field))),
  contendedMs: (cpu, cores) =>
    inMs(cpu, 'usageUsec') >= ALL * cores * cpu.wallMs ? 0 : inMs(cpu, 'psiCpuSomeUsec'),
  mhz: (cpu) => cpu.mhz ?? ABSENT,
};

/** What pressure the log has: the samples' own, that of all tasks on the measured cores, or one that says nothing of either. */
type Pressure = 'own' | 'cores' | 'elsewhere';

/** Memory and io of a machine are anybody's; its cores are the samples' where all of them are measured. */
const pressureOf = (pin: Pin, facts: Facts | undefined, measured: ReadonlySet<number>): Pressure => {
  if (pin['pressureOf'] === 'cgroup') return 'own';
  const online = parseCpuList(facts?.cpusOnline ?? '') ?? [];
  return pin['pressureOf'] === 'machine' && online.length > 0 && online.every((one) => measured.has(one))
    ? 'cores'
    : 'elsewhere';
};

/** Readings that need a pressure of their kind. */
const NEEDS: Readonly<Partial<Record<Kept, Pressure>>> = { stalledMs: 'own', contendedMs: 'cores' };

/**
 * The samples of a session in the order they ran. Kept as columns: a log of hundreds of megabytes has half a million, and as
 * many objects that stay make each collection of the others longer.
 */
export class Readings {
  readonly #targets: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #columns = {
    target: new NumberPool(),
    turns: new NumberPool(),
    round: new NumberPool(),
    predecessor: new NumberPool(),
  };
  readonly #kept = Object.fromEntries(KEPT.map((key) => [key, new NumberPool()])) as Record<Kept, NumberPool>;
  #pressure: Pressure = 'elsewhere';
  #cores = 0;
  #before = ABSENT;

  /** The pin line says whose pressure is read, and which cores are measured. */
  begin(pin: Pin, facts: Facts | undefined): void {
    const measured = new Set(parseCpuList(pin.cpus === '' ? (facts?.cpusAllowed ?? '') : pin.cpus));
    this.#cores = measured.size;
    this.#pressure = pressureOf(pin, facts, measured);
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
      this.#kept[key].push(
        cpu && (NEEDS[key] ?? this.#pressure) === this.#pressure ? READ[key](cpu, this.#cores) : ABSENT,
      );
  }

  #numberOf(target: string): number {
    const known = this.#numbers.get(target);
    if (known !== undefined) return known;
    const number = this.#targets.push(target) - 1;
    this.#numbers.set(target, number);
    return number;
  }

  /**
   * All, with the rounds as `numberOf` counts them, one after the other and as often as wanted. What the machine does not
   * offer stays away.
   */
  all(numberOf: (round: number) => number): Iterable<Reading> {
    return { [Symbol.iterator]: () => this.#each(numberOf) };
  }

  *#each(numberOf: (round: number) => number): Iterator<Reading> {
    const [targets, sizes, rounds, before] = Object.values(this.#columns).map((one) => one.toArray());
    const kept = KEPT.map((key) => [key, this.#kept[key].toArray()] as const).filter(([, values]) =>
      values.some((one) => one !== ABSENT),
    );
    let position = 0;
    for (let at = 0; at < rounds!.length; at++) {
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
      yield reading;
    }
  }
}
