import type { Cgroup } from '../../shared/cgroup.ts';
import { allowedListOf } from '../../shared/cpu-list.ts';
import { frequencyFile } from '../../shared/governors.ts';
import type { Machine, Reread } from '../../shared/machine.ts';
import { type Code, SessionError } from './session-error.ts';

interface Condition {
  code: Code;
  name: string;
  file: Reread;
  of(text: string | undefined): string | undefined;
  /** What it was when the session began. */
  before: string | undefined;
}

const trimmed = (text: string | undefined): string | undefined => text?.trim();

/**
 * What must stay as it was from the first seed to the last sample: the allowed cores, the cpuset, the online cores and the
 * governors of the measured ones. A change voids the session (DESIGN §2.2, exit 5).
 */
export class Conditions {
  #all: Condition[] = [];

  constructor(machine: Machine, cgroup: Cgroup, measured: readonly number[]) {
    const add = (code: Code, name: string, path: string, of: Condition['of'] = trimmed): void => {
      const file = machine.open(path);
      const before = of(file.text());
      if (before === undefined) file.close();
      else this.#all.push({ code, name, file, of, before });
    };
    // The cpuset stands first: it moves the affinity, and the cause is worth more than its effect.
    if (cgroup.cpuset)
      for (const name of cgroup.cpuset.version === 2
        ? ['cpuset.cpus.effective']
        : ['cpuset.effective_cpus', 'cpuset.cpus'])
        add('cpuset', "the session's cpuset", `${cgroup.cpuset.dir}/${name}`);
    add('cpuset', 'the list of online cores', '/sys/devices/system/cpu/online');
    add('affinity', "the session's allowed cores", '/proc/self/status', allowedListOf);
    for (const cpu of measured)
      add('governor', `the governor of core ${cpu}`, frequencyFile(cpu, 'scaling_governor'));
  }

  /** The first change since the session began. */
  changed(): SessionError | undefined {
    for (const { code, name, file, of, before } of this.#all) {
      const now = of(file.text());
      if (now !== before)
        return new SessionError(
          code,
          `${name} changed from '${before}' to '${now ?? 'unreadable'}' during the session; its measurements are void, run it again`,
        );
    }
    return undefined;
  }

  close(): void {
    for (const { file } of this.#all) file.close();
  }
}
