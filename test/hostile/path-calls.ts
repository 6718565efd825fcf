/** How each path flag (and path word) of each tool is called so that the path is really used, on a bed of run directories. */
import { join } from 'node:path';
import { RUNS } from './bed.ts';

export interface PathCall {
  /** The command line with the path in it. */
  args(path: string): string[];
  /** What is no file (directory) of the kind wanted is refused; else it may be fine, as `--out` is in an empty directory. */
  reads: boolean;
}

const run = (name: keyof typeof RUNS): string => join('out', RUNS[name]);
const LOCAL = ['--local', '--profile', 'profile.json'];
const SHA256 = '0'.repeat(64);
const PLACE = ['--namespace', 'a', '--base-image', `r/b@sha256:${SHA256}`];
const MODEL = ['--model', 'a', '--engine', 'e', '--repository', 'o/n', '--revision', SHA256.slice(0, 40)];
const CLUSTER = ['--namespace', 'a', '--image', `r/b@sha256:${'0'.repeat(64)}`];

const reads = (...before: string[]) => ({ reads: true, args: (path: string): string[] => [...before, path] });
const may = (...before: string[]) => ({ reads: false, args: (path: string): string[] => [...before, path] });

/** Tool → flag (or word) → the call. The pipelines' flags are those of their tools. */
export const PATH_CALLS: Readonly<Record<string, Readonly<Record<string, PathCall>>>> = {
  profile: { PROFILE: reads() },
  plan: {
    profile: reads('--local', '--dry-run', '--profile'),
    from: reads(...LOCAL, '--dry-run', '--for-effect', '0.1', '--from'),
    values: reads(...LOCAL, '--dry-run', '--values'),
    kubeconfig: may(...LOCAL, '--dry-run', '--kubeconfig'),
    bundle: may(...LOCAL, '--dry-run', '--bundle'),
    calibration: reads(...LOCAL, '--dry-run', '--calibration'),
    out: may(...LOCAL, '--out'),
    run: may(...LOCAL, '--run'),
  },
  bundle: {
    recipe: reads('build', '--out', 'made', '--recipe'),
    out: may('build', '--recipe', 'recipe.yaml', '--out'),
    archives: may('build', '--recipe', 'recipe.yaml', '--out', 'made', '--archives'),
    'python-archive': may('build', '--recipe', 'recipe.yaml', '--out', 'made', '--python-archive'),
    tinygo: may('build', '--recipe', 'recipe.yaml', '--out', 'made', '--tinygo'),
    tasks: may('build', '--recipe', 'recipe.yaml', '--out', 'made', '--tasks'),
    'tasks-lock': may('build', '--recipe', 'recipe.yaml', '--out', 'made', '--tasks', '.', '--tasks-lock'),
    profile: reads('check', '.', '--profile'),
    'DIR…': may('check'),
  },
  'pick-nodes': {
    run: reads('--from', 'nodes.json', '--run'),
    from: reads('--cpus', '1', '--from'),
    values: reads('--from', 'nodes.json', '--values'),
    kubeconfig: reads('--kubeconfig'),
  },
  render: { run: reads('--run') },
  stage: {
    bundle: reads(...PLACE, '--bundle'),
    out: may(...PLACE, '--bundle', '.', '--out'),
    values: reads('--bundle', '.', '--values'),
  },
  model: {
    'models-lock': reads(...PLACE, '--model', 'a', '--staged', SHA256, '--models-lock'),
    values: reads('--model', 'a', '--staged', SHA256, '--values'),
    dir: may('lock', ...MODEL, '--dir'),
    listing: may('lock', ...MODEL, '--listing'),
  },
  trials: {
    'models-lock': reads(...PLACE, '--model', 'a', '--staged', SHA256, '--models-lock'),
    'tasks-lock': reads(...PLACE, '--model', 'a', '--staged', SHA256, '--tasks-lock'),
    'arm-settings': reads(...PLACE, '--model', 'a', '--staged', SHA256, '--arm-settings'),
    values: reads('--model', 'a', '--staged', SHA256, '--values'),
    src: reads('lock', '--src'),
    check: reads('lock', '--src', '.', '--check'),
    run: reads('score', '--run'),
    from: reads('score', '--from'),
    prices: reads('score', '--from', 'trials.jsonl', '--prices'),
    out: may(...PLACE, '--model', 'a', '--staged', SHA256, '--out'),
    kubeconfig: reads('collect', '--run', run('judged'), '--kubeconfig'),
  },
  'tasks-lock': {
    src: reads('--src'),
    check: reads('--src', '.', '--check'),
    out: may('--src', '.', '--out'),
  },
  export: { run: reads('csv', '--run') },
  import: { 'FILE…': reads('hyperfine'), out: may('hyperfine', 'recipe.yaml', '--out') },
  preflight: {
    run: reads('--kubeconfig', 'kubeconfig', '--run'),
    values: reads('--kubeconfig', 'kubeconfig', '--values'),
    kubeconfig: reads(...CLUSTER, '--kubeconfig'),
    bundle: may('--kubeconfig', 'kubeconfig', '--namespace', 'a', '--bundle'),
  },
  'run-session': {
    run: reads('--run'),
    values: reads('list', '--kubeconfig', 'kubeconfig', '--values'),
    kubeconfig: reads('list', '--namespace', 'a', '--kubeconfig'),
  },
  analyze: {
    run: reads('--run'),
    log: reads('--log'),
    calibration: reads('--log', `${RUNS.judged}.log`, '--calibration'),
  },
  tracker: {
    run: reads('append', '--run'),
    track: may('append', '--run', run('judged'), '--track'),
    baseline: reads('append', '--run', run('judged'), '--baseline'),
    history: reads('append', '--run', run('judged'), '--history'),
  },
  view: {
    run: reads('--run'),
    track: reads('--track'),
    changes: reads('--track', 'out/track.jsonl', '--out', 'page.html', '--changes'),
    out: may('--run', run('judged'), '--force', '--out'),
  },
};
