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
}

/** One session to be measured. */
export interface Task extends Manner {
  run: RunDirectory;
  about: Run;
  plan: Plan;
  /** The compact plan's exact JSON text, whose digest stands in the log's facts. */
  compact: string;
  job: JobFile;
}

/** A way for artifacts to reach the place where they run. */
export interface Delivery {
  /** Refuses, before the run is claimed, what can't be measured from here. */
  refuse(task: Omit<Task, 'job'>): void;
  /** Measures a session where it runs, and leaves its log in the run directory and nothing elsewhere. */
  measure(task: Task): Promise<Ending>;
}
