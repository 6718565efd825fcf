/**
 * A full disk, a read-only directory, an output that nobody takes: each is named, and nothing is half-written. Mounts a small
 * tmpfs and a read-only bind mount where it may: as root, or in a user namespace, as test/run.ts does it for a plain user.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentOf, putBack } from './bed.ts';
import { CASES, mustRun, wholeFiles } from './crashes.ts';
import { makeScene, type Scene } from './scene.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-disk-'));
const small = join(base, 'small');
const mounted: string[] = [];
/** Mounts; false where this process may not. */
const mount = (...args: string[]): boolean => {
  const { success } = Bun.spawnSync(['mount', ...args], { stderr: 'ignore' });
  if (success) mounted.push(args.at(-1)!);
  return success;
};
mkdirSync(small);
/** A container's root and a plain user without namespaces may not: limits of the process and modes of files stand in for the disk then. */
const mayMount = mount('-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', small);
let scene: Scene;
beforeAll(() => {
  scene = makeScene('disk', 'cmp-crash', small);
});
afterAll(() => {
  for (const point of mounted.toReversed()) Bun.spawnSync(['umount', point]);
  rmSync(base, { recursive: true, force: true });
});

/** Leaves so many KiB free for a command: on the disk, else in each file. Gives the words that start it. */
const leave = (kib: number): string[] => {
  if (!mayMount) return ['bash', '-c', `trap '' XFSZ; ulimit -f ${kib}; exec "$@"`, 'bash'];
  rmSync(join(small, 'fill'), { force: true });
  const { bavail, bsize } = statfsSync(small);
  const size = bavail * bsize - kib * 1024;
  if (size > 0) writeFileSync(join(small, 'fill'), new Uint8Array(size));
  return [];
};
const FULL = mayMount ? /no space left/i : /the file is too large/i;

/** Makes a scene's work one that can only be read. `words` start a command there, `end` makes it as it was. */
const readOnly = (place: Scene): { says: string; words: string[]; end: () => void } => {
  const work = place.file('work');
  if (mayMount && mount('--bind', work, work) && mount('-o', 'remount,bind,ro', work))
    return {
      says: 'the file system is read-only',
      words: [],
      end: () => {
        for (const point of mounted.splice(mounted.indexOf(work))) Bun.spawnSync(['umount', point]);
      },
    };
  const everybody = (mode: string, ...paths: string[]) => Bun.spawnSync(['chmod', '-R', mode, ...paths]);
  everybody('a+rX,a-w', work);
  everybody('a+rwX', place.file('tmp'), place.file('cache'));
  chmodSync(place.dir, 0o755);
  return {
    says: 'permission denied',
    // Root may write anywhere; somebody else may not.
    words: process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [],
    end: () => void everybody('u+w', work),
  };
};
const LEFT_KIB = [0, 4, 8, 12, 16, 24, 32, 48, 64, 512];

describe(mayMount ? 'a full disk' : 'files that may not grow', () => {
  test.each(['plan', 'run-session', 'analyze', 'analyze again', 'tracker append', 'compare'])(
    '%s',
    async (name) => {
      const { prepare, command, finally: last } = CASES[name]!;
      putBack(
        scene.file('work'),
        new Map([['profile.json', contentOf(scene.file('work')).get('profile.json')!]]),
      );
      await prepare(scene);
      const begin = contentOf(scene.file('work'));
      const ended = await scene.run(command);
      expect({ exit: ended.exit, stderr: ended.exit === 0 ? '' : ended.stderr }).toEqual({
        exit: 0,
        stderr: '',
      });
      const before = { ended, files: contentOf(scene.file('work')), ms: 0 };
      const exits = new Set<number | null>();
      for (const left of LEFT_KIB) {
        rmSync(join(small, 'fill'), { force: true });
        putBack(scene.file('work'), begin);
        const full = await scene.run(command, { through: leave(left) });
        exits.add(full.exit);
        const found = {
          left,
          exit: full.exit,
          named: full.exit === 0 || FULL.test(full.stderr),
          stack: /this is a bug|\n\s+at /.test(full.stderr),
          stdout: full.exit === 0 ? '' : full.stdout,
          half: [...wholeFiles(scene), ...scene.leftovers()],
        };
        expect({ ...found, stderr: found.named && !found.stack ? '' : full.stderr }).toEqual({
          ...{ left, exit: expect.any(Number), named: true, stack: false, stdout: '', half: [], stderr: '' },
        });
        expect([0, 1]).toContain(full.exit!);
        rmSync(join(small, 'fill'), { force: true });
        const again = await scene.run(command);
        const wrong = again.exit === 0 ? (last?.(scene, again, before) ?? []) : [again.stderr];
        // What a full disk stopped is an attempt that failed, with its log.
        expect({ left, wrong: wrong.filter((one) => !one.includes('pod.log.failed-')) }).toEqual({
          left,
          wrong: [],
        });
      }
      expect([...exits].toSorted()).toEqual([0, 1]);
    },
    180_000,
  );
});

describe('a read-only directory', () => {
  test.each(['plan', 'run-session', 'analyze', 'tracker append', 'compare'])(
    '%s',
    async (name) => {
      const { prepare, command } = CASES[name]!;
      const place = makeScene('read-only', 'cmp-crash');
      try {
        await prepare(place);
        const begin = contentOf(place.file('work'));
        const { says, words, end } = readOnly(place);
        const ended = await place.run(command, { through: words }).finally(end);
        expect(ended).toEqual({ exit: 1, stdout: '', stderr: expect.stringContaining(says) });
        expect(ended.stderr).not.toMatch(/this is a bug|\n\s+at /);
        expect([...contentOf(place.file('work'))]).toEqual([...begin]);
        expect(place.leftovers()).toEqual([]);
      } finally {
        place.remove();
      }
    },
    60_000,
  );

  test('a finished run is read, shown, and skipped as done', async () => {
    const place = makeScene('archive', 'cmp-crash');
    let undo: (() => void) | undefined;
    try {
      await CASES['tracker append']!.prepare(place);
      await mustRun(place, 'tracker', 'append', '--run', 'out/cmp-crash');
      const { words, end } = readOnly(place);
      undo = end;
      for (const command of [
        ['run-session', '--run', 'out/cmp-crash'],
        ['analyze', '--run', 'out/cmp-crash', '--max-cv', '9'],
        ['tracker', 'show'],
        ['tracker', 'append', '--run', 'out/cmp-crash', '--track', join(place.file('tmp'), 'track.jsonl')],
      ]) {
        const ended = await place.run(command, { through: words });
        expect({ command, exit: ended.exit, stderr: ended.exit === 0 ? '' : ended.stderr }).toEqual({
          command,
          exit: 0,
          stderr: '',
        });
      }
    } finally {
      undo?.();
      place.remove();
    }
  }, 60_000);
});

/** Everything that prints. */
const PRINTING: [string, readonly string[]][] = [
  ['help', ['--help']],
  ['profile', ['profile', 'durable-store']],
  ['profile list', ['profile', '--list']],
  ['schema', ['schema', 'log']],
  ['completion', ['completion', 'bash']],
  ['plan', ['plan', '--local', '--profile', 'profile.json', '--rounds', '2000', '--dry-run']],
  ['analyze', ['analyze', '--run', 'out/cmp-crash', '--json', '--max-cv', '9']],
  ['analyze a log', ['analyze', '--log', 'out/cmp-crash/pod.log', '--json', '--max-cv', '9']],
  ['tracker show', ['tracker', 'show']],
  ['tracker show as JSON', ['tracker', 'show', '--json']],
  ['tracker append', ['tracker', 'append', '--run', 'out/cmp-crash']],
  ['run-session', ['run-session', '--run', 'out/cmp-crash', '--json']],
];

describe('an output that nobody takes', () => {
  let place: Scene;
  beforeAll(async () => {
    place = makeScene('outputs', 'cmp-crash');
    await CASES['tracker append']!.prepare(place);
    for (let time = 0; time < 3; time++) await mustRun(place, 'tracker', 'append', '--run', 'out/cmp-crash');
  }, 60_000);
  afterAll(() => place.remove());

  test.each(PRINTING)(
    '%s into a closed pipe is no error',
    async (_, command) => {
      for (const reader of ['head -n 1', 'head -c 1', 'true', 'sleep 0.2; true']) {
        const script = `"$@" | { ${reader}; } >/dev/null; exit "\${PIPESTATUS[0]}"`;
        const ended = await place.run(command, { through: ['bash', '-c', script, 'bash'] });
        expect({ reader, exit: ended.exit, stack: /this is a bug|\n\s+at /.test(ended.stderr) }).toEqual({
          reader,
          exit: 0,
          stack: false,
        });
      }
    },
    60_000,
  );

  test.each(PRINTING)(
    '%s onto a full disk is named',
    async (_, command) => {
      const ended = await place.run(command, { through: ['bash', '-c', '"$@" >/dev/full', 'bash'] });
      expect({
        exit: ended.exit,
        named: /no space left/i.test(ended.stderr),
        stack: /this is a bug|\n\s+at /.test(ended.stderr),
      }).toEqual({ exit: 1, named: true, stack: false });
    },
    60_000,
  );

  test.each(PRINTING)(
    '%s without anybody to talk to',
    async (_, command) => {
      for (const where of ['2>/dev/full', '2>&-']) {
        const ended = await place.run(command, { through: ['bash', '-c', `"$@" ${where}`, 'bash'] });
        expect({ where, exit: ended.exit }).toEqual({ where, exit: 0 });
      }
    },
    60_000,
  );
  test('leaves nothing behind', () => {
    expect(place.leftovers()).toEqual([]);
    expect(readdirSync(place.file('tmp'))).toEqual([]);
  });
});
