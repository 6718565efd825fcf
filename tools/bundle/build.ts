/** `bundle build`: from a recipe to a bundle. What was built before from the same inputs is taken as it is. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { BundleFacts } from '../../schemas/bundle.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { Failure, failed, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { assemble, factOf, factsOf, type Part, readFacts, replace } from './assemble.ts';
import { ABOUT, ARTIFACTS, type Built, buildInto, cached, cacheOf, markUsed } from './cache.ts';
import { limitOf, prune, whileInUse } from './cache-limit.ts';
import { checkBundle } from './check.ts';
import { kindOf } from './kinds.ts';
import { writeOwnParts } from './own-parts.ts';
import { withOwnDirectory } from './own-directory.ts';
import { type Job, prepareJob, type Ready, type Wanted } from './prepare.ts';
import { removedText } from './show-cache.ts';
import { copySource, digestOf } from './source.ts';
import { knownIdentity, remember, stateBefore } from './stamp.ts';
import { tasksPart } from './tasks.ts';
import { listOf, normalise } from './tree.ts';
import type { BundleCall } from './flags.ts';

interface Place {
  path: string;
  shown: string;
}

/** Where the bundle goes: a place of its own, or a bundle that is replaced. */
const outOf = ({ flags, world }: BundleCall): Place => {
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
  return buildInto(cache, one, async (place) => {
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
const partsOf = async (job: Job, given: readonly Part[], call: BundleCall): Promise<Part[]> => {
  const cache = cacheOf(call.world.env);
  const parts = [...given];
  for (const one of job.artifacts) {
    const before = await cached(cache, one);
    if (before) call.talk.info(`${one.name} is built already, from the same inputs`);
    parts.push({ fact: factOf(one), built: before ?? (await buildOne(one, job, cache, call)) });
  }
  return parts;
};

const HOST = { x64: 'amd64', arm64: 'arm64' } as const;

/** What the command line asks for; flags that need another one are refused without it. */
const wantedOf = ({ flags, world }: BundleCall): Omit<Wanted, 'out'> => {
  const problems: string[] = [];
  if (flags.recipe === undefined)
    problems.push("'bundle build' needs --recipe=<FILE>: what the bundle holds");
  const arch = flags.arch ?? HOST[process.arch as 'x64' | 'arm64'];
  if (arch === undefined) problems.push('name the architecture of the nodes with --arch');
  for (const name of ['arms', 'python-archive'] as const)
    if (flags[name] !== undefined && !flags.agents)
      problems.push(`'--${name}' needs --agents: without agents the bundle has neither`);
  if (problems.length > 0) throw usage(problems);
  return {
    recipe: flags.recipe!,
    arch,
    allowDirty: flags['allow-dirty'] || world.env['K8SBENCH_ALLOW_DIRTY'] === '1',
    agents: flags.agents,
    arms: flags.arms ?? [],
    ...(flags.archives === undefined ? {} : { archives: flags.archives }),
    ...(flags['python-archive'] === undefined ? {} : { pythonArchive: flags['python-archive'] }),
    ...(flags.tinygo === undefined ? {} : { tinygo: flags.tinygo }),
  };
};

/** The identity of a bundle that is there already, from the same inputs and as it was left; undefined: it has to be built. */
const builtAlready = async (
  job: Job,
  given: readonly Part[],
  out: Place,
  { world, talk }: BundleCall,
): Promise<string | undefined> => {
  const facts = readFacts(out.path);
  const empty: Built = { directory: '', files: [] };
  const parts = [...given, ...job.artifacts.map((one) => ({ fact: factOf(one), built: empty }))];
  if (!facts || determines(facts) !== determines(factsOf(job, parts))) return undefined;
  const known = knownIdentity(out.path, world.env);
  if (known !== undefined) return known;
  const state = await stateBefore(out.path);
  const { problems, identity } = await checkBundle(out.path, out.shown);
  if (problems.length === 0) {
    remember(out.path, state, identity, world.env);
    return identity;
  }
  talk.warn(`'${out.shown}' is not as it was built; it is put together again`);
  return undefined;
};

/** Puts a bundle together beside its place, checks it, and moves it there. */
const putTogether = (job: Job, given: readonly Part[], out: Place, call: BundleCall): Promise<string> =>
  withOwnDirectory(join(dirname(out.path), `.${basename(out.path)}`), async (own) => {
    const fresh = join(own, 'bundle');
    await whileInUse(cacheOf(call.world.env), async () =>
      assemble(job, await partsOf(job, given, call), fresh),
    );
    const state = await stateBefore(fresh);
    const { problems, needs, identity } = await checkBundle(fresh, out.shown);
    if (problems.length > 0) throw failed(problems);
    for (const one of needs) call.talk.info(one);
    replace(fresh, out.path);
    remember(out.path, state, identity, call.world.env);
    return identity;
  });

/** Keeps the cache below its limit. A build that has nothing to do uses its artifacts, too. */
const keepCache = async (
  job: Job,
  isNew: boolean,
  limit: number,
  { world, talk }: BundleCall,
): Promise<void> => {
  const cache = cacheOf(world.env);
  if (!isNew) return job.artifacts.forEach(({ key }) => markUsed(join(cache, ARTIFACTS, key, ABOUT)));
  const removed = await prune(cache, limit);
  if (removed && removed.length > 0)
    talk.info(`the cache was full: removed ${removedText(removed)} ('k8sbench bundle cache' shows it)`);
};

export const build = {
  about: 'builds a bundle from a recipe; prints its identity and the directory',
  words: 0,
  flags: [
    'recipe',
    'out',
    'arch',
    'agents',
    'arms',
    'python-archive',
    'tinygo',
    'archives',
    'tasks',
    'tasks-lock',
    'allow-dirty',
    'force',
  ] as const,
  async run(call: BundleCall): Promise<Exit> {
    const { flags, world, talk } = call;
    const wanted = wantedOf(call);
    const out = outOf(call);
    const limit = limitOf(world.env);
    const job = await prepareJob({ ...wanted, out: out.path }, world);
    const scratch = mkdtempSync(join(world.env['TMPDIR'] || tmpdir(), 'k8sbench-bundle-'));
    try {
      const given = [await ownPart(job, scratch), ...(await tasksPart(call, scratch))];
      const known = flags.force ? undefined : await builtAlready(job, given, out, call);
      if (known !== undefined)
        talk.info(
          `'${out.shown}' is built already, from the same inputs; nothing to do (--force assembles it again)`,
        );
      const identity = known ?? (await putTogether(job, given, out, call));
      await keepCache(job, known === undefined, limit, call);
      await talk.flushed();
      await world.stdout.write(`${identity}  ${out.shown}\n`);
      return EXIT.done;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};
