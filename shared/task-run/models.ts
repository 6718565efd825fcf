/** One model of models.lock with its engine, its pin's digest, and whether the pin is old enough. */
import { resolve } from 'node:path';
import { type Engine, type Model, type ModelsLock, modelsLock } from '../../schemas/models-lock.ts';
import { usage } from '../failure.ts';
import { sha256 } from '../files.ts';
import { text } from '../flags.ts';
import { check, parseJson, readText } from '../read.ts';
import type { World } from '../world.ts';

export const modelFlags = {
  model: text('the model, by its id in models.lock', 'ID'),
  'models-lock': text('models and engines, pinned', 'FILE', { default: 'models.lock' }),
};

export interface PinnedModel {
  id: string;
  model: Model;
  engine: Engine;
  /** SHA-256 over what determines the files: repository, revision, and each file's size and digest. */
  pin: string;
  /** Of the lock's text. */
  lockSha256: string;
}

/** What a pin must have stood, so that a bad release is known as one by then, days. */
const AGE_DAYS = 7;
const DAY_MS = 86_400_000;

/** The pin's digest: the marker beside the files holds it. */
const pinOf = ({ repository, revision, files }: Model): string => {
  const sorted = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256(
    JSON.stringify({
      repository,
      revision,
      files: sorted.map(([path, one]) => [path, one.size, one.sha256]),
    }),
  );
};

const tooYoung = (what: string, published: string, now: number): string[] => {
  const days = (now - Date.parse(published)) / DAY_MS;
  return days >= AGE_DAYS
    ? []
    : [
        `${what} was published at ${published}, less than ${AGE_DAYS} days ago; pin an older one, or wait until ${new Date(Date.parse(published) + AGE_DAYS * DAY_MS).toISOString().slice(0, 10)}`,
      ];
};

const inLock = (lock: ModelsLock, id: string, shown: string): { model: Model; engine: Engine } => {
  if (!Object.hasOwn(lock.models, id))
    throw usage(`'${shown}' has no model '${id}'; it has ${Object.keys(lock.models).join(', ') || 'none'}`);
  const model = lock.models[id]!;
  return { model, engine: lock.engines[model.engine]! };
};

/** The model that the flags name. A pin younger than seven days is refused. */
export const readModel = (
  flags: { model: string | undefined; 'models-lock': string | undefined },
  world: World,
): PinnedModel => {
  if (flags.model === undefined) throw usage("'--model=<ID>' is missing: a model of models.lock");
  const shown = flags['models-lock'] ?? 'models.lock';
  const written = readText(resolve(world.cwd, shown), shown);
  const lock = check(modelsLock, { value: parseJson(written, shown, usage) }, shown, usage);
  const { model, engine } = inLock(lock, flags.model, shown);
  const now = world.now();
  const problems = [
    ...tooYoung(`the model '${flags.model}'`, model.published, now),
    ...tooYoung(`the image of its engine '${model.engine}'`, engine.published, now),
  ];
  if (problems.length > 0) throw usage(problems.map((one) => `${shown}: ${one}`));
  return { id: flags.model, model, engine, pin: pinOf(model), lockSha256: sha256(written) };
};
