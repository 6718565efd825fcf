import type { CompactPlan } from '../../schemas/plan.ts';
import { type Cgroup, isMachineRoot } from '../../shared/cgroup.ts';
import { ACCOUNTS_PROCESSES } from './launch.ts';
import type { Machine } from '../../shared/machine.ts';
import { enterOwnCgroup, type OwnCgroup } from './own-cgroup.ts';
import type { Accounting } from './rig.ts';

/** Where the CPU time of measured processes comes from. */
export interface Accounted {
  accounting: Accounting;
  /** The cgroup whose usage counts; absent unless accounting is `cgroup`. */
  usageDir?: string;
  own?: OwnCgroup;
  /** Why it isn't the cgroup's. */
  reason?: string;
  /** The session runs in a container whose first process is in the same cgroup, and adopts what its processes leave. */
  contained: boolean;
}

const fallback = (reason: string): Accounted => ({
  contained: false,
  accounting: ACCOUNTS_PROCESSES ? 'process' : 'none',
  reason: ACCOUNTS_PROCESSES ? reason : `${reason}, and this runtime doesn't account for single processes`,
});

/**
 * In a pod, the container's cgroup: nothing else is in it. Elsewhere a cgroup of the session's own when one can be made; else
 * the runtime's account of each process, where it has one; else nothing, with the reason (DESIGN §4.5).
 */
export const accountingOf = (
  machine: Machine,
  cgroup: Cgroup,
  delivery: CompactPlan['delivery'],
): Accounted => {
  if (!cgroup.usage) return fallback(cgroup.reason ?? 'no cgroup counts CPU time');
  if (delivery === 'local') {
    const own = enterOwnCgroup(machine, cgroup, process.pid);
    return typeof own === 'string'
      ? fallback(own)
      : { accounting: 'cgroup', usageDir: own.dir, own, contained: false };
  }
  return isMachineRoot(machine, cgroup.usage)
    ? fallback("the session's cgroup is the whole machine's")
    : {
        accounting: 'cgroup',
        usageDir: cgroup.usage.dir,
        contained: machine.read('/proc/1/cgroup') === machine.read('/proc/self/cgroup'),
      };
};
