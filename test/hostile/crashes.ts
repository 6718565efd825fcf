/** kill -9 at random moments: afterwards a run is finished or visibly unfinished, and the same command goes on to the same end. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { contentOf, putBack } from './bed.ts';
import { Random } from './random.ts';
import { type Ended, makeScene, type Scene } from './scene.ts';

export interface CrashCase {
  /** Brings the scene to where the command begins. */
  prepare(scene: Scene): Promise<void>;
  command: readonly string[];
  /** What must hold after a kill, and after the end: what is wrong, one sentence each. */
  always?(scene: Scene): string[];
  /** Leftovers that are no fault: of a directory that a killed command began and the next one does not go on with. */
  leaves?: RegExp;
  /** What must hold once the command was repeated to its end, beside what holds of each. */
  finally?(scene: Scene, ended: Ended, before: Undisturbed): string[];
}

/** How the command ends when nobody kills it. */
export interface Undisturbed {
  ended: Ended;
  files: ReadonlyMap<string, Buffer>;
  ms: number;
}

const LOCAL = [
  '--local',
  '--profile',
  'profile.json',
  '--rounds',
  '3',
  '--allow-frequency-scaling',
  '--pin',
  'none',
];
const RUN = 'out/cmp-crash';

export const mustRun = async (scene: Scene, ...args: string[]): Promise<void> => {
  const { exit, stderr } = await scene.run(args);
  if (exit !== 0) throw new Error(`${args.join(' ')}: exit ${exit}: ${stderr}`);
};

const text = (scene: Scene, path: string): string => {
  const file = scene.file(join('work', path));
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};
const json = (scene: Scene, path: string): Record<string, unknown> | undefined => {
  const found = text(scene, path);
  return found === '' ? undefined : (JSON.parse(found) as Record<string, unknown>);
};
const linesOf = (scene: Scene, path: string): Record<string, unknown>[] =>
  text(scene, path)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** A run that says it is finished has all that belongs to one. */
const finishedOrNot = (scene: Scene): string[] => {
  if (!existsSync(scene.file(join('work', RUN, 'MANIFEST.sha256')))) return [];
  const job = json(scene, `${RUN}/job.json`);
  return [
    ...(job?.['outcome'] === 'done'
      ? []
      : [`a manifest beside a session that is ${String(job?.['outcome'])}`]),
    ...(existsSync(scene.file(join('work', RUN, 'pod.log'))) ? [] : ['a manifest without a log']),
  ];
};

/** JSON files of ours are whole whenever one looks. */
export const wholeFiles = (scene: Scene): string[] =>
  [...contentOf(scene.file('work'))].flatMap(([name, bytes]) => {
    if (!name.endsWith('.json')) return [];
    try {
      JSON.parse(bytes.toString());
      return [];
    } catch {
      return [`'${name}' is half-written`];
    }
  });

const sameFiles = (scene: Scene, before: Undisturbed, ignore: RegExp): string[] => {
  const now = contentOf(scene.file('work'));
  const names = (all: ReadonlyMap<string, Buffer>): string[] =>
    [...all.keys()].filter((one) => !ignore.test(one));
  if (!isDeepStrictEqual(names(now), names(before.files)))
    return [`other files: ${names(now).join(' ')}, undisturbed ${names(before.files).join(' ')}`];
  return names(now).flatMap((name) =>
    now.get(name)!.equals(before.files.get(name)!) ? [] : [`'${name}' differs from the undisturbed one`],
  );
};

const sameNames = (scene: Scene, before: Undisturbed, ignore: RegExp): string[] => {
  const names = (all: ReadonlyMap<string, Buffer>): string[] =>
    [...all.keys()].filter((one) => !ignore.test(one));
  const [now, then] = [names(contentOf(scene.file('work'))), names(before.files)];
  return isDeepStrictEqual(now, then) ? [] : [`other files: ${now.join(' ')}, undisturbed ${then.join(' ')}`];
};

const sameWords = ({ stdout }: Ended, { ended }: Undisturbed): string[] =>
  stdout === ended.stdout
    ? []
    : [`printed ${stdout.slice(0, 300)}, undisturbed ${ended.stdout.slice(0, 300)}`];

/** The log of each killed attempt stays, and each is recorded as void. */
const ASIDE = /pod\.log\.killed-\d+$/;
const voidAttempts = (scene: Scene): string[] => {
  const kept = readdirSync(scene.file(join('work', RUN))).filter((one) => ASIDE.test(one)).length;
  const recorded = linesOf(scene, 'out/attempts.jsonl').filter((one) => one['outcome'] === 'void').length;
  // On a clock that stands still two attempts have one line.
  return kept === 0 || recorded > 0 ? [] : [`${kept} logs of killed attempts, none recorded as void`];
};

/** A repository of a program with two commits; building takes a moment. */
const repository = (scene: Scene): void => {
  const git = (...args: string[]): void => {
    const done = Bun.spawnSync(['git', '-c', 'user.name=n', '-c', 'user.email=e@x', ...args], {
      cwd: scene.file('work'),
    });
    if (!done.success) throw new Error(done.stderr.toString());
  };
  git('init', '--quiet', '--initial-branch=main');
  for (const version of ['one', 'two']) {
    writeFileSync(scene.file('work/program.sh'), `#!/bin/sh\necho ${version} >/dev/null\n`);
    git('add', '--all');
    git('commit', '--quiet', '--message', version);
  }
  writeFileSync(scene.file('work/new.txt'), 'not committed\n');
};

export const CASES: Readonly<Record<string, CrashCase>> = {
  plan: {
    prepare: async () => undefined,
    command: ['plan', ...LOCAL, '--sessions', '2', '--run', RUN],
    finally: (scene, ended, before) => [...sameFiles(scene, before, /$^/), ...sameWords(ended, before)],
  },
  'plan in a new directory': {
    prepare: async () => undefined,
    command: ['plan', ...LOCAL],
    // The next plan makes a directory of its own; the one that was begun has no plan.json.
    leaves: /out\/k8sbench-cmp-[^/]*\/[a-z.]+\.[-0-9a-f]+\.tmp/,
    finally: (scene, ended) => [
      ...(existsSync(scene.file('work/out/.gitignore')) ? [] : ["'out' does not hide itself from git"]),
      ...(existsSync(scene.file(join('work', ended.stdout.trim(), 'plan.json'))) ? [] : ['no plan.json']),
    ],
  },
  'profile of two commits': {
    prepare: async (scene) => repository(scene),
    command: [
      ...['profile', '--old', 'HEAD~1', '--new', 'WORKTREE', '--sample', './built.sh'],
      ...['--build', 'sh -c "sleep 0.3; cp program.sh built.sh; chmod +x built.sh; sleep 0.2"'],
    ],
    finally: (_scene, ended, before) => sameWords(ended, before),
  },
  'run-session': {
    prepare: (scene) => mustRun(scene, 'plan', ...LOCAL, '--run', RUN),
    command: ['run-session', '--run', RUN],
    always: finishedOrNot,
    finally: (scene, ended, before) => [
      ...sameNames(scene, before, /pod\.log\.(killed|done)-\d+$|attempts\.jsonl$/),
      ...voidAttempts(scene),
      ...sameWords(ended, before),
    ],
  },
  analyze: {
    async prepare(scene) {
      await mustRun(scene, 'plan', ...LOCAL, '--run', RUN);
      await mustRun(scene, 'run-session', '--run', RUN);
    },
    command: ['analyze', '--run', RUN, '--max-cv', '9'],
    finally: (scene, ended, before) => [...sameFiles(scene, before, /$^/), ...sameWords(ended, before)],
  },
  'analyze again': {
    async prepare(scene) {
      await mustRun(scene, 'plan', ...LOCAL, '--run', RUN);
      await mustRun(scene, 'run-session', '--run', RUN);
      await mustRun(scene, 'analyze', '--run', RUN, '--max-cv', '8');
    },
    command: ['analyze', '--run', RUN, '--max-cv', '9'],
    finally: (scene, ended, before) => [...sameFiles(scene, before, /$^/), ...sameWords(ended, before)],
  },
  'tracker append': {
    async prepare(scene) {
      await mustRun(scene, 'plan', ...LOCAL, '--run', RUN);
      await mustRun(scene, 'run-session', '--run', RUN);
      await mustRun(scene, 'analyze', '--run', RUN, '--max-cv', '9');
    },
    command: ['tracker', 'append', '--run', RUN],
    finally: (scene, ended, before) => [
      ...sameFiles(scene, before, /track\.jsonl$/),
      ...sameWords(ended, before),
      // A line that was written before the kill is written again: of a run the newest counts.
      ...(text(scene, 'out/track.jsonl').endsWith(ended.stdout) &&
      new Set(linesOf(scene, 'out/track.jsonl').map((one) => JSON.stringify(one))).size === 1
        ? []
        : ['the history is not the one line, once or again']),
    ],
  },
  compare: {
    prepare: async () => undefined,
    command: ['compare', ...LOCAL, '--run', RUN, '--max-cv', '9'],
    always: finishedOrNot,
    finally: (scene, ended, before) => [
      ...sameNames(scene, before, /pod\.log\.(killed|done)-\d+$|attempts\.jsonl$/),
      ...voidAttempts(scene),
      ...(text(scene, 'out/track.jsonl').endsWith(ended.stdout)
        ? []
        : ['the printed line is not in the history']),
    ],
  },
};

/** Kills the command `times` times at random moments, each time from the beginning; what was wrong, one sentence each. */
export const crashLoop = async (name: string, times: number, seed: number): Promise<string[]> => {
  const { prepare, command, always, leaves, finally: last } = CASES[name]!;
  const random = new Random(seed);
  const scene = makeScene(name.replaceAll(' ', '-'), 'cmp-crash');
  const problems: string[] = [];
  try {
    await prepare(scene);
    const begin = contentOf(scene.file('work'));
    const began = performance.now();
    const ended = await scene.run(command);
    const ms = performance.now() - began;
    if (ended.exit !== 0) return [`undisturbed: exit ${ended.exit}: ${ended.stderr.slice(-500)}`];
    const before: Undisturbed = { ended, files: contentOf(scene.file('work')), ms };
    const check = (when: string, found: readonly string[]): void =>
      void problems.push(...found.map((one) => `${when}: ${one}`));
    check('undisturbed', scene.leftovers());
    for (let time = 0; time < times; time++) {
      putBack(scene.file('work'), begin);
      putBack(scene.file('cache'), new Map());
      let when = 'killed after';
      for (let kills = random.chance(0.3) ? 2 : 1; kills > 0; kills--) {
        // Most of a tool's time is its start; the interesting part is the end of it.
        const after = Math.round(ms * (0.2 + 0.9 * random.unit()));
        when += ` ${after} ms`;
        await scene.run(command, { killedAfter: after });
        check(when, [...wholeFiles(scene), ...(always?.(scene) ?? [])]);
      }
      const again = await scene.run(command);
      if (again.exit !== 0)
        check(when, [`the same command ends with ${again.exit}: ${again.stderr.slice(-500)}`]);
      else
        check(when, [
          ...wholeFiles(scene),
          ...(always?.(scene) ?? []),
          ...(last?.(scene, again, before) ?? []),
          ...scene.leftovers().filter((one) => !leaves?.test(one)),
        ]);
      if (problems.length > 10) break;
    }
    return problems;
  } finally {
    scene.remove();
  }
};
