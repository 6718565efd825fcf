/** Who else is at work: on the cores, above them (a hypervisor), for memory and disks. Pure. */
import type { Machine } from '../../../shared/machine.ts';
import { allowedCores } from './cores.ts';
import { area, type Check, type Finding, percent } from './finding.ts';

const { ok, warn } = area('neighbours');

/** Shares above which something is said. */
const BUSY = 0.05;
const STOLEN = 0.005;
/** Per cent of the last minute in which somebody waited. */
const PRESSURE = 1;

interface Ticks {
  all: number;
  idle: number;
  steal: number;
}

/** Ticks of these CPUs in a `/proc/stat` text (proc(5)). */
const ticksOf = (stat: string, cpus: ReadonlySet<number>): Ticks => {
  const sum = { all: 0, idle: 0, steal: 0 };
  for (const [, cpu, rest] of stat.matchAll(/^cpu(\d+) (.*)$/gm)) {
    if (!cpus.has(Number(cpu))) continue;
    // guest and guest_nice, the last two, are counted in user and nice already.
    const values = rest!.trim().split(/\s+/).slice(0, 8).map(Number);
    sum.all += values.reduce((total, one) => total + one, 0);
    sum.idle += (values[3] ?? 0) + (values[4] ?? 0);
    sum.steal += values[7] ?? 0;
  }
  return sum;
};

const busy = (machine: Machine, { all, idle }: Ticks): Finding => {
  const load = (machine.word('/proc/loadavg') ?? '').split(' ').slice(0, 3).join(' ');
  if (!(all > 0)) return ok('busy', `not told; load ${load}`, "'/proc/stat' counts no time of these cores");
  const share = 1 - idle / all;
  const found = `${percent(share)} of the allowed cores' time in the last second; load ${load}`;
  return share <= BUSY
    ? ok('busy', found, 'the cores are free to be measured on', { busy: share })
    : warn(
        'busy',
        found,
        'other work takes turns with the measured processes',
        "stop it: 'top' shows what it is",
        {
          busy: share,
        },
      );
};

const steal = (now: Ticks, since: Ticks): Finding => {
  if (!(since.all > 0)) return ok('steal', 'not told', "'/proc/stat' counts no time of these cores");
  const values = {
    steal_since_boot: since.steal / since.all,
    ...(now.all > 0 ? { steal: now.steal / now.all } : {}),
  };
  const found =
    ('steal' in values ? `${percent(values.steal)} in the last second, ` : '') +
    `${percent(values.steal_since_boot)} since boot`;
  return Object.values(values).every((share) => share <= STOLEN)
    ? ok('steal', found, 'no hypervisor takes the cores away', values)
    : warn(
        'steal',
        found,
        'a hypervisor gives the cores to other machines, in the middle of a sample',
        'measure on a machine with cores of its own (dedicated, or bare metal)',
        values,
      );
};

const pressure = (machine: Machine): Finding => {
  const waits = (['cpu', 'memory', 'io'] as const).flatMap((kind) => {
    const some = /^some .*\bavg60=([\d.]+)/m.exec(machine.read(`/proc/pressure/${kind}`) ?? '')?.[1];
    return some === undefined ? [] : [{ kind, share: Number(some) }];
  });
  if (waits.length === 0)
    return ok(
      'pressure',
      'not told',
      'this kernel does not count who waits; a session records nothing of it',
    );
  const found = `${waits.map(({ kind, share }) => `${kind} ${share} %`).join(', ')} of the last minute`;
  const values = Object.fromEntries(waits.map(({ kind, share }) => [kind, share / 100]));
  return waits.every(({ share }) => share <= PRESSURE)
    ? ok('pressure', found, 'nobody waits for what a session needs', values)
    : warn(
        'pressure',
        found,
        `processes wait for ${waits
          .filter(({ share }) => !(share <= PRESSURE))
          .map(({ kind }) => kind)
          .join(' and ')}, and the measured ones will`,
        "wait until the machine is quiet, or find who it is with 'top'",
        values,
      );
};

export const neighbours: Check = ({ machine, stat }) => {
  const cpus = new Set(allowedCores(machine).map((core) => core.cpu));
  const [before, after] = [stat.before, stat.after].map((text) => ticksOf(text, cpus)) as [Ticks, Ticks];
  const now = {
    all: after.all - before.all,
    idle: after.idle - before.idle,
    steal: after.steal - before.steal,
  };
  return [busy(machine, now), steal(now, after), pressure(machine)];
};
