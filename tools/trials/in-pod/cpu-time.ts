/** CPU time that the container has used, from its cgroup as a container sees it; null where it can't be read. */
import { readFileSync } from 'node:fs';

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
};

/** ms; cgroup v2 counts µs, v1 ns. */
export const cpuMs = (root = '/sys/fs/cgroup'): number | null => {
  const v2 = /^usage_usec (\d+)$/m.exec(read(`${root}/cpu.stat`) ?? '')?.[1];
  if (v2 !== undefined) return Number(v2) / 1000;
  for (const controller of ['cpuacct', 'cpu,cpuacct', 'cpu']) {
    const ns = /^(\d+)\s*$/.exec(read(`${root}/${controller}/cpuacct.usage`) ?? '')?.[1];
    if (ns !== undefined) return Number(ns) / 1e6;
  }
  return null;
};
