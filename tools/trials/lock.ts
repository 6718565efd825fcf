/** `trials lock`, also `k8sbench tasks-lock`: pins a dataset's tasks, their files and images; or tells how a checkout differs from a lock. */
import { resolve } from 'node:path';
import * as v from 'valibot';
import { instant } from '../../schemas/primitives.ts';
import { type TasksLock, tasksLock } from '../../schemas/tasks-lock.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { writeAtomically } from '../../shared/files.ts';
import { check, jsonText, readJson } from '../../shared/read.ts';
import { credentialsOf } from '../../shared/registry/access.ts';
import { registryClient } from '../../shared/registry/client.ts';
import { type LockCall, lockFlags } from './flags.ts';
import { type Checkout, readCheckout } from './lock/checkout.ts';
import { differencesOf } from './lock/differences.ts';
import { wantOfflineText } from './want-offline.ts';
import { type ImageFacts, resolveImages } from './lock/images.ts';

const mirrorsOf = (given: readonly string[]): Record<string, string[]> => {
  const all: Record<string, string[]> = {};
  for (const one of given) {
    const found = /^([^=\s]+)=(https?:\/\/[^\s@]+)$/.exec(one);
    if (!found) throw usage(`flag '--mirror': expected docker.io=https://mirror.example, found '${one}'`);
    (all[found[1]!] ??= []).push(found[2]!);
  }
  return all;
};

/** A day is its first moment. */
const publishedOf = (given: string | undefined): string | undefined => {
  if (given === undefined) return undefined;
  const full = /^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : given;
  if (!v.is(instant, full)) throw usage(`flag '--published': expected a day or a UTC time, found '${given}'`);
  return full;
};

const lockText = (
  { flags }: LockCall,
  { commit, published, tasks, leftOut }: Checkout,
  images: ReadonlyMap<string, ImageFacts>,
): TasksLock => {
  const value: TasksLock = {
    format: 'tasks-lock/1',
    dataset: {
      name: flags.dataset!,
      ...(flags['repo-url'] === undefined ? {} : { url: flags['repo-url'] }),
      commit,
      published,
    },
    tasks: tasks.map(({ name, facts, files, testsSha256, sha256 }) => {
      const { image: tag, workdir, ...rest } = facts;
      const image = images.get(tag)!;
      return { name, ...image, workdir: workdir ?? image.workdir, ...rest, files, testsSha256, sha256 };
    }),
    leftOut,
    counts: { tasks: tasks.length, leftOut: leftOut.length },
  };
  return check(tasksLock, { value }, 'tasks.lock', usage);
};

const checked = (call: LockCall, checkout: Checkout): Exit => {
  const { flags, world, talk } = call;
  const lock = readJson(resolve(world.cwd, flags.check!), tasksLock, flags.check, usage);
  const differences = differencesOf(lock, checkout, flags.tasks);
  if (differences.length > 0) throw failed(differences.map((one) => `${flags.check}: ${one}`));
  talk.info(`'${flags.check}' agrees with '${flags.src}': ${checkout.tasks.length} tasks`);
  return EXIT.done;
};

export const lock = {
  about: "pins a dataset's tasks: commit, files, images by digest; --check compares a lock with a checkout",
  flags: [...(Object.keys(lockFlags) as (keyof typeof lockFlags)[]), 'out', 'tasks'] as const,
  async run(call: LockCall): Promise<Exit> {
    const { flags, world, talk } = call;
    if (flags.src === undefined) throw usage("a lock needs --src=<DIR>: the dataset's directory of tasks");
    if (flags.dataset === undefined && flags.check === undefined)
      throw usage("a lock needs --dataset=<NAME>: the dataset's name");
    const checkout = readCheckout(
      flags.src,
      { commit: flags.commit, published: publishedOf(flags.published), only: flags.tasks },
      world,
    );
    if (flags.check !== undefined) return checked(call, checkout);
    for (const { name, reason } of checkout.leftOut) talk.warn(`'${name}' is left out: ${reason}`);
    const offline = checkout.tasks.filter((one) => !one.facts.internet).map((one) => one.name);
    if (offline.length > 0) talk.warn(wantOfflineText(offline));
    if (checkout.tasks.length === 0) throw failed(`'${flags.src}' has no task that can be locked`);
    const registry = registryClient({
      interrupted: world.interrupted,
      credentials: credentialsOf(world.env),
      mirrors: mirrorsOf(flags.mirror),
    });
    talk.info(`asking registries for the images of ${checkout.tasks.length} tasks`);
    let said = world.now();
    const images = await resolveImages(
      registry,
      checkout.tasks.map((one) => one.facts.image),
      (done, all) => {
        if (world.now() - said < 10_000) return;
        said = world.now();
        talk.info(`${done} of ${all} images`);
      },
    );
    const written = jsonText(lockText(call, checkout, images));
    const out = flags.out ?? 'tasks.lock';
    if (out === '-') await world.stdout.write(written);
    else {
      writeAtomically(resolve(world.cwd, out), written);
      talk.info(`${checkout.tasks.length} tasks locked, ${checkout.leftOut.length} left out`);
      await talk.flushed();
      await world.stdout.write(`${out}\n`);
    }
    return EXIT.done;
  },
};
