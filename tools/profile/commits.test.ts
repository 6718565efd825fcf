/** `profile --old --new` on a real repository: two commits built, kept, found again, removed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import type { Exit } from '../../shared/exit.ts';
import { tryLock } from '../../shared/files.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-commits-'));
const repository = join(base, 'app');
const env = {
  PATH: process.env['PATH'],
  HOME: base,
  XDG_CACHE_HOME: join(base, 'cache'),
  GIT_DIR: '/nowhere',
};

const git = (...args: string[]): string => {
  const done = Bun.spawnSync(['git', ...args], {
    cwd: repository,
    env: { PATH: process.env['PATH'], HOME: base, ...author },
  });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  return done.stdout.toString().trim();
};
const author = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'a'],
    [`GIT_${who}_EMAIL`, 'a@example.com'],
  ]),
);
const put = (path: string, content: string): void => writeFileSync(join(repository, path), content);
const profile = (args: string[], cwd = repository) => runTool(main, args, { cwd, env });
/** The build makes an executable out of a source file, so that a tree without its build has no program. */
const BUILD = `sh -c 'mkdir -p bin && cp app.sh bin/app && chmod +x bin/app && echo built >> built.txt'`;
const compare = ['--old', 'main~1', '--new', 'HEAD', '--build', BUILD, '--sample', './bin/app data.txt'];

let [first, second] = ['', ''];
beforeAll(() => {
  mkdirSync(join(repository, 'sub'), { recursive: true });
  git('init', '-q', '-b', 'main');
  put('.gitignore', 'bin/\nbuilt.txt\ndata.txt\n');
  put('app.sh', '#!/bin/sh\necho one\n');
  put('sub/run.sh', '#!/bin/sh\necho sub\n');
  chmodSync(join(repository, 'sub/run.sh'), 0o755);
  git('add', '-A');
  git('commit', '-qm', 'one');
  put('app.sh', '#!/bin/sh\necho two\n');
  git('commit', '-qam', 'two');
  [first, second] = [git('rev-parse', 'HEAD~1'), git('rev-parse', 'HEAD')];
});
afterAll(() => rmSync(base, { recursive: true }));

const programOf = (stdout: string, name: string): string =>
  (JSON.parse(stdout) as Profile).targets.find((one) => one.name === name)!.command![0]!;

describe('two commits', () => {
  test('are built once, each in its own tree, and become targets with their commits', async () => {
    const { exit, stdout, stderr } = await profile(compare);
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining(`building main~1 (${first.slice(0, 10)}): sh -c`),
    ]);
    const made = JSON.parse(stdout) as Profile;
    expect(made.targets).toEqual([
      { name: 'new', role: 'candidate', command: [expect.any(String), 'data.txt'], commit: second },
      { name: 'old', role: 'reference', command: [expect.any(String), 'data.txt'], commit: first },
    ]);
    const said = (name: string) => Bun.spawnSync([programOf(stdout, name)]).stdout.toString();
    expect([said('old'), said('new')]).toEqual(['one\n', 'two\n']);
    expect(git('status', '--porcelain')).toBe('');

    const again = await profile(compare);
    expect([again.exit, again.stdout]).toEqual([0, stdout]);
    expect(again.stderr).toMatch(/was built before.*\n.*was built before/);
    const built = join(programOf(stdout, 'old'), '../../built.txt');
    expect(readFileSync(built, 'utf8')).toBe('built\n');
  });

  test('another build command is another build; the name of the profile follows the question, not the commits', async () => {
    const one = JSON.parse((await profile(compare)).stdout) as Profile;
    const swapped = compare.map((word) => ({ 'main~1': 'HEAD', HEAD: 'main~1' })[word] ?? word);
    expect((JSON.parse((await profile(swapped)).stdout) as Profile).name).toBe(one.name);
    const other = await profile([...compare, '--build', 'true']);
    expect(other.stderr).not.toContain('built before');
    expect((JSON.parse(other.stdout) as Profile).name).not.toBe(one.name);
  });

  test('WORKTREE is the files as they are: new ones too, ignored ones not, nothing touched', async () => {
    put('app.sh', '#!/bin/sh\necho three\n');
    put('new.txt', 'new');
    put('data.txt', 'ignored');
    const status = git('status', '--porcelain');
    const asked = ['--old', 'HEAD', '--new', 'WORKTREE', '--build', BUILD, '--sample', './bin/app'];
    const { exit, stdout } = await profile(asked);
    expect(exit).toBe(0);
    const program = programOf(stdout, 'new');
    expect(Bun.spawnSync([program]).stdout.toString()).toBe('three\n');
    expect(existsSync(join(program, '../../new.txt'))).toBe(true);
    expect(existsSync(join(program, '../../data.txt'))).toBe(false);
    expect((JSON.parse(stdout) as Profile).targets[0]!.commit).toBe(`${second}-dirty`);
    expect(git('status', '--porcelain')).toBe(status);
    expect((await profile(asked)).stderr).toMatch(/WORKTREE .* was built before/);
    rmSync(join(repository, 'new.txt'));
    git('checkout', '-q', 'app.sh');
    const unchanged = await profile(asked);
    expect([unchanged.exit, unchanged.stderr]).toEqual([2, expect.stringContaining('name the same files')]);
  });

  test('a subdirectory stands for itself in each tree', async () => {
    const asked = ['--old', 'HEAD~1', '--new', 'HEAD', '--sample', './run.sh'];
    const { exit, stdout } = await profile(asked, join(repository, 'sub'));
    expect([exit, programOf(stdout, 'old')]).toEqual([0, expect.stringMatching(/\/tree\/sub\/run\.sh$/)]);
  });

  test('{worktree} stands inside a word; prepare belongs to its own tree', async () => {
    const sample = "sh -c 'cd {worktree} && cat app.sh'";
    const { stdout } = await profile([
      '--old',
      'HEAD~1',
      '--new',
      'HEAD',
      '--sample',
      sample,
      '--prepare',
      'touch ./x{y}',
    ]);
    for (const one of (JSON.parse(stdout) as Profile).targets) {
      expect(one.command![2]).toMatch(/^cd \/.*\/tree && cat app\.sh$/);
      expect(one.prepare![1]).toBe(`${one.command![2]!.split(' ')[1]}/x{{y}}`);
    }
  });
});

describe('what goes wrong', () => {
  test.each<[string, Record<string, string>, Exit, string]>([
    [
      'no such revision',
      { '--old': 'nothing' },
      2,
      "'nothing' is not a revision of this repository, nor WORKTREE",
    ],
    ['an option for a revision', { '--old': '--all' }, 2, "flag '--old' needs a value"],
    ['the same commit twice', { '--old': 'main' }, 2, "flags '--old' and '--new' name the same files"],
    [
      'a sample from nowhere',
      { '--sample': 'node app.js' },
      2,
      "nothing in 'node app.js' is taken from the commits",
    ],
    ['a shell in the sample', { '--sample': './bin/app > x' }, 2, "'>' is an operator of a shell"],
    ['a program that is not there', { '--sample': './bin/other' }, 1, "has no './bin/other' after its build"],
    ['a program that is none', { '--sample': './app.sh' }, 1, "'./app.sh' of main~1"],
    [
      'a file that both would share',
      { '--sample': 'sh app.sh ./x' },
      1,
      "write './app.sh' for each commit's own",
    ],
    [
      'a build that fails',
      { '--build': "sh -c 'echo broken pipe-fitting; exit 3'" },
      1,
      'broken pipe-fitting',
    ],
    ['a build that is not there', { '--build': 'no-such-builder' }, 1, "'no-such-builder' was not found"],
  ])('%s', async (_, changes, exit, sentence) => {
    const args = [...compare];
    for (const [flag, value] of Object.entries(changes)) args[args.indexOf(flag) + 1] = value;
    const done = await profile(args);
    expect([done.exit, done.stdout]).toEqual([exit, '']);
    expect(done.stderr).toContain(sentence);
  });

  test('a failed build is begun again', async () => {
    const flag = join(base, 'works');
    const args = [...compare, '--build', `test -e ${flag}`];
    expect((await profile(args)).stderr).toContain('ended with status 1');
    writeFileSync(flag, '');
    expect((await profile(args)).exit).toBe(0);
  });

  test('outside of a repository', async () => {
    const { exit, stderr } = await profile(compare, base);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('is not in a git repository')]);
  });

  test('an interrupt ends the build and what it started', async () => {
    const controller = new AbortController();
    const pid = join(base, 'pid');
    const running = runTool(main, [...compare, '--build', `sh -c 'sleep 100 & echo $! > ${pid}; wait'`], {
      cwd: repository,
      env,
      interrupted: controller.signal,
    });
    while (!existsSync(pid) || readFileSync(pid, 'utf8') === '') await Bun.sleep(5);
    controller.abort('SIGINT');
    const { exit, stderr } = await running;
    expect([exit, stderr]).toEqual([130, expect.stringContaining('interrupted while building')]);
    // A process that ended stays visible as a zombie until somebody asks for its status.
    const stat = `/proc/${readFileSync(pid, 'utf8').trim()}/stat`;
    const alive = (): boolean => existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'));
    for (let tries = 0; alive() && tries < 200; tries++) await Bun.sleep(5);
    expect(alive()).toBe(false);
  });

  test('two at once build once', async () => {
    const args = [
      '--old',
      'HEAD~1',
      '--new',
      'HEAD',
      '--build',
      `sh -c 'sleep 0.3; echo x >> built.txt'`,
      '--sample',
      './sub/run.sh',
    ];
    const both = await Promise.all([profile(args), profile(args)]);
    expect(both.map((one) => one.exit)).toEqual([0, 0]);
    expect(readFileSync(join(programOf(both[0]!.stdout, 'old'), '../../built.txt'), 'utf8')).toBe('x\n');
  });
});

test('a build that another k8sbench makes now is left alone, and its lock with it', async () => {
  const made = await profile(compare);
  const entries = ['old', 'new'].map((name) => join(programOf(made.stdout, name), '../../..'));
  const release = tryLock(`${entries[0]}.lock`)!;
  const inode = statSync(`${entries[0]}.lock`).ino;
  const { exit, stdout, stderr } = await profile(['--remove-builds']);
  expect(exit).toBe(0);
  expect(stderr).toContain(`'${entries[0]}' is being built now; left alone`);
  expect(stdout).not.toContain(entries[0]!);
  expect(entries.map((one) => existsSync(join(one, 'built.json')))).toEqual([true, false]);
  expect(statSync(`${entries[0]}.lock`).ino).toBe(inode);
  release();
  expect((await profile(['--remove-builds'])).stdout).toBe(`${entries[0]}\n`);
  expect(existsSync(join(entries[0]!, '..'))).toBe(false);
});

test('kept builds can be removed, and are forgotten by git', async () => {
  await profile(compare);
  expect(git('worktree', 'list').split('\n').length).toBeGreaterThan(2);
  const { exit, stdout } = await profile(['--remove-builds']);
  expect(exit).toBe(0);
  expect(
    stdout
      .trim()
      .split('\n')
      .every((path) => path !== '' && !existsSync(path)),
  ).toBe(true);
  expect(git('worktree', 'list').split('\n')).toHaveLength(1);
  expect((await profile(['--remove-builds'])).stdout).toBe('');
});
