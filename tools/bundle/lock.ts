/** `bundle lock`: writes and refreshes the npm arms of an arms.lock, and prints what changed. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ArmsLock, armsLock, type NpmArm } from '../../schemas/arms-lock.ts';
import type { Arch } from '../../schemas/recipe.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { sha256, sha256File, writeAtomically } from '../../shared/files.ts';
import { check, jsonText, readJson, readText } from '../../shared/read.ts';
import type { World } from '../../shared/world.ts';
import { buildEnv, runBuild } from './command.ts';
import { install } from './kinds/npm.ts';
import { lockedPackage, npmLockProblems } from './npm-lock.ts';
import type { BundleCall } from './verbs.ts';

const ARCHES: readonly Arch[] = ['amd64', 'arm64'];
const NAMES = ['package.json', 'package-lock.json'];

/** An arm to lock: `<id>=<package>@<version>:<executable>`, in which `{arch}`, `{cpu}` stand for each machine's words. */
interface Wish {
  id: string;
  package: string;
  version: string;
  executable: string;
}

const WORDS = { amd64: { arch: 'x64', cpu: 'x86_64' }, arm64: { arch: 'arm64', cpu: 'aarch64' } } as const;

const wishOf = (given: string): Wish => {
  const found = /^([A-Za-z0-9][\w.-]*)=((?:@[^@/:\s]+\/)?[^@/:\s]+)@([^@:\s]+):(\S+)$/.exec(given);
  if (!found)
    throw usage(
      `flag '--arm': expected ID=PACKAGE@VERSION:PATH, such as pi=@scope/pi@1.2.3:node_modules/@scope/pi/cli.js, found '${given}'`,
    );
  const [, id, name, version, executable] = found as unknown as [string, string, string, string, string];
  return { id, package: name, version, executable };
};

/** Locks one arm in a place of its own, installs it for each machine, and takes its digests. */
const lockOne = async (wish: Wish, scratch: string, world: World): Promise<NpmArm> => {
  const how = { cwd: scratch, env: buildEnv(world), interrupted: world.interrupted };
  writeFileSync(join(scratch, 'package.json'), jsonText({ dependencies: { [wish.package]: wish.version } }));
  await runBuild(
    [
      'npm',
      'install',
      '--package-lock-only',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    how,
  );
  const text = readText(join(scratch, 'package-lock.json'), 'package-lock.json');
  const problems = npmLockProblems(text, `${wish.id}/package-lock.json`, ['registry.npmjs.org']);
  if (problems.length > 0) throw failed(problems);
  const found = lockedPackage(text, wish.package);
  const executables: NpmArm['executables'] = {};
  for (const arch of ARCHES) {
    await install(scratch, arch, world);
    const path = wish.executable.replaceAll('{arch}', WORDS[arch].arch).replaceAll('{cpu}', WORDS[arch].cpu);
    const full = join(scratch, path);
    if (!existsSync(full))
      throw failed(`arm '${wish.id}': '${path}' is not there once it is installed for ${arch}`);
    executables[arch] = { path, sha256: await sha256File(full), size: statSync(full).size };
    rmSync(join(scratch, 'node_modules'), { recursive: true });
  }
  return {
    source: 'npm',
    package: wish.package,
    version: String(found?.version),
    integrity: String(found?.integrity),
    lockfile: { in: wish.id, sha256: sha256(text) },
    executables,
  };
};

const isMap = (one: unknown): one is Record<string, unknown> => typeof one === 'object' && one !== null;

/** What of an arm changed, one line each. */
export const changesOf = (id: string, before: unknown, after: unknown, path = ''): string[] => {
  if (isMap(before) && isMap(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesOf(id, before[key], after[key], path === '' ? key : `${path}.${key}`),
    );
  if (before === after) return [];
  if (path === '') return [`${id}: new, ${(after as NpmArm).package} ${(after as NpmArm).version}`];
  const shown = (one: unknown): string => (isMap(one) ? JSON.stringify(one) : String(one ?? 'none'));
  return [`${id}: ${path}: ${shown(before)} → ${shown(after)}`];
};

export const lock = {
  about: 'FILE: locks the agents that --arm names into an arms.lock; prints what changed',
  words: 1,
  flags: ['arm'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const { world, talk } = call;
    const shown = call.words[1]!;
    const path = resolve(world.cwd, shown);
    const wishes = call.flags.arm.map(wishOf);
    if (wishes.length === 0) throw usage("'bundle lock' needs --arm=ID=PACKAGE@VERSION:PATH");
    const before: ArmsLock = existsSync(path)
      ? readJson(path, armsLock, shown, usage)
      : { format: 'arms-lock/1', arms: {} };
    const scratch = mkdtempSync(join(world.env['TMPDIR'] || tmpdir(), 'k8sbench-lock-'));
    const arms = { ...before.arms };
    try {
      for (const wish of wishes) {
        talk.info(`locking ${wish.id}: ${wish.package} ${wish.version}`);
        mkdirSync(join(scratch, wish.id));
        arms[wish.id] = await lockOne(wish, join(scratch, wish.id), world);
      }
      const after = check(armsLock, { value: { ...before, arms } }, shown);
      // The lockfiles first: an arms.lock names only what is there.
      for (const { id } of wishes) {
        mkdirSync(join(dirname(path), id), { recursive: true });
        for (const name of NAMES) copyFileSync(join(scratch, id, name), join(dirname(path), id, name));
      }
      writeAtomically(path, jsonText(after));
      const changes = wishes.flatMap(({ id }) => changesOf(id, before.arms[id], after.arms[id]));
      if (changes.length === 0) talk.info('nothing changed');
      await world.stdout.write(changes.map((one) => `${one}\n`).join(''));
      return EXIT.done;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};
