import type { Tool } from '../../shared/command-line.ts';

/** What k8sbench is, in one line. */
export const ABOUT = 'A/B benchmarks, process by process, judged only when the measurement carries it';

export type Group = 'session' | 'judging' | 'pipelines' | 'about the tools';

/** One word after `k8sbench`. */
export interface Entry {
  group: Group;
  /** One line; the tool's own. */
  about: string;
  /** Loaded when it is called, so that a tool starts as fast as if it were alone. */
  load(): Promise<{ tool: Tool }>;
}

/** Every tool, and what the dispatcher itself can do, in the order people meet them. */
export const TOOLS: Readonly<Record<string, Entry>> = {
  profile: {
    group: 'session',
    about: 'makes, checks and prints profiles: what is measured',
    load: () => import('../profile/main.ts'),
  },
  'run-session': {
    group: 'session',
    about: 'measures a planned run: starts its session, follows its log, verifies and keeps it',
    load: () => import('../run-session/main.ts'),
  },
  analyze: {
    group: 'judging',
    about: "judges a session's log: samples, noise, exact values, verdicts",
    load: () => import('../analyze/main.ts'),
  },
  schema: {
    group: 'about the tools',
    about: 'prints the JSON Schema of a file format, or the list of formats',
    load: () => import('./schema.ts'),
  },
  completion: {
    group: 'about the tools',
    about: 'prints a completion script for a shell',
    load: () => import('./completion.ts'),
  },
};
