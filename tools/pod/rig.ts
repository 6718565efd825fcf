import type { CompactPlan } from '../../schemas/plan.ts';
import type { ClockSampler } from './clock.ts';
import type { Conditions } from './conditions.ts';
import type { Leftovers } from './leftovers.ts';
import type { Machine } from '../../shared/machine.ts';
import type { CpuMeter } from './meter.ts';
import type { OutputPipe } from './output-pipe.ts';
import type { Settle } from './settle.ts';
import type { SpeedProbe } from './speed-probe.ts';
import type { StderrFiles } from './stderr-files.ts';
import type { StartCost } from './start-cost.ts';
import type { SurroundingsMeter } from './surroundings.ts';

/** What the CPU time of a process is taken from: the session's cgroup, the runtime's accounting of each process, nothing. */
export type Accounting = 'cgroup' | 'process' | 'none';

/** What all steps of a session are run with. */
export interface Rig {
  machine: Machine;
  meter: CpuMeter;
  surroundings: SurroundingsMeter;
  clock: ClockSampler;
  conditions: Conditions;
  settle: Settle;
  probe: SpeedProbe | undefined;
  leftovers: Leftovers;
  startCost: StartCost;
  pipe: OutputPipe;
  accounting: Accounting;
  /** Words before each command: `taskset -c LIST`, or none. */
  prefix: readonly string[];
  affinity: {
    /** Cores that a measured process may run on, as the kernel writes them. */
    expected: string;
    pinned: boolean;
  };
  cwd: string;
  env: Readonly<Record<string, string>>;
  stderr: StderrFiles;
  limits: CompactPlan['limits'];
  /** Aborted when the session must stop; its reason is a SessionError. */
  stopping: AbortSignal;
}
