import type { Tool } from '../../shared/command-line.ts';

export type Group = 'session' | 'judging' | 'trials' | 'pipelines' | 'about the tools';

/** One word after `k8sbench`. */
export interface Entry {
  group: Group;
  /** One line; the tool's own. */
  about: string;
  /** Loaded when it is called, so that a tool starts as fast as if it were alone. */
  load(): Promise<{ tool: Tool }>;
}
