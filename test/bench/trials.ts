/** A run of a thousand trials: how soon its Jobs are printed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bed, inTree, tool } from './bed.ts';
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

export const trials = async (bed: Bed): Promise<Figure[]> => {
  const directory = join(bed.directory, 'trials');
  mkdirSync(directory);
  writeInputs(directory);
  const path = (name: string): string => join(directory, name);
  const words = [...tool('trials'), '--model', 'small-coder', '--staged', 'b'.repeat(64)];
  words.push('--trial-arms', 'pi,codex', '--attempts', String(ATTEMPTS), '--values', path('values.yaml'));
  words.push('--tasks-lock', path('tasks.lock'), '--models-lock', path('models.lock'), '--out', path('run'));
  const times: number[] = [];
  for (let at = 0; at < bed.repetitions; at++) times.push((await run(words)).wallMs / 1000);
  return [
    figureOf(
      {
        row: 'trials',
        what: '1,000 trials are printed, with their list',
        goal: { most: 2 },
        unit: 's',
        from: `${TASKS} tasks × 2 arms × ${ATTEMPTS} attempts`,
      },
      times,
    ),
  ];
};
