/** Lists of CPUs as the kernel and `taskset -c` write them: `0-3,8`. */

/** The CPUs of a list, ascending, each once; `undefined` when it isn't one. An empty list (no isolated cores) has none. */
export const parseCpuList = (text: string): number[] | undefined => {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const cpus = new Set<number>();
  for (const part of trimmed.split(',')) {
    const found = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    if (!found) return undefined;
    const from = Number(found[1]);
    const to = Number(found[2] ?? found[1]);
    if (to < from) return undefined;
    for (let cpu = from; cpu <= to; cpu++) cpus.add(cpu);
  }
  return [...cpus].toSorted((a, b) => a - b);
};

/** The shortest list of these CPUs. */
export const formatCpuList = (cpus: readonly number[]): string => {
  const ranges: [number, number][] = [];
  for (const cpu of cpus.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && cpu <= last[1] + 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
};

/** The `Cpus_allowed_list` of a `/proc/<pid>/status` text. */
export const allowedListOf = (status: string | null | undefined): string | undefined =>
  /^Cpus_allowed_list:\s*(\S*)/m.exec(status ?? '')?.[1];
