/** `model lock`: writes a model's entry of models.lock, every file by size and SHA-256, from a directory or a hub's listing. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { type Model, type ModelsLock, modelId, modelsLock } from '../../schemas/models-lock.ts';
import { instant, revision as revisionSchema } from '../../schemas/primitives.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { writeAtomically } from '../../shared/files.ts';
import { check, jsonText, readJson } from '../../shared/read.ts';
import { filesIn } from './lock/directory.ts';
import { type Listing, listingOf, withDigests } from './lock/listing.ts';
import { type ModelCall, type ModelVerb, lockFlags } from './flags.ts';

const FORM = { repository: /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/ };

const problemsOf = ({ flags }: ModelCall): string[] => {
  const problems: string[] = [];
  const missing = (['model', 'engine', 'repository', 'revision'] as const).filter(
    (name) => flags[name] === undefined,
  );
  problems.push(...missing.map((name) => `'--${name}' is missing`));
  if (flags.model !== undefined && !v.is(modelId, flags.model))
    problems.push(
      `flag '--model': expected a name of a-z, 0-9 and -, at most 48 characters, found '${flags.model}'`,
    );
  if (flags.revision !== undefined && !v.is(revisionSchema, flags.revision))
    problems.push(`flag '--revision': expected 40 hex digits, found '${flags.revision}'; a branch moves`);
  if (flags.repository !== undefined && !FORM.repository.test(flags.repository))
    problems.push(`flag '--repository': expected owner/name, found '${flags.repository}'`);
  if (flags.dir !== undefined && flags.listing === undefined && flags.published === undefined)
    problems.push("a directory does not say when it was published: '--published' is missing");
  return problems;
};

const publishedOf = (given: string | undefined, listed: string | undefined): string => {
  const all = given ?? listed;
  if (all === undefined)
    throw usage("the listing does not say when it was published: '--published' is missing");
  const full = /^\d{4}-\d\d-\d\d$/.test(all) ? `${all}T00:00:00Z` : all;
  if (!v.is(instant, full)) throw usage(`expected a day or a UTC time of publication, found '${all}'`);
  return full;
};

/** Files by their patterns; one that fits nothing is a mistake. */
const chosen = (files: Model['files'], patterns: readonly string[]): Model['files'] => {
  if (patterns.length === 0) return files;
  const globs = patterns.map((one) => [one, new Bun.Glob(one)] as const);
  const names = Object.keys(files);
  const idle = globs.filter(([, glob]) => !names.some((name) => glob.match(name)));
  if (idle.length > 0) throw usage(idle.map(([one]) => `flag '--file': no file fits '${one}'`));
  return Object.fromEntries(
    Object.entries(files).filter(([name]) => globs.some(([, glob]) => glob.match(name))),
  );
};

const changesOf = (id: string, before: Model | undefined, after: Model): string[] => {
  if (!before) return [`${id}: new, ${after.repository} at ${after.revision}`];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Model)[];
  return keys
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) =>
      key === 'files'
        ? `${id}: files: ${Object.keys(before.files).length} → ${Object.keys(after.files).length}`
        : `${id}: ${key}: ${JSON.stringify(before[key]) ?? 'none'} → ${JSON.stringify(after[key]) ?? 'none'}`,
    );
};

export const lock: ModelVerb = {
  about: "pins a model's files in models.lock, from a directory or a hub's listing; prints what changed",
  flags: [...(Object.keys(lockFlags) as (keyof typeof lockFlags)[]), 'model', 'models-lock', 'hub'],
  async run(call: ModelCall): Promise<Exit> {
    const { flags, world, talk } = call;
    const problems = problemsOf(call);
    if (problems.length > 0) throw usage(problems);
    const [id, engine, repository, revision] = [
      flags.model!,
      flags.engine!,
      flags.repository!,
      flags.revision!,
    ];
    const shown = flags['models-lock'] ?? 'models.lock';
    const path = resolve(world.cwd, shown);
    const before: ModelsLock = existsSync(path)
      ? readJson(path, modelsLock, shown, usage)
      : { format: 'models-lock/1', engines: {}, models: {} };
    if (!Object.hasOwn(before.engines, engine))
      throw usage(
        `'${shown}' has no engine '${engine}'; it has ${Object.keys(before.engines).join(', ') || 'none'}: engines are written by hand`,
      );
    const hub = flags.hub ?? 'https://huggingface.co';
    let listing: Listing | undefined;
    let files: Model['files'];
    if (flags.dir !== undefined && flags.listing === undefined)
      files = await filesIn(resolve(world.cwd, flags.dir), flags.dir);
    else {
      listing = await listingOf({ ...flags, hub, repository, revision }, world, talk);
      const wanted = chosen(
        Object.fromEntries(listing.files.map(({ path: name, size }) => [name, { size, sha256: '' }])),
        flags.file,
      );
      files = await withDigests(
        listing.files.filter((one) => Object.hasOwn(wanted, one.path)),
        { hub, repository, revision, dir: flags.dir },
        world,
      );
    }
    const after: Model = {
      engine,
      hub,
      repository,
      revision,
      published: publishedOf(flags.published, listing?.published),
      args: flags.arg,
      ...(flags['context-tokens'] === undefined ? {} : { contextTokens: flags['context-tokens'] }),
      files: chosen(files, flags.file),
    };
    const value = check(
      modelsLock,
      { value: { ...before, models: { ...before.models, [id]: after } } },
      shown,
      usage,
    );
    const changes = changesOf(id, before.models[id], after);
    if (changes.length === 0) talk.info('nothing changed');
    else writeAtomically(path, jsonText(value));
    await talk.flushed();
    await world.stdout.write(changes.map((one) => `${one}\n`).join(''));
    return EXIT.done;
  },
};
