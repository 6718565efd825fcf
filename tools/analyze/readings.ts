/** What was read around each sample, in the session's order: what the doubts are made of. */
import type { Cpu, Pin, Sample } from '../../schemas/log.ts';
import type { Reading } from '../../shared/evidence/input.ts';

const PRESSURES = ['psiCpuSomeUsec', 'psiMemorySomeUsec', 'psiIoSomeUsec'] as const;

/** A field in ms from one in µs; the spec's own fields are checked with the line, the others here. */
const inMs = (cpu: Cpu, field: string): number | undefined => {
  const value = cpu[field];
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_VALUE ? value / 1000 : undefined;
};

/** Adds what a cpu line tells; what the machine does not offer stays away. Pressure counts only when it is the session's own. */
const addReadings = (reading: Reading, cpu: Cpu, ownPressure: boolean): void => {
  reading.wallMs = cpu.wallMs;
  const [throttled, steal, speed] = [
    inMs(cpu, 'throttledUsec'),
    inMs(cpu, 'stealUsec'),
    inMs(cpu, 'probeUsec'),
  ];
  if (throttled !== undefined) reading.throttledMs = throttled;
  if (steal !== undefined) reading.stealMs = steal;
  if (speed !== undefined) reading.speedMs = speed;
  if (typeof cpu.mhz === 'number') reading.mhz = cpu.mhz;
  if (!ownPressure) return;
  for (const field of PRESSURES) {
    const stalled = inMs(cpu, field);
    if (stalled !== undefined) reading.stalledMs = Math.max(reading.stalledMs ?? 0, stalled);
  }
};

/** The samples of a session in the order they ran. */
export class Readings {
  readonly all: Reading[] = [];
  #pin: Pin | undefined;
  #before: string | undefined;
  #place = { turns: 0, round: -1, position: 0 };

  /** The pin line says whose pressure is read: that of a whole machine is not the sample's own. */
  begin(pin: Pin): void {
    this.#pin = pin;
  }

  /** A warm-up: only what comes after it is told. */
  warmup(target: string): void {
    this.#before = target;
  }

  add({ target, turns, sample: round }: Sample, cpu: Cpu | undefined): void {
    const place = this.#place;
    this.#place =
      place.turns === turns && place.round === round
        ? { turns, round, position: place.position + 1 }
        : { turns, round, position: 0 };
    const reading: Reading = { target, turns, round, position: this.#place.position };
    if (this.#before !== undefined) reading.predecessor = this.#before;
    if (cpu) addReadings(reading, cpu, this.#pin?.['pressureOf'] === 'cgroup');
    this.all.push(reading);
    this.#before = target;
  }
}
