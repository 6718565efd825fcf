import { setTimeout as sleep } from 'node:timers/promises';
import type { CompactPlan } from '../../schemas/plan.ts';
import { governorsOf, isFixed } from '../../shared/governors.ts';
import { formatCpuList } from '../../shared/cpu-list.ts';
import type { Machine } from '../../shared/machine.ts';
import { choosePin, idleShares, type Pin } from './pin.ts';
import type { Core } from '../../shared/topology.ts';

/** Time over which idle shares are taken, ms (spec §5). */
const IDLE_MS = 1000;

/** The measured cores and what holds for them. */
export interface Cores {
  pin: Pin;
  /** As the kernel and taskset write them. */
  list: string;
  pinned: boolean;
  gomaxprocs: number;
  governors: Map<number, string>;
  fixedClock: boolean;
}

/** GOMAXPROCS of every process: as many as there are measured cores, at most the CPUs asked for (spec §5). */
export const gomaxprocsOf = (measured: number, cpus: number): number => Math.max(1, Math.min(measured, cpus));

/** Chooses the measured cores and looks at their clocks. */
export const chooseCores = async (
  machine: Machine,
  plan: Pick<CompactPlan, 'pin' | 'cpus'>,
  allowed: readonly Core[],
  stopping: AbortSignal,
): Promise<Cores> => {
  const pin = await choosePin(plan.pin, plan.cpus, allowed, async () => {
    const before = machine.read('/proc/stat') ?? '';
    await sleep(IDLE_MS, undefined, { signal: stopping }).catch(() => stopping.throwIfAborted());
    return idleShares(before, machine.read('/proc/stat') ?? '');
  });
  const governors = governorsOf(machine, pin.cpus);
  return {
    pin,
    list: formatCpuList(pin.cpus),
    pinned: pin.method !== 'none',
    gomaxprocs: gomaxprocsOf(pin.cpus.length, plan.cpus),
    governors,
    fixedClock: isFixed(governors),
  };
};

/** Shares to four digits: the kernel counts ticks. */
const share = (value: number): number => Math.round(value * 1e4) / 1e4;

const coreFields = ({ siblings, ...core }: Core): Record<string, unknown> => ({
  ...core,
  ...(siblings ? { siblings: formatCpuList(siblings) } : {}),
});

/** Fields of the pin line. */
export const pinFields = (cores: Cores, allowed: readonly Core[]): Record<string, unknown> => ({
  idle: Object.fromEntries([...cores.pin.idle].map(([cpu, idle]) => [cpu, share(idle)])),
  method: cores.pin.method,
  cpus: cores.list,
  gomaxprocs: cores.gomaxprocs,
  governors: Object.fromEntries(cores.governors),
  fixedClock: cores.fixedClock,
  cores: allowed.filter((core) => cores.pin.cpus.includes(core.cpu)).map(coreFields),
});
