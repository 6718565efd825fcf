/** The table of formats: `k8sbench schema <format>` prints from it, and the house rules hold each to its fixtures. */
import type { GenericSchema } from 'valibot';
import { agentSettings } from './agent-settings.ts';
import { analysis } from './analysis.ts';
import { armsLock } from './arms-lock.ts';
import { armSettings } from './arm-settings.ts';
import { attempt } from './attempt.ts';
import { baseline } from './baseline.ts';
import { bundle } from './bundle.ts';
import { calibration } from './calibration.ts';
import { bisectStep, change } from './changes.ts';
import { cluster } from './cluster.ts';
import { job } from './job.ts';
import { logLine } from './log.ts';
import { manifest } from './manifest.ts';
import { modelScript } from './model-script.ts';
import { modelsLock } from './models-lock.ts';
import { nodes } from './nodes.ts';
import { noise } from './noise.ts';
import { compactPlan, plan } from './plan.ts';
import { prices } from './prices.ts';
import { profile } from './profile.ts';
import { recipe } from './recipe.ts';
import { resultLine, seedLine } from './results.ts';
import { run } from './run.ts';
import { spread } from './spread.ts';
import { tasksLock } from './tasks-lock.ts';
import { trackerLine } from './tracker.ts';
import { trialLine } from './trial-line.ts';
import { trials } from './trials.ts';
import { trialsScore } from './trials-score.ts';
import { values } from './values.ts';

export type Shape = 'json' | 'jsonl' | 'yaml' | 'sha256sum';
export type Format = { schema: GenericSchema; shape: Shape; file: string; about: string };

/** Format name → its schema, how it is written down, and the file that holds it. */
export const FORMATS: Readonly<Record<string, Format>> = {
  profile: { schema: profile, shape: 'json', file: 'profile.json', about: 'what is measured' },
  values: { schema: values, shape: 'yaml', file: 'values.yaml', about: 'where and with how much' },
  run: {
    schema: run,
    shape: 'json',
    file: 'run.json',
    about: "a run's identity and the digests of its inputs",
  },
  plan: { schema: plan, shape: 'json', file: 'plan.json', about: 'every step of a session, in order' },
  'compact-plan': { schema: compactPlan, shape: 'json', file: 'K8SBENCH_PLAN', about: 'what pod reads' },
  log: { schema: logLine, shape: 'jsonl', file: 'pod.log', about: "the session's lines" },
  results: { schema: resultLine, shape: 'jsonl', file: 'results.jsonl', about: 'samples' },
  seeds: { schema: seedLine, shape: 'jsonl', file: 'seeds.jsonl', about: 'seeds' },
  noise: { schema: noise, shape: 'json', file: 'noise.json', about: 'whether a comparison may be reported' },
  calibration: {
    schema: calibration,
    shape: 'json',
    file: 'calibration.json',
    about: 'the noise floor of named nodes',
  },
  analysis: {
    schema: analysis,
    shape: 'json',
    file: 'analysis.json',
    about: 'exact values, verdicts, doubts, conclusions',
  },
  tracker: { schema: trackerLine, shape: 'jsonl', file: 'track.jsonl', about: 'the history of comparisons' },
  changes: {
    schema: change,
    shape: 'jsonl',
    file: 'changes.jsonl',
    about: 'change points of a history',
  },
  bisect: {
    schema: bisectStep,
    shape: 'jsonl',
    file: 'bisect.jsonl',
    about: 'commits worth measuring next',
  },
  baseline: {
    schema: baseline,
    shape: 'json',
    file: 'baseline.json',
    about: 'values to compute deltas against',
  },
  recipe: { schema: recipe, shape: 'yaml', file: 'bundle.yaml', about: 'what a bundle is built from' },
  bundle: { schema: bundle, shape: 'json', file: 'bundle.json', about: 'what a bundle was built from' },
  'arms-lock': {
    schema: armsLock,
    shape: 'json',
    file: 'arms.lock',
    about: 'agents, pinned to the last byte',
  },
  'arm-settings': {
    schema: armSettings,
    shape: 'yaml',
    file: '<arm>.yaml',
    about: 'how an agent works on a task',
  },
  'tasks-lock': {
    schema: tasksLock,
    shape: 'json',
    file: 'tasks.lock',
    about: 'tasks for agents, pinned to the last byte',
  },
  'models-lock': {
    schema: modelsLock,
    shape: 'json',
    file: 'models.lock',
    about: 'models and their engines, pinned to the last byte',
  },
  trials: { schema: trials, shape: 'json', file: 'trials.json', about: 'every trial of a run, and its Job' },
  'trial-line': {
    schema: trialLine,
    shape: 'jsonl',
    file: 'trials.jsonl',
    about: 'what became of each trial',
  },
  'trials-score': {
    schema: trialsScore,
    shape: 'json',
    file: 'trials-score.json',
    about: 'which arm solves how much of which tasks',
  },
  prices: { schema: prices, shape: 'yaml', file: 'prices.yaml', about: 'what tokens cost' },
  'agent-settings': {
    schema: agentSettings,
    shape: 'json',
    file: 'agent.json',
    about: "how an agent's harness is measured",
  },
  'model-script': {
    schema: modelScript,
    shape: 'json',
    file: 'model-script.json',
    about: 'what the scripted model server answers',
  },
  nodes: { schema: nodes, shape: 'json', file: 'nodes.json', about: 'nodes ranked, and the choice' },
  job: { schema: job, shape: 'json', file: 'job.json', about: 'what became of a session' },
  cluster: {
    schema: cluster,
    shape: 'json',
    file: 'cluster.json',
    about: 'what the API server says of the node',
  },
  spread: {
    schema: spread,
    shape: 'json',
    file: 'spread.json',
    about: 'the children of a run of several sessions',
  },
  attempts: {
    schema: attempt,
    shape: 'jsonl',
    file: 'attempts.jsonl',
    about: 'every run, also refused and void ones',
  },
  manifest: {
    schema: manifest,
    shape: 'sha256sum',
    file: 'MANIFEST.sha256',
    about: 'digests of a finished session',
  },
};
