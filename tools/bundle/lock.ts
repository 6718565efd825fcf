/** `bundle lock`: writes and refreshes the agents of an arms.lock, and prints what changed. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Arm, type ArmsLock, armsLock } from '../../schemas/arms-lock.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { writeAtomically } from '../../shared/files.ts';
import { check, jsonText, readJson } from '../../shared/read.ts';
import { lockArm } from './lock-arm.ts';
import { wishAgain, type Wish, wishOf } from './lock-wish.ts';
import type { BundleCall } from './flags.ts';

const NAMES = ['package.json', 'package-lock.json'];

const isMap = (one: unknown): one is Record<string, unknown> => typeof one === 'object' && one !== null;

/** What of an arm changed, one line each. */
export const changesOf = (id: string, before: unknown, after: unknown, path = ''): string[] => {
  if (isMap(before) && isMap(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesOf(id, before[key], after[key], path === '' ? key : `${path}.${key}`),
    );
  if (before === after) return [];
  if (path === '') {
    const arm = after as Arm;
    return [`${id}: new, ${arm.source === 'npm' ? `${arm.package} ` : ''}${arm.version}`];
  }
  const shown = (one: unknown): string => (isMap(one) ? JSON.stringify(one) : String(one ?? 'none'));
  return [`${id}: ${path}: ${shown(before)} → ${shown(after)}`];
};

/** The lock as it is: a file that isn't there locks nothing. */
const readLock = (path: string, shown: string): ArmsLock =>
  existsSync(path) ? readJson(path, armsLock, shown, usage) : { format: 'arms-lock/1', arms: {} };

/** What the command line names, else everything that is locked, anew. */
const wishesOf = (given: readonly string[], { arms }: ArmsLock): Wish[] => {
  const wishes =
    given.length > 0 ? given.map(wishOf) : Object.entries(arms).map(([id, arm]) => wishAgain(id, arm));
  const ids = wishes.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length > 0) throw usage(twice.map((id) => `flag '--arm': '${id}' is named twice`));
  if (wishes.length === 0)
    throw usage(
      "'bundle lock' needs --arm=ID=PACKAGE@VERSION:PATH, or a lock whose agents are to be locked again",
    );
  return wishes;
};

export const lock = {
  about: 'FILE: locks the agents that --arm names into an arms.lock, or all of it anew; prints what changed',
  words: 1,
  flags: ['arm', 'archives'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const { world, talk, flags } = call;
    const shown = call.words[1]!;
    const path = resolve(world.cwd, shown);
    const before = readLock(path, shown);
    const wishes = wishesOf(flags.arm, before);
    const scratch = mkdtempSync(join(world.env['TMPDIR'] || tmpdir(), 'k8sbench-lock-'));
    const arms = { ...before.arms };
    try {
      for (const wish of wishes) {
        talk.info(`locking ${wish.id}: ${wish.source === 'npm' ? `${wish.package} ` : ''}${wish.version}`);
        arms[wish.id] = await lockArm(wish, {
          scratch: join(scratch, wish.id),
          world,
          say: talk.info,
          ...(flags.archives === undefined ? {} : { archives: flags.archives }),
        });
      }
      const after = check(armsLock, { value: { ...before, arms } }, shown);
      // The lockfiles first: an arms.lock names only what is there.
      for (const { id, source } of wishes) {
        if (source !== 'npm') continue;
        mkdirSync(join(dirname(path), id), { recursive: true });
        for (const name of NAMES) copyFileSync(join(scratch, id, name), join(dirname(path), id, name));
      }
      writeAtomically(path, jsonText(after));
      const changes = wishes.flatMap(({ id }) => changesOf(id, before.arms[id], after.arms[id]));
      if (changes.length === 0) talk.info('nothing changed');
      await talk.flushed();
      await world.stdout.write(changes.map((one) => `${one}\n`).join(''));
      return EXIT.done;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};
