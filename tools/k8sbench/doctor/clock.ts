/** How steady the cores' clocks are, and what reading the time costs. Pure. */
import { formatCpuList } from '../../../shared/cpu-list.ts';
import { governorsOf, isFixed } from '../../../shared/governors.ts';
import type { Machine } from '../../../shared/machine.ts';
import { boost as boostOf } from '../../../shared/topology.ts';
import { allowedCores } from './cores.ts';
import { area, type Check, type Finding } from './finding.ts';

const { ok, warn } = area('clock');

const governor = (machine: Machine, cpus: readonly number[]): Finding => {
  const governors = governorsOf(machine, cpus);
  if (governors.size === 0) return ok('governor', 'none', "the clock is fixed, or the hypervisor's affair");
  const groups = Map.groupBy(governors.keys(), (cpu) => governors.get(cpu)!);
  const found = [...groups].map(([name, members]) => `${name} on ${formatCpuList(members)}`).join(', ');
  return isFixed(governors)
    ? ok('governor', found, 'cores keep their clock')
    : warn(
        'governor',
        found,
        "clocks move with load: a session is refused, or with '--allow-frequency-scaling' reported and never judged",
        "as root: cpupower frequency-set -g performance; or measure on cores with that governor ('--pin')",
      );
};

const boost = (machine: Machine): Finding => {
  const on = boostOf(machine);
  if (on === undefined) return ok('boost', 'not told', 'a session records it where a driver tells it');
  if (!on) return ok('boost', 'off', 'no core runs faster while others are idle');
  const switchOff =
    machine.word('/sys/devices/system/cpu/intel_pstate/no_turbo') === undefined
      ? 'echo 0 > /sys/devices/system/cpu/cpufreq/boost'
      : 'echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo';
  return warn(
    'boost',
    'on',
    'the clock depends on temperature, and on how many cores are busy',
    `as root: ${switchOff}`,
  );
};

/** Clock sources that a program reads without a system call. */
const FAST = /^(tsc|kvm-clock|arch_sys_counter|hyperv_clocksource_tsc_page)$/;

const source = (machine: Machine): Finding => {
  const name = machine.word('/sys/devices/system/clocksource/clocksource0/current_clocksource');
  if (name === undefined) return ok('source', 'not told', 'reading the time is cheap on most machines');
  return FAST.test(name)
    ? ok('source', name, 'reading the time costs some 20 ns')
    : warn(
        'source',
        name,
        'each reading of the time is a system call or a slow device: short turns look longer',
        "boot with clocksource=tsc when 'dmesg' does not call the TSC unstable",
      );
};

const heat = (machine: Machine, cpus: readonly number[]): Finding[] => {
  const counts = cpus.map((cpu) =>
    Number(machine.word(`/sys/devices/system/cpu/cpu${cpu}/thermal_throttle/core_throttle_count`)),
  );
  const total = counts.filter((one) => one > 0).reduce((sum, one) => sum + one, 0);
  return total > 0
    ? [
        warn(
          'heat',
          `cores were slowed down ${total} times since boot, too hot`,
          'a warm machine is a slower one',
          'cool it, or leave pauses between runs',
          { throttled: total },
        ),
      ]
    : [];
};

const power = (machine: Machine): Finding[] => {
  const supplies = machine.list('/sys/class/power_supply').map((name) => `/sys/class/power_supply/${name}`);
  const mains = supplies.filter((path) => machine.word(`${path}/type`) === 'Mains');
  return mains.length > 0 && mains.every((path) => machine.word(`${path}/online`) === '0')
    ? [warn('power', 'on battery', 'clocks are lowered to save it', 'plug it in')]
    : [];
};

export const clock: Check = ({ machine }) => {
  const cpus = allowedCores(machine).map((core) => core.cpu);
  return [
    governor(machine, cpus),
    boost(machine),
    source(machine),
    ...heat(machine, cpus),
    ...power(machine),
  ];
};
