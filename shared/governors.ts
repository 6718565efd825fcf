import type { Machine } from './machine.ts';

/** A file of a core's frequency scaling. */
export const frequencyFile = (cpu: number, file: string): string =>
  `/sys/devices/system/cpu/cpu${cpu}/cpufreq/${file}`;

/** Governor of each core that has one; a file that is there and can't be read is `unreadable`. */
export const governorsOf = (machine: Machine, cpus: readonly number[]): Map<number, string> => {
  const governors = new Map<number, string>();
  for (const cpu of cpus) {
    const text = machine.read(frequencyFile(cpu, 'scaling_governor'));
    if (text !== undefined) governors.set(cpu, text?.trim() || 'unreadable');
  }
  return governors;
};

/** Whether the clock is fixed: no governor, or `performance` on every core (spec §5). */
export const isFixed = (governors: ReadonlyMap<number, string>): boolean =>
  [...governors.values()].every((one) => one === 'performance');
