/** Memory: enough, all of it in memory, in pages and places that don't depend on luck. Pure. */
import type { Machine } from '../../../shared/machine.ts';
import { area, bytes, type Check, type Finding } from './finding.ts';

const { ok, warn } = area('memory');

const LITTLE = 2 ** 30;

const meminfo = (machine: Machine, name: string): number | undefined => {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(machine.read('/proc/meminfo') ?? '')?.[1];
  return found === undefined ? undefined : Number(found) * 1024;
};

const available = (machine: Machine): Finding[] => {
  const free = meminfo(machine, 'MemAvailable');
  if (free === undefined) return [];
  const values = { available_bytes: free };
  return [
    free >= LITTLE
      ? ok('available', bytes(free), 'room for workloads, harness and page cache', values)
      : warn(
          'available',
          bytes(free),
          'the page cache is pushed out, and with it what a warm sample reads',
          'stop what holds memory',
          values,
        ),
  ];
};

const swap = (machine: Machine): Finding => {
  const total = meminfo(machine, 'SwapTotal');
  const used = (total ?? 0) - (meminfo(machine, 'SwapFree') ?? 0);
  if (total === undefined || total === 0) return ok('swap', 'none', 'memory stays in memory');
  return used > 0
    ? warn(
        'swap',
        `${bytes(used)} of ${bytes(total)} in use`,
        'a page that was swapped out is read from a disk in the middle of a sample',
        'as root: swapoff -a',
        { used_bytes: used },
      )
    : ok('swap', `${bytes(total)}, unused`, 'memory stays in memory while there is enough', {
        used_bytes: 0,
      });
};

const hugePages = (machine: Machine): Finding => {
  const mode = /\[(\w+)\]/.exec(machine.word('/sys/kernel/mm/transparent_hugepage/enabled') ?? '')?.[1];
  if (mode === undefined) return ok('huge-pages', 'not told', 'transparent huge pages are off, or hidden');
  return mode === 'always'
    ? warn(
        'huge-pages',
        mode,
        'the kernel joins pages when it finds room: speed depends on how fragmented memory is',
        'as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled',
      )
    : ok('huge-pages', mode, 'huge pages only where a program asks for them');
};

const layout = (machine: Machine): Finding => {
  const mode = machine.word('/proc/sys/kernel/randomize_va_space');
  return mode === '0'
    ? warn(
        'layout',
        'address space layout is not randomized',
        'every process gets the same layout: its luck looks like a property of the program',
        'as root: sysctl kernel.randomize_va_space=2',
      )
    : ok(
        'layout',
        mode === undefined ? 'not told' : 'randomized for each process',
        'luck with a layout averages out over rounds',
      );
};

export const memory: Check = ({ machine }) => [
  ...available(machine),
  swap(machine),
  hugePages(machine),
  layout(machine),
];
