/** Settings that every step of a task-completion run needs, and what is missing of them. */
import * as v from 'valibot';
import { sha256 as sha256Schema } from '../../schemas/primitives.ts';
import type { Values } from '../../schemas/values.ts';
import { type Configuration, configurationOf } from '../configuration.ts';
import { usage } from '../failure.ts';
import { selector, text, type Values as FlagValues, yes } from '../flags.ts';
import { imageProblems } from '../where.ts';
import type { World } from '../world.ts';

/** Flags of every step. */
export const settingFlags = {
  values: text('values file (default: values.local.yaml when present)', 'FILE'),
  namespace: text('namespace of all objects', 'NAME'),
  'base-image': text('an official Node image by digest: what our own programs run on', 'IMAGE'),
  'node-selector': selector('nodes with these labels'),
  'allow-unpinned-image': yes('allow a base image without digest'),
};

export type SettingFlags = FlagValues<typeof settingFlags>;

type Gpu = NonNullable<Values['gpu']>;

/** Values with what a step needs of them. */
export type TaskValues = Values & { namespace: string; baseImage: string; gpu: Gpu };

/** The settings; `claims` are those that must be named. All problems at once, with `problems` of the caller's. */
export const taskSettings = async (
  world: World,
  flags: SettingFlags,
  claims: readonly ('trialPVC' | 'modelPVC')[],
  problems: readonly string[] = [],
): Promise<TaskValues> => {
  const configuration: Configuration = await configurationOf(world, { ...flags });
  const { values, from, unread } = configuration;
  const all = [...problems, ...configuration.problems];
  if (!unread && from('namespace') === undefined)
    all.push('no namespace: set it with --namespace, $K8SBENCH_NAMESPACE or in the values file');
  if (!unread && from('baseImage') === undefined)
    all.push(
      'no base image: our own programs need one, an official Node image by digest; set it with --base-image, $K8SBENCH_BASE_IMAGE or baseImage in the values file',
    );
  if (values.baseImage !== undefined)
    all.push(...imageProblems(values.baseImage, from('baseImage'), values.allowUnpinnedImage));
  for (const claim of unread ? [] : claims)
    if (values.gpu?.[claim] === undefined) all.push(`no claim: set gpu.${claim} in the values file`);
  if (all.length > 0) throw usage(all);
  return values as TaskValues;
};

/** `--staged`, as `stage` prints it. */
export const stagedProblems = (staged: string | undefined): string[] => {
  if (staged === undefined) return ["'--staged=<SHA256>' is missing: 'k8sbench stage' prints it"];
  return v.is(sha256Schema, staged)
    ? []
    : [`flag '--staged': expected the 64 hex digits that 'k8sbench stage' prints, found '${staged}'`];
};
