import type { Job } from '../../schemas/job.ts';
import type { Plan } from '../../schemas/plan.ts';
import type { Run } from '../../schemas/run.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { Talk } from '../../shared/talk.ts';
import type { World } from '../../shared/world.ts';
import type { Ending } from './ending.ts';
import type { JobFile } from './job-file.ts';

/** How this call of the tool is to behave, for every session in it. */
export interface Manner {
  world: World;
  talk: Talk;
  /** Keep the fixtures. */
  keep: boolean;
  /** Measure a finished run again. */
  force: boolean;
  /** How long a cause that does not pass by itself may stand before it ends the run, s. */
  settle_s: number;
  /** Leave once the session is on its way in the cluster. */
  detach: boolean;
  /** Ask the kubelet for its configuration, too. */
  readKubeletConfig: boolean;
  /** Submit manifest.yaml although it is not what `render` writes. */
  editedManifest: boolean;
  /** Aborted when another session of the same run has failed. */
  stop?: AbortSignal;
}

/** One session to be measured. */
export interface Task extends Manner {
  run: RunDirectory;
  about: Run;
  plan: Plan;
  /** The compact plan's exact JSON text, whose digest stands in the log's facts. */
  compact: string;
  job: JobFile;
  /** An earlier runner began it, and it goes on by itself. */
  attaching: boolean;
}

export type Unclaimed = Omit<Task, 'job' | 'attaching'>;

/** A way for artifacts to reach the place where they run. */
export interface Delivery {
  /** Its sessions go on without a runner, so that a later one takes up what a killed one began. */
  attaches: boolean;
  /** Refuses, before the run is claimed, what can't be measured from here; gives what job.json keeps of what it saw. */
  admit(task: Unclaimed): Promise<Pick<Job, 'manifest'>>;
  /** What measuring would do, as data, for people who look before they leap. */
  wouldDo(task: Unclaimed): object;
  /** Measures a session where it runs, and leaves its log in the run directory and nothing elsewhere. */
  measure(task: Task): Promise<Ending>;
}
