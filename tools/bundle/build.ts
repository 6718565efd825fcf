/** `bundle build`: from a recipe to a bundle. What was built before from the same inputs is taken as it is. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { BundleFacts } from '../../schemas/bundle.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { assemble, factOf, factsOf, type Part, readFacts, replace } from './assemble.ts';
import { type Built, buildInto, cached, cacheOf } from './cache.ts';
import { checkBundle } from './check.ts';
import { identityOf } from './identity.ts';
import { kindOf } from './kinds.ts';
import { writeOwnParts } from './own-parts.ts';
import { type Job, prepareJob, type Ready } from './prepare.ts';
import { copySource, digestOf } from './source.ts';
import { listOf, normalise } from './tree.ts';
import type { BundleCall } from './verbs.ts';

/** Where the bundle goes: a place of its own, or a bundle that is replaced. */
const outOf = ({ flags, world }: BundleCall): { path: string; shown: string } => {
  if (flags.out === undefined)
    throw usage("'bundle build' needs --out=<PATH>: the directory that gets the bundle");
  const path = resolve(world.cwd, flags.out);
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw usage(`flag '--out': '${flags.out}' is not a directory`);
    if (readdirSync(path).length > 0 && !readFacts(path))
      throw usage(
        `flag '--out': '${flags.out}' is neither empty nor a bundle that was built here; name another place`,
      );
  }
  return { path, shown: flags.out };
};

/** What determines a bundle, of its facts: the same, and there is nothing to do. */
const determines = ({ artifacts, ...rest }: BundleFacts): string =>
  JSON.stringify([rest, artifacts.map(({ name, kind, key }) => [name, kind, key])]);

const buildOne = async (one: Ready, job: Job, cache: string, call: BundleCall): Promise<Built> => {
  const { source } = job.asked;
  call.talk.info(`building ${one.name}`);
  return buildInto(cache, one.key, async (place) => {
    copySource(source.top, one.prepared.files, place.sources);
    // Kept under the digest of what was looked at: somebody who saves a file meanwhile must not end up in the cache.
    if (one.sources !== undefined && (await digestOf(place.sources, one.prepared.files)) !== one.sources)
      throw failed(`${one.name}: its sources changed while it was built; build again`);
    try {
      await kindOf(one.artifact).build(one.artifact, job.asked, { ...place, say: call.talk.info });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(
        error.exit,
        error.problems.map((problem) => `${one.name}: ${problem}`),
      );
    }
  });
};

/** k8sbench's own files, as one more part. They are made each time: it takes less than to know whether they changed. */
const ownPart = async (job: Job, scratch: string): Promise<Part> => {
  const directory = join(scratch, 'own');
  writeOwnParts(directory, job.recipe.workloads, job.asked.world);
  normalise(directory);
  const files = await listOf(directory);
  const key = sha256(JSON.stringify(files));
  return { fact: { name: 'k8sbench', kind: 'k8sbench', key, pins: {} }, built: { directory, files } };
};

/** Builds what isn't there yet, one after another: compilers use every core by themselves. */
const partsOf = async (job: Job, own: Part, call: BundleCall): Promise<Part[]> => {
  const cache = cacheOf(call.world.env);
  const parts = [own];
  for (const one of job.artifacts) {
    const before = await cached(cache, one.key);
    if (before) call.talk.info(`${one.name} is built already, from the same inputs`);
    parts.push({ fact: factOf(one), built: before ?? (await buildOne(one, job, cache, call)) });
  }
  return parts;
};

const HOST = { x64: 'amd64', arm64: 'arm64' } as const;

export const build = {
  about: 'builds a bundle from a recipe; prints its identity and the directory',
  words: 0,
  flags: ['recipe', 'out', 'arch', 'archives', 'allow-dirty', 'force'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const { flags, world, talk } = call;
    if (flags.recipe === undefined)
      throw usage("'bundle build' needs --recipe=<FILE>: what the bundle holds");
    const out = outOf(call);
    const arch = flags.arch ?? HOST[process.arch as 'x64' | 'arm64'];
    if (arch === undefined) throw usage('name the architecture of the nodes with --arch');
    const allowDirty = flags['allow-dirty'] || world.env['K8SBENCH_ALLOW_DIRTY'] === '1';
    const job = await prepareJob(
      { recipe: flags.recipe, arch, allowDirty, ...(flags.archives ? { archives: flags.archives } : {}) },
      world,
    );
    const scratch = mkdtempSync(join(world.env['TMPDIR'] || tmpdir(), 'k8sbench-bundle-'));
    mkdirSync(dirname(out.path), { recursive: true });
    const fresh = join(dirname(out.path), `.${basename(out.path)}.${crypto.randomUUID()}.tmp`);
    try {
      const own = await ownPart(job, scratch);
      const facts = readFacts(out.path);
      const empty: Built = { directory: '', files: [] };
      const planned = factsOf(job, [
        own,
        ...job.artifacts.map((one) => ({ fact: factOf(one), built: empty })),
      ]);
      if (facts && !flags.force && determines(facts) === determines(planned)) {
        const { contents, problems } = await checkBundle(out.path, out.shown);
        if (problems.length === 0) {
          talk.info(
            `'${out.shown}' is built already, from the same inputs; nothing to do (--force assembles it again)`,
          );
          await talk.flushed();
          await world.stdout.write(`${await identityOf(contents, world.env)}  ${out.shown}\n`);
          return EXIT.done;
        }
        talk.warn(`'${out.shown}' is not as it was built; it is put together again`);
      }
      await assemble(job, await partsOf(job, own, call), fresh);
      const { contents, problems, needs } = await checkBundle(fresh, out.shown);
      if (problems.length > 0) throw failed(problems);
      for (const one of needs) talk.info(one);
      const identity = await identityOf(contents, world.env);
      replace(fresh, out.path);
      await talk.flushed();
      await world.stdout.write(`${identity}  ${out.shown}\n`);
      return EXIT.done;
    } finally {
      for (const one of [scratch, fresh]) rmSync(one, { recursive: true, force: true });
    }
  },
};
