/** All trials of a run: their order, names and manifests, and trials.json, which tells what was printed. Pure. */
import type { ArmSettings } from '../../../schemas/arm-settings.ts';
import type { LockedTask, TasksLock } from '../../../schemas/tasks-lock.ts';
import { type Trials, trials as trialsSchema } from '../../../schemas/trials.ts';
import { sha256 } from '../../../shared/files.ts';
import { check } from '../../../shared/read.ts';
import type { PinnedModel } from '../../../shared/task-run/models.ts';
import { modelUrl } from '../../../shared/task-run/names.ts';
import { comment } from '../../../shared/task-run/print.ts';
import type { TaskValues } from '../../../shared/task-run/settings.ts';
import { formatYaml } from '../../../shared/yaml-format.ts';
import { limitSeconds, type RunFacts, trialJob } from './job.ts';
import { type Relaxed, trialSecurity } from './security.ts';

export interface Wanted {
  tasks: readonly LockedTask[];
  arms: readonly ArmSettings[];
  attempts: number;
  staged: string;
  model: PinnedModel;
  values: TaskValues;
  dataset: TasksLock['dataset'];
  /** Digests of what was read. */
  inputs: Record<string, string>;
  trustSystem: boolean;
}

export interface Printed {
  trials: Trials;
  /** trials.yaml. */
  yaml: string;
}

/** As much of a name as an object's name can hold. */
const slug = (name: string, most: number): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, most)
    .replace(/^-+|-+$/g, '') || 'x';

/** Settings without those of whoever calls. */
const shownValues = (values: TaskValues): object => ({
  ...values,
  kubeconfig: undefined,
  kubeContext: undefined,
});

/** The run's name: other inputs, another run. */
const runOf = (wanted: Wanted): string => {
  const { tasks, arms, attempts, staged, model, values, trustSystem } = wanted;
  const determines = {
    tasks,
    arms,
    attempts,
    staged,
    id: model.id,
    pin: model.pin,
    context: model.model.contextTokens,
    values: shownValues(values),
    trustSystem,
  };
  return `k8sbench-trials-${sha256(JSON.stringify(determines)).slice(0, 8)}`;
};

const jobName = (run: string, task: LockedTask, arm: ArmSettings, attempt: number): string => {
  const id = sha256(`${run}\n${task.name}\n${arm.arm}\n${attempt}`).slice(0, 8);
  return `trial-${slug(task.name, 20)}-${slug(arm.arm, 10)}-${attempt}-${id}`;
};

/** Each relaxation once, with the tasks that it is for. */
const relaxedOf = (tasks: readonly LockedTask[]): Trials['relaxed'] => {
  const all = new Map<string, Relaxed & { tasks: string[] }>();
  for (const task of tasks)
    for (const one of trialSecurity(task.user).relaxed) {
      const known = all.get(one.what) ?? { ...one, tasks: [] };
      known.tasks.push(task.name);
      all.set(one.what, known);
    }
  return [...all.values()];
};

/** Words before the manifests. */
const heading = (trials: Trials): string =>
  comment([
    `${trials.trials.length} trials of run ${trials.run}: ${trials.tasks.length} tasks × ${trials.arms.length} arms × ${trials.attempts} attempts`,
    `dataset ${trials.dataset.name} at ${trials.dataset.commit}, model ${trials.model.id}, bundle ${trials.staged}`,
    '',
    'Pods keep the restricted Pod Security level, except:',
    ...(trials.relaxed.length === 0
      ? ['  nothing']
      : trials.relaxed.map((one) => `  ${one.what} (${one.why}): ${one.tasks.join(', ')}`)),
  ]);

/** What a run prints. */
export const printTrials = (wanted: Wanted): Printed => {
  const { tasks, arms, attempts, staged, model, values, dataset, inputs, trustSystem } = wanted;
  const run: RunFacts = { run: runOf(wanted), staged, model, values, trustSystem };
  const texts: string[] = [];
  const list: Trials['trials'] = [];
  const wantOffline = tasks.filter((one) => !one.internet).map((one) => one.name);
  // Attempts outermost: a run that is stopped early has tried everything equally often.
  for (let attempt = 1; attempt <= attempts; attempt++)
    for (const task of tasks)
      for (const arm of arms) {
        const job = jobName(run.run, task, arm, attempt);
        const text = formatYaml(trialJob(run, { job, task, arm, attempt }), { plain: true });
        texts.push(text);
        list.push({
          job,
          task: task.name,
          arm: arm.arm,
          attempt,
          image: task.image,
          sha256: sha256(text),
          limit_s: limitSeconds(task),
        });
      }
  const trials = check(
    trialsSchema,
    {
      value: {
        format: 'trials/1',
        run: run.run,
        namespace: values.namespace,
        model: { id: model.id, pin: model.pin, url: modelUrl(model.id, values.namespace) },
        staged,
        dataset: { name: dataset.name, commit: dataset.commit },
        inputs,
        tasks: tasks.map((one) => one.name),
        arms: arms.map((one) => one.arm),
        attempts,
        relaxed: relaxedOf(tasks),
        ...(wantOffline.length === 0 ? {} : { wantOffline }),
        trials: list,
      } satisfies Trials,
    },
    'trials.json',
  );
  return { trials, yaml: [heading(trials), ...texts].join('---\n') };
};
