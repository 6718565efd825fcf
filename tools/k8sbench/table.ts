import type { Entry } from './entry.ts';

/** What k8sbench is, in one line. */
export const ABOUT = 'A/B benchmarks, process by process, judged only when the measurement carries it';

/** Every tool, and what the dispatcher itself can do, in the order people meet them. */
export const TOOLS: Readonly<Record<string, Entry>> = {
  profile: {
    group: 'session',
    about: 'makes, checks and prints profiles: what is measured',
    load: () => import('../profile/main.ts'),
  },
  plan: {
    group: 'session',
    about: 'refuses all that can be refused early, and lays down every step of a session',
    load: () => import('../plan/main.ts'),
  },
  bundle: {
    group: 'session',
    about: 'builds, checks, packs and compares bundles: what a session measures, pinned to the last byte',
    load: () => import('../bundle/main.ts'),
  },
  'pick-nodes': {
    group: 'session',
    about: 'ranks nodes by free CPU and picks those to run on',
    load: () => import('../pick-nodes/main.ts'),
  },
  render: {
    group: 'session',
    about: 'writes the Job of a session as a manifest, without contacting a cluster',
    load: () => import('../render/main.ts'),
  },
  preflight: {
    group: 'session',
    about: 'tells whether account, namespace, cluster and image can do a run, before it is tried',
    load: () => import('../preflight/main.ts'),
  },
  pod: {
    group: 'session',
    about: 'measures the targets of a plan, process by process',
    load: () => import('../pod/main.ts'),
  },
  'run-session': {
    group: 'session',
    about: 'measures a planned run: starts its session, follows its log, verifies and keeps it',
    load: () => import('../run-session/main.ts'),
  },
  analyze: {
    group: 'judging',
    about: "judges a session's log: samples, noise, exact values, verdicts, conclusions",
    load: () => import('../analyze/main.ts'),
  },
  tracker: {
    group: 'judging',
    about: 'the history of comparisons: one line per size and candidate, append-only',
    load: () => import('../tracker/main.ts'),
  },
  view: {
    group: 'judging',
    about: 'makes one page to look at of a run, or of a history',
    load: () => import('../view/main.ts'),
  },
  export: {
    group: 'judging',
    about: "prints a run in another program's format",
    load: () => import('../export/main.ts'),
  },
  import: {
    group: 'judging',
    about: "makes a run directory of another program's measurements",
    load: () => import('../import/main.ts'),
  },
  stage: {
    group: 'trials',
    about: "packs a trial bundle and prints the Job that unpacks it onto the trials' claim",
    load: () => import('../stage/main.ts'),
  },
  model: {
    group: 'trials',
    about: 'a model for trials: prints its fetch Job, engine, Service and policy; pins models in models.lock',
    load: () => import('../model/main.ts'),
  },
  trials: {
    group: 'trials',
    about:
      'agents on tasks: locks tasks, prints the Jobs of a run, collects their results, tells who solves how much',
    load: () => import('../trials/main.ts'),
  },
  'tasks-lock': {
    group: 'trials',
    about: "pins a dataset's tasks: commit, files, images by digest; --check compares a lock with a checkout",
    load: async () => ({ tool: (await import('../trials/main.ts')).tasksLock }),
  },
  compare: {
    group: 'pipelines',
    about: 'plans, measures, judges and records a comparison',
    load: async () => ({ tool: (await import('./pipelines.ts')).compare }),
  },
  calibrate: {
    group: 'pipelines',
    about: "measures the reference alone: the noise floor that a comparison's nodes have",
    load: async () => ({ tool: (await import('./pipelines.ts')).calibrate }),
  },
  report: {
    group: 'pipelines',
    about: 'judges a finished run again, with other flags, and records it again',
    load: async () => ({ tool: (await import('./pipelines.ts')).report }),
  },
  schema: {
    group: 'about the tools',
    about: 'prints the JSON Schema of a file format, or the list of formats',
    load: () => import('./schema.ts'),
  },
  doctor: {
    group: 'about the tools',
    about: "tells what this machine can and can't do for a local session, and what to do about it",
    load: () => import('./doctor.ts'),
  },
  completion: {
    group: 'about the tools',
    about: 'prints a completion script for a shell',
    load: async () => ({ tool: (await import('./completion.ts')).completionOf(TOOLS) }),
  },
};
