/** The kernel's exact count of what a cgroup used: also processes that no look ever met are in it. */
import { type Proc, PROC } from './tree.ts';

/** Directory and file of the cgroup that this process is in and that is not the whole machine's; undefined without one. */
const counterOf = (proc: Proc): { dir: string; read(): number | undefined } | undefined => {
  const mounts = (proc.read('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => {
    const found = /^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S*)$/.exec(line);
    return found
      ? [{ root: found[1]!, point: found[2]!, type: found[3]!, options: found[4]!.split(',') }]
      : [];
  });
  for (const line of (proc.read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (names === undefined || path === undefined) continue;
    const mount = mounts.find((one) =>
      names === ''
        ? one.type === 'cgroup2'
        : one.type === 'cgroup' && one.options.includes('cpuacct') && names.split(',').includes('cpuacct'),
    );
    if (!mount) continue;
    // A container sees its own part as the top.
    const below = path.startsWith(mount.root) ? path.slice(mount.root === '/' ? 0 : mount.root.length) : '';
    const dir = `${mount.point}${below}`.replace(/\/$/, '');
    // The top of a hierarchy is the machine, unless its root is a part already.
    if (
      dir === mount.point &&
      mount.root === '/' &&
      proc.read('/proc/1/cgroup') !== proc.read('/proc/self/cgroup')
    )
      continue;
    if (dir === mount.point && proc.read(`/proc/2/comm`) === 'kthreadd\n') continue;
    const usage =
      names === ''
        ? () => {
            const usec = /^usage_usec (\d+)$/m.exec(proc.read(`${dir}/cpu.stat`) ?? '')?.[1];
            return usec === undefined ? undefined : Number(usec) / 1000;
          }
        : () => {
            const ns = proc.read(`${dir}/cpuacct.usage`);
            return ns === undefined ? undefined : Number(ns) / 1e6;
          };
    if (usage() !== undefined) return { dir, read: usage };
  }
  return undefined;
};

/** CPU time of all threads of a process, ms. */
const processCpu = (proc: Proc, pid: string): number =>
  proc
    .list(`/proc/${pid}/task`)
    .reduce(
      (sum, thread) => sum + Number(proc.read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
      0,
    ) / 1e6;

/**
 * What everything in this process's cgroup used beside this process and the session that started it. Null where this process
 * is in no cgroup of its own session's: then nothing here counts exactly.
 */
export class ExactCpu {
  readonly #proc: Proc;
  readonly #counter: ReturnType<typeof counterOf>;

  constructor(proc: Proc = PROC) {
    this.#proc = proc;
    this.#counter = counterOf(proc);
  }

  /** A reading, ms; the difference of two is what the agent's processes used, those in `agent` and all unseen ones. */
  read(agent: ReadonlySet<number>): number | null {
    const usage = this.#counter?.read();
    if (usage === undefined) return null;
    const { user, system } = process.cpuUsage();
    const others = (this.#proc.read(`${this.#counter!.dir}/cgroup.procs`) ?? '')
      .split('\n')
      .filter((pid) => pid !== '' && Number(pid) !== process.pid && !agent.has(Number(pid)))
      .reduce((sum, pid) => sum + processCpu(this.#proc, pid), 0);
    return usage - (user + system) / 1000 - others;
  }
}
