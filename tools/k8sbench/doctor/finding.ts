/** What the doctor says of one thing, and what the doctor looked at. */
import { areaOf, type Finding as Found } from '../../../shared/findings.ts';
import type { Machine } from '../../../shared/machine.ts';

export type Finding = Found<'programs' | 'cores' | 'clock' | 'accounting' | 'neighbours' | 'memory' | 'disk'>;

/** What was tried on the real machine, because reading files doesn't tell; texts in place of a result say why there is none. */
export interface Trials {
  /** Program → its path; absent: not on the PATH. */
  programs: Readonly<Record<string, string>>;
  /** Releases of the runtimes on the PATH that start, such as `24.1.0`. */
  node?: string;
  bun?: string;
  /** How this program itself would run a workload. */
  ownRuntime: string;
  /** Where the built-in workloads are. */
  workloads: { root: string } | string;
  /** A process pinned to one allowed core: that core, and where it may run in truth. */
  pin: { wanted: string; got: string } | string;
  /** A process was moved into a cgroup made for it. */
  leaf: { directory: string } | string;
  /** The directory of the fixtures: times of one small durable write each, s. */
  temporary:
    { path: string; free_bytes: number; fsync_s: readonly number[] } | { path: string; problem: string };
}

export interface Sight {
  machine: Machine;
  /** /proc/stat, twice. */
  stat: { before: string; after: string };
  trials: Trials;
}

export type Check = (sight: Sight) => Finding[];

export const area = areaOf<Finding['area']>;

/** A share in per cent, with the digits that matter. */
export const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** A size in the unit that people use. */
export const bytes = (size: number): string =>
  size >= 2 ** 30 ? `${(size / 2 ** 30).toFixed(1)} GiB` : `${Math.round(size / 2 ** 20)} MiB`;
