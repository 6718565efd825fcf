import { afterAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CompactPlan } from '../../schemas/plan.ts';
import { artifactDigests, artifactPaths, commitIn, refuseChanged, versionsOf, which } from './artifacts.ts';

const place = mkdtempSync(join(tmpdir(), 'k8sbench-artifacts-'));
afterAll(() => rmSync(place, { recursive: true }));
const root = join(place, 'root');
const cwd = join(place, 'cwd');
const elsewhere = join(place, 'elsewhere');
const write = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
};
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

write(join(root, 'ARTIFACTS.sha256'), `${sha('tool')}  bin/tool\n${sha('lock')}  pi/package-lock.json\n`);
write(join(root, 'VERSIONS'), 'node=v24.1.0\nagent = no\nx=a=b\n\n');
write(join(root, 'COMMIT'), '0123456789abcdef0123456789abcdef01234567\n');
write(join(root, 'bin/tool'), 'tool', 0o755);
write(join(root, 'pi/package-lock.json'), 'lock');
write(join(root, 'bun.lock'), 'bun');
write(join(root, 'dist/core.wasm'), 'wasm');
write(join(root, 'dist/b/two.js'), 'two');
write(join(root, 'dist/node_modules/x.js'), 'not counted');
write(join(root, 'other.txt'), 'other');
write(join(cwd, 'mine.py'), 'python');
write(join(cwd, 'data'), 'data');
write(join(cwd, 'run'), 'run', 0o755);
write(join(elsewhere, 'prog'), 'prog', 0o755);
write(join(elsewhere, 'not-executable'), 'x');

const planOf = (targets: unknown[], turns = [50]): CompactPlan =>
  ({ profile: { targets }, turns }) as unknown as CompactPlan;
const pathsOf = (targets: unknown[], from = root): string[] =>
  [...artifactPaths(planOf(targets), from, elsewhere, cwd).keys()].toSorted();
const OWN = ['ARTIFACTS.sha256', 'bin/tool', 'bun.lock', 'pi/package-lock.json'];

describe('artifacts', () => {
  const COMMANDS: [string, unknown, string[]][] = [
    ['a program below the root', { sample: ['{root}/other.txt', '--dir', '{dir}'] }, [...OWN, 'other.txt']],
    [
      'inside an argument',
      { sample: ['prog', '-wasm={root}/dist/core.wasm'] },
      [join(elsewhere, 'prog'), ...OWN, 'dist/core.wasm'],
    ],
    [
      'several in one',
      { sample: ['{root}/bin/tool', '{root}/other.txt:{root}/dist/core.wasm'] },
      [...OWN, 'dist/core.wasm', 'other.txt'],
    ],
    ['a directory', { sample: ['{root}/dist'] }, [...OWN, 'dist']],
    ['one with a size in its name', { sample: ['{root}/bin/{turns}'] }, OWN],
    ['a bare program', { sample: ['prog'] }, [join(elsewhere, 'prog'), ...OWN]],
    ['a program that is not there', { sample: ['absent'] }, OWN],
    ['a program here', { command: ['./run'] }, [join(cwd, 'run'), ...OWN]],
    [
      'scripts and not data',
      { command: ['prog', 'mine.py', 'data', './run'] },
      [join(cwd, 'mine.py'), join(cwd, 'run'), join(elsewhere, 'prog'), ...OWN],
    ],
    [
      'beside what the session makes',
      { sample: ['{root}/other.txt:{dir}/x', '-o={sample},{root}/dist/core.wasm'] },
      [...OWN, 'dist/core.wasm', 'other.txt'],
    ],
    ['what the session makes', { sample: ['{dir}/x', '{root}/other-{sample}'] }, OWN],
  ];
  for (const [name, target, wanted] of COMMANDS)
    test(name, () => expect(pathsOf([target])).toEqual(wanted.toSorted()));

  test('without a root, only programs', () => {
    expect(pathsOf([{ command: ['prog'] }], '')).toEqual([join(elsewhere, 'prog')]);
  });

  test("digests of files, and a directory's content digest", async () => {
    const paths = artifactPaths(planOf([{ sample: ['{root}/dist'] }]), root, elsewhere, cwd);
    const digests = await artifactDigests(paths);
    expect(digests['bin/tool']).toBe(sha('tool'));
    // As `find | sort | xargs sha256sum | sha256sum` gives it.
    expect(digests['dist']).toBe(sha(`${sha('two')}  b/two.js\n${sha('wasm')}  core.wasm\n`));
  });

  test('a change, and a file that is gone, are named', async () => {
    const paths = artifactPaths(planOf([{ sample: ['{root}/other.txt'] }]), root, elsewhere, cwd);
    const before = await artifactDigests(paths);
    expect(() => refuseChanged(before, before)).not.toThrow();
    write(join(root, 'bun.lock'), 'changed');
    rmSync(join(root, 'other.txt'));
    const after = await artifactDigests(paths);
    expect(() => refuseChanged(before, after)).toThrow("'bun.lock', 'other.txt'");
  });

  test('VERSIONS and COMMIT', () => {
    expect(versionsOf(root)).toEqual({ node: 'v24.1.0', x: 'a=b' });
    expect(versionsOf(cwd)).toEqual({});
    expect(commitIn(root)).toEqual({ commit: '0123456789abcdef0123456789abcdef01234567' });
    expect(commitIn(cwd)).toEqual({});
    write(join(elsewhere, 'COMMIT'), 'not a commit\n');
    expect(commitIn(elsewhere)).toEqual({
      problem: `'${elsewhere}/COMMIT': expected a commit of 7 to 64 hex digits, '-dirty' behind it when files were changed, found 'not a commit'`,
    });
    write(join(elsewhere, 'COMMIT'), '0123456-dirty\n');
    expect(commitIn(elsewhere)).toEqual({ commit: '0123456-dirty' });
  });

  test('without a root, nothing of the directory where the session was started', () => {
    const before = process.cwd();
    try {
      process.chdir(root);
      expect([versionsOf(''), commitIn('')]).toEqual([{}, {}]);
    } finally {
      process.chdir(before);
    }
  });

  test('programs are found as execvp finds them', () => {
    expect(which('prog', `${cwd}:${elsewhere}`, cwd)).toBe(join(elsewhere, 'prog'));
    expect(which('not-executable', elsewhere, cwd)).toBeUndefined();
    expect(which('./run', elsewhere, cwd)).toBe(join(cwd, 'run'));
    expect(which('run', '', cwd)).toBe(join(cwd, 'run'));
  });
});
