import { frequencyFile } from '../../shared/governors.ts';
import type { Machine, Reread } from '../../shared/machine.ts';
import { SessionError } from './session-error.ts';

/** The refusal of cores whose clock moves, naming them. */
export const scalingRefusal = (governors: ReadonlyMap<number, string>): SessionError => {
  const moving = [...governors].filter(([, governor]) => governor !== 'performance');
  return new SessionError(
    'clock',
    `the clock of the measured cores is not fixed: ${moving.map(([cpu, governor]) => `core ${cpu} '${governor}'`).join(', ')}; ` +
      "choose cores without a governor or with 'performance', or pass --allow-frequency-scaling to measure without judging",
  );
};

/** Current clocks while a process runs: of each reading, the highest core's. */
export class ClockSampler {
  #files: Reread[];
  #sum = 0;
  #count = 0;
  #lowest = Number.POSITIVE_INFINITY;
  #highest = 0;

  constructor(machine: Machine, cpus: readonly number[]) {
    this.#files = cpus.map((cpu) => machine.open(frequencyFile(cpu, 'scaling_cur_freq')));
    this.#files = this.#files.filter((file) => file.text() !== undefined);
  }

  /** Whether any measured core reports its clock. */
  get available(): boolean {
    return this.#files.length > 0;
  }

  /** Readings since the last {@link take}. */
  get count(): number {
    return this.#count;
  }

  sample(): void {
    const clocks = this.#files.map((file) => Number(file.text())).filter((khz) => khz > 0);
    if (clocks.length === 0) return;
    const mhz = Math.max(...clocks) / 1000;
    this.#sum += mhz;
    this.#count++;
    this.#lowest = Math.min(this.#lowest, mhz);
    this.#highest = Math.max(this.#highest, mhz);
  }

  /** Mean, lowest and highest reading in MHz since the last call; empty when there is none. */
  take(): { mhz?: number; mhzMin?: number; mhzMax?: number } {
    if (this.#count === 0) return {};
    const clocks = { mhz: this.#sum / this.#count, mhzMin: this.#lowest, mhzMax: this.#highest };
    this.#sum = 0;
    this.#count = 0;
    this.#lowest = Number.POSITIVE_INFINITY;
    this.#highest = 0;
    return clocks;
  }

  close(): void {
    for (const file of this.#files) file.close();
  }
}
