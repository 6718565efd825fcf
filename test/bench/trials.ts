/** A run of a thousand trials: how soon its Jobs are printed, and its results scored. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bed, inTree, tool } from './bed.ts';
import type { Trials } from '../../schemas/trials.ts';
import { type Figure, figureOf } from './figure.ts';
import { run } from './process-run.ts';

const TASKS = 100;
const ATTEMPTS = 5;

const fixture = (name: string): string => readFileSync(inTree(`fixtures/schemas/${name}/valid.json`), 'utf8');

/** A hundred tasks of a lock, a model, settings. */
const writeInputs = (directory: string): void => {
  const lock = JSON.parse(fixture('tasks-lock')) as { tasks: object[]; counts: { tasks: number } };
  const tasks = Array.from({ length: TASKS }, (_, at) => ({ ...lock.tasks[0], name: `task-${at}` }));
  const all = { ...lock, tasks, counts: { ...lock.counts, tasks: TASKS } };
  writeFileSync(join(directory, 'tasks.lock'), JSON.stringify(all));
  writeFileSync(join(directory, 'models.lock'), fixture('models-lock'));
  const image = `registry.example/node@sha256:${'a'.repeat(64)}`;
  const values = { namespace: 'bench', baseImage: image, gpu: { trialPVC: 'trials', modelPVC: 'models' } };
  writeFileSync(join(directory, 'values.yaml'), JSON.stringify(values));
};

/** A line for each trial, as they come: some solved, some not, a few without verdict. */
const writeLines = (directory: string): void => {
  const list = JSON.parse(readFileSync(join(directory, 'trials.json'), 'utf8')) as Trials;
  const lines = list.trials.map(({ task, arm, attempt, image }, at) => {
    const verdict =
      at % 50 === 7
        ? { reward: null, error: 'its gate was killed', fault: 'infrastructure' }
        : { reward: (at * 7919) % 10 < 4 ? 1 : 0 };
    return JSON.stringify({
      t: 'trial',
      task,
      arm,
      attempt,
      model: list.model.id,
      image,
      agentExit: 0,
      agentWallMs: 60_000 + ((at * 104_729) % 90_000),
      agentCpuMs: 4000 + ((at * 7907) % 3000),
      assistantMessages: 20,
      usage: { input: 90_000 + at, output: 4000, cacheRead: 0, cacheWrite: 0, totalTokens: 94_000 + at },
      verifierExit: 0,
      verifierWallMs: 2000,
      ...verdict,
    });
  });
  writeFileSync(join(directory, 'trials.jsonl'), `${lines.join('\n')}\n`);
};

export const trials = async (bed: Bed): Promise<Figure[]> => {
  const directory = join(bed.directory, 'trials');
  mkdirSync(directory);
  writeInputs(directory);
  const path = (name: string): string => join(directory, name);
  const words = [...tool('trials'), '--model', 'small-coder', '--staged', 'b'.repeat(64)];
  words.push('--trial-arms', 'pi,codex', '--attempts', String(ATTEMPTS), '--values', path('values.yaml'));
  words.push('--tasks-lock', path('tasks.lock'), '--models-lock', path('models.lock'), '--out', path('run'));
  const seconds = async (command: readonly string[]): Promise<number[]> => {
    const times: number[] = [];
    for (let at = 0; at < bed.repetitions; at++) times.push((await run(command)).wallMs / 1000);
    return times;
  };
  const printed = await seconds(words);
  writeLines(path('run'));
  const scored = await seconds([...tool('trials'), 'score', '--run', path('run')]);
  const asked = { row: 'trials', unit: 's', from: `${TASKS} tasks × 2 arms × ${ATTEMPTS} attempts` } as const;
  return [
    figureOf({ ...asked, what: '1,000 trials are printed, with their list', goal: { most: 2 } }, printed),
    figureOf({ ...asked, what: '1,000 trials are scored', goal: { most: 1 } }, scored),
  ];
};
