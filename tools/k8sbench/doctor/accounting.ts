/** What CPU time is counted by, and what limits hold the session back. Pure. */
import { cpuQuota, locateCgroup, memoryMax } from '../../../shared/cgroup.ts';
import { allowedCores } from './cores.ts';
import { area, bytes, type Check } from './finding.ts';

const { ok, warn } = area('accounting');

/** Less than this is little for a workload with its harness, bytes. */
const LITTLE = 2 ** 30;

export const accounting: Check = ({ machine, trials: { leaf } }) => {
  const cgroup = locateCgroup(machine);
  const quota = cpuQuota(machine, cgroup);
  const [allowed, period] = (quota.cpuMax ?? 'max').split(' ');
  const cpus = Number(allowed) / Number(period);
  // As much as all allowed cores together can use holds nothing back.
  const binds = Number.isFinite(cpus) && cpus < allowedCores(machine).length;
  const memory = memoryMax(machine, cgroup);
  return [
    typeof leaf === 'string'
      ? warn(
          'cpu-time',
          leaf,
          "CPU time is the runtime's account of each process, which misses children that nobody waited for",
          "run it as root, or as 'systemd-run --user --scope -p Delegate=yes k8sbench …'",
        )
      : ok(
          'cpu-time',
          `counted by a cgroup (${cgroup.kind}) of the session's own, below '${leaf.directory}'`,
          'it holds all that a measured process starts, and nothing else',
        ),
    binds
      ? warn(
          'quota',
          `${cpus.toFixed(2)} CPUs in each ${Number(period) / 1000} ms ('${quota.dir}')`,
          'the kernel stops processes that used theirs up: such samples are counted and told',
          'measure outside the limit, or raise it above the cores that are measured',
          { cpus },
        )
      : ok(
          'quota',
          Number.isFinite(cpus) ? `${cpus.toFixed(2)} CPUs, all that are allowed` : 'none',
          'nothing holds CPU time back',
        ),
    memory !== null && memory !== 'max' && Number(memory) < LITTLE
      ? warn(
          'memory-limit',
          bytes(Number(memory)),
          'a workload that needs more is killed',
          'raise the limit of memory',
          { limit_bytes: Number(memory) },
        )
      : ok(
          'memory-limit',
          memory === null || memory === 'max' ? 'none' : bytes(Number(memory)),
          'enough for most workloads and the harness',
        ),
  ];
};
