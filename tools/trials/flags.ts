/** What `trials` takes. */
import type { Call } from '../../shared/command-line.ts';
import { duration, list, many, readText, text, unlessNo, whole, yes } from '../../shared/flags.ts';
import { modelFlags } from '../../shared/task-run/models.ts';
import { settingFlags } from '../../shared/task-run/settings.ts';
import type { Verb } from '../../shared/verbs.ts';

export const lockFlags = {
  src: text("lock: the dataset's directory of tasks, a clean git checkout", 'DIR'),
  dataset: text("lock: the dataset's name", 'NAME'),
  'repo-url': text('lock: where it is published', 'URL'),
  commit: text("lock: its commit (default: the checkout's)", 'SHA'),
  published: text("lock: when that was published (default: the commit's time)", 'TIME'),
  mirror: many(text('lock: asked instead of a registry, before it', 'REGISTRY=URL')),
  check: text('lock: write nothing, tell how this lock differs from the checkout', 'FILE'),
};

export const lockOut = { out: text('lock: the lock (default: tasks.lock)', 'FILE') };
export const lockTasks = { tasks: list('only these tasks', 'A,…', readText) };

export const printFlags = {
  ...modelFlags,
  staged: text("print: the staged bundle's SHA-256", 'SHA256'),
  'tasks-lock': text('print: the locked tasks', 'FILE', { default: 'tasks.lock' }),
  'trial-arms': list('print: arms of the bundle that work on the tasks', 'A,…', readText),
  'arm-settings': many(text("print: an arm's settings; replaces built-in ones", 'FILE')),
  attempts: whole('print: tries of each task by each arm', 'N', { min: 1, max: 1000, default: 5 }),
  'trust-system': yes("print: score also what was changed of the image's commands and libraries; it is told"),
  ...settingFlags,
};

export const flags = {
  ...printFlags,
  ...lockFlags,
  run: text(
    "apply, collect, score: directory that 'trials --out' made; '-' reads its path from stdin",
    'DIR',
  ),
  from: text("score: result lines of no run; '-' is stdin", 'FILE'),
  prices: text('score: what tokens cost, a YAML or JSON file', 'FILE'),
  draws: whole('score: how often tasks are drawn again for intervals', 'N', {
    min: 100,
    max: 1_000_000,
    default: 10_000,
  }),
  seed: whole('score: of those draws', 'N', { default: 1, max: 2 ** 32 - 1 }),
  out: text(
    "print: directory that gets trials.yaml and trials.json; lock: the lock (default: tasks.lock); score: '-' prints the score",
    'PATH',
  ),
  json: yes('print: print trials.json; score: print the score'),
  tasks: list('print, lock: only these tasks', 'A,…', readText),
  'at-once': whole('apply: so many Jobs of the run at once, at most', 'K', { min: 1, default: 10 }),
  again: yes("apply: also trials that were lost to the place, never one with a result or an agent's fault"),
  queue: text("apply: Kueue's queue (default: the namespace's only one; none: without)", 'NAME'),
  wait: unlessNo('collect: take what is there, wait for nothing'),
  settle: duration('apply, collect: how long what does not pass by itself may stand', '90s'),
  kubeconfig: text('apply, collect: kubeconfig file', 'FILE'),
  context: text('apply, collect: context of the kubeconfig', 'NAME'),
  'dry-run': yes('apply: print what would be done, contact nothing'),
};

export type TrialsCall = Call<typeof flags>;
export type TrialsVerb = Verb<typeof flags>;

const ofLock = { ...lockFlags, ...lockOut, ...lockTasks };

/** Of any tool whose flags hold these. */
export type LockCall = Pick<Call<typeof ofLock>, 'flags' | 'world' | 'talk'>;
