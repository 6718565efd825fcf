/** `trials` without another word: prints one Job per task, arm and attempt, or writes them with their list into a directory. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ArmSettings, armSettings } from '../../schemas/arm-settings.ts';
import { type LockedTask, type TasksLock, tasksLock } from '../../schemas/tasks-lock.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { sha256, touch, writeAtomically } from '../../shared/files.ts';
import { check, jsonText, parseJson, readText } from '../../shared/read.ts';
import { readModel } from '../../shared/task-run/models.ts';
import { stagedProblems, taskSettings } from '../../shared/task-run/settings.ts';
import { parseYaml } from '../../shared/yaml.ts';
import { ARMS } from './arms.ts';
import { printFlags, type TrialsCall, type TrialsVerb } from './flags.ts';
import { printTrials } from './manifests/plan.ts';
import { MANIFESTS_FILE } from './apply/documents.ts';
import { TRIALS_FILE } from './run-trials.ts';
import { wantOfflineText } from './want-offline.ts';
import { LINES_FILE } from '../../shared/trials-results.ts';

/** Settings by arm: built-in ones, replaced by those of files. */
const armsOf = ({ flags, world }: TrialsCall): { arms: ArmSettings[]; inputs: Record<string, string> } => {
  const known = new Map(Object.entries(ARMS));
  const inputs: Record<string, string> = {};
  const given: string[] = [];
  for (const shown of flags['arm-settings']) {
    const written = readText(resolve(world.cwd, shown), shown);
    const one = check(armSettings, parseYaml(written, shown), shown, usage);
    if (given.includes(one.arm)) throw usage(`flag '--arm-settings': two files are of the arm '${one.arm}'`);
    given.push(one.arm);
    known.set(one.arm, one);
  }
  const wanted = flags['trial-arms'] ?? (given.length > 0 ? given : undefined);
  if (wanted === undefined)
    throw usage(`'--trial-arms=<A,…>' is missing; there are settings of ${[...known.keys()].join(', ')}`);
  const unknown = wanted.filter((one) => !known.has(one));
  if (unknown.length > 0)
    throw usage(
      unknown.map(
        (one) =>
          `flag '--trial-arms': no settings of '${one}'; there are those of ${[...known.keys()].join(', ')}, '--arm-settings FILE' gives others`,
      ),
    );
  const arms = wanted.map((one) => known.get(one)!);
  for (const one of arms) inputs[`arms/${one.arm}`] = sha256(JSON.stringify(one));
  return { arms, inputs };
};

const tasksOf = ({ flags, world }: TrialsCall): { lock: TasksLock; digest: string; tasks: LockedTask[] } => {
  const shown = flags['tasks-lock'] ?? 'tasks.lock';
  const written = readText(resolve(world.cwd, shown), shown);
  const lock = check(tasksLock, { value: parseJson(written, shown, usage) }, shown, usage);
  const problems = (flags.tasks ?? []).flatMap((name) => {
    if (lock.tasks.some((one) => one.name === name)) return [];
    const left = lock.leftOut.find((one) => one.name === name);
    return [
      `flag '--tasks': '${shown}' ${left ? `left '${name}' out: ${left.reason}` : `has no task '${name}'`}`,
    ];
  });
  if (problems.length > 0) throw usage(problems);
  return {
    lock,
    digest: sha256(written),
    tasks: lock.tasks.filter((one) => flags.tasks?.includes(one.name) ?? true),
  };
};

/** Writes both files; a directory whose trials have begun keeps what they were printed from. */
const writeInto = async (
  { world, talk }: TrialsCall,
  out: string,
  files: Record<string, string>,
  summary: string,
): Promise<void> => {
  const directory = resolve(world.cwd, out);
  const path = (name: string): string => join(directory, name);
  const same = Object.entries(files).every(
    ([name, content]) => existsSync(path(name)) && readFileSync(path(name), 'utf8') === content,
  );
  if (!same && existsSync(path(LINES_FILE)))
    throw usage(`'${out}' holds results of other trials; name another directory`);
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of Object.entries(files))
    if (same) touch(path(name));
    else writeAtomically(path(name), content);
  talk.info(same ? `'${out}' has the same trials already` : summary);
  await talk.flushed();
  await world.stdout.write(`${out}\n`);
};

export const print: TrialsVerb = {
  about: 'prints the Jobs of a run, or writes them with their list into a directory; no cluster',
  flags: [...(Object.keys(printFlags) as (keyof typeof printFlags)[]), 'tasks', 'out', 'json'],
  async run(call: TrialsCall): Promise<Exit> {
    const { flags, world, talk } = call;
    const values = await taskSettings(world, flags, ['trialPVC'], stagedProblems(flags.staged));
    const model = readModel(flags, world);
    const { lock, digest, tasks } = tasksOf(call);
    const { arms, inputs } = armsOf(call);
    const { trials, yaml } = printTrials({
      tasks,
      arms,
      attempts: flags.attempts ?? 5,
      staged: flags.staged!,
      model,
      values,
      dataset: lock.dataset,
      inputs: { 'tasks.lock': digest, 'models.lock': model.lockSha256, ...inputs },
      trustSystem: flags['trust-system'],
    });
    const summary = `${trials.trials.length} trials: ${tasks.length} tasks × ${arms.length} arms × ${trials.attempts} attempts`;
    for (const one of trials.relaxed)
      talk.warn(`${one.what} (${one.why}): ${one.tasks.length} of ${tasks.length} tasks`);
    if (trials.wantOffline) talk.warn(wantOfflineText(trials.wantOffline));
    if (flags.out !== undefined && flags.out !== '-')
      await writeInto(call, flags.out, { [MANIFESTS_FILE]: yaml, [TRIALS_FILE]: jsonText(trials) }, summary);
    else {
      talk.info(summary);
      await talk.flushed();
      await world.stdout.write(flags.json ? jsonText(trials) : yaml);
    }
    return EXIT.done;
  },
};
