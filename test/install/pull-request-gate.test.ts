/** tools/k8sbench/PULL-REQUEST-GATE.md, run as it is written: its script, its make target and its workflow. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseYaml } from '../../shared/yaml.ts';

const root = resolve(import.meta.dir, '../..');
const page = readFileSync(join(root, 'tools/k8sbench/PULL-REQUEST-GATE.md'), 'utf8');
/** The only code block of a language. */
const block = (language: string): string => {
  const all = [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  expect(all).toHaveLength(1);
  return all[0]![1]!;
};

let scratch: string;
let repository: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'k8sbench-gate-'));
  mkdirSync(join(scratch, 'bin'));
  symlinkSync(join(root, 'tools/k8sbench/main.ts'), join(scratch, 'bin/k8sbench'));
  symlinkSync(process.execPath, join(scratch, 'bin/bun'));
  repository = join(scratch, 'repository');
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  const app = "app: ; printf '#!/bin/sh\\nsleep %s; echo done\\n' $(SLEEP) > app.sh; chmod +x app.sh\n";
  commit('main', {
    Makefile: `include sleep.mk\n${app}${block('make')}`,
    'sleep.mk': 'SLEEP = 0.010\n',
    'bench/gate.sh': block('sh'),
    '.gitignore': 'app.sh\nout/\n',
  });
  commit('faster', { 'sleep.mk': 'SLEEP = 0.007\n' });
  git('checkout', '-q', 'main');
  commit('slower', { 'sleep.mk': 'SLEEP = 0.050\n' });
  git('checkout', '-q', 'main');
  commit('broken', { 'sleep.mk': '$(error it does not build)\n' });
  git('checkout', '-q', 'main');
  commit('main', { README: 'main went on\n' });
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const run = (words: readonly string[], cwd: string, more: Record<string, string> = {}) => {
  const done = Bun.spawnSync([...words], {
    cwd,
    env: {
      PATH: `${join(scratch, 'bin')}:${process.env['PATH']}`,
      HOME: scratch,
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'tester',
      GIT_CONFIG_KEY_1: 'user.email',
      GIT_CONFIG_VALUE_1: 'tester@example.com',
      ...more,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
};
const git = (...words: string[]): string => {
  const { exit, stdout, stderr } = run(['git', ...words], repository);
  expect(exit === 0 ? '' : stderr).toBe('');
  return stdout.trim();
};
/** A commit with these files, on a branch that is made when it isn't there. */
const commit = (branch: string, files: Record<string, string>): void => {
  if (git('branch', '--show-current') !== branch) git('checkout', '-q', '-b', branch);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  git('add', '.');
  git('commit', '-qm', branch);
};
/** A clone to be in. */
const clone = (head: string): string => {
  const place = mkdtempSync(join(scratch, 'clone-'));
  run(['git', 'clone', '-q', '-b', head, repository, 'tree'], place);
  return join(place, 'tree');
};
const QUIET = ['--rounds', '3', '--repeat', '3', '--max-cv', '9'];

describe('the script', () => {
  test.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['faster', QUIET, {}, 0, /^judged$/m],
    [
      'faster',
      [...QUIET.slice(0, 4), '--max-cv', '0.0000001'],
      {},
      0,
      /not judged, and '--not-judged' lets it pass/,
    ],
    ['faster', [...QUIET.slice(0, 4), '--max-cv', '0.0000001'], { NOISE: '3' }, 3, /attempt 2 of 2/],
    ['slower', ['--rounds', '7', ...QUIET.slice(2)], {}, 0, /^judged$/m],
    ['slower', ['--rounds', '7', ...QUIET.slice(2), '--fail-on', 'slower'], {}, 4, /^judged, and bad: /m],
    ['broken', QUIET, {}, 1, /it does not build/],
    ['faster', ['--rounds', '2'], {}, 2, /flag '--rounds'/],
  ])(
    '%s %j %j ends with %d',
    (head, flags, env, exit, says) => {
      const tree = clone(head);
      const done = run(['sh', 'bench/gate.sh', 'origin/main', 'HEAD', ...flags], tree, env);
      expect({ exit: done.exit, stderr: done.exit === exit ? '' : done.stderr }).toEqual({
        exit,
        stderr: '',
      });
      expect(done.stderr).toMatch(says);
      const lines = done.stdout.split('\n').filter(Boolean);
      expect(lines).toHaveLength(says.source.startsWith('^judged') ? 1 : 0);
      if (lines.length > 0)
        expect(JSON.parse(lines[0]!)).toMatchObject({ core: git('rev-parse', head).slice(0, 10) });
    },
    60_000,
  );

  test('a commit that is not there', () =>
    expect(run(['sh', 'bench/gate.sh', 'origin/main', 'nothing'], clone('faster')).exit).toBe(1));
});

test('the make target ends with 0 or 2', () => {
  const tree = clone('faster');
  const judged = run(['make', 'gate', `FLAGS=${QUIET.join(' ')}`], tree);
  expect({ exit: judged.exit, stderr: judged.exit === 0 ? '' : judged.stderr }).toEqual({
    exit: 0,
    stderr: '',
  });
  expect(run(['make', 'gate', 'FLAGS=--rounds 2'], tree).exit).toBe(2);
}, 60_000);

test('the workflow: every step in its order, in an empty directory, with a summary', () => {
  const { value } = parseYaml(block('yaml').replace(/^on:/m, "'on':"), 'gate.yml');
  const { jobs } = value as {
    jobs: Record<
      string,
      { env: Record<string, string>; steps: { name: string; run: string; uses?: string }[] }
    >;
  };
  expect(Object.keys(jobs)).toEqual(['gate']);
  const { env, steps } = jobs['gate']!;
  expect(Object.keys(env)).toEqual(['REPOSITORY', 'BASE', 'HEAD']);
  const place = mkdtempSync(join(scratch, 'runner-'));
  const given = {
    REPOSITORY: repository,
    BASE: git('rev-parse', 'main'),
    HEAD: git('rev-parse', 'faster'),
    GITHUB_STEP_SUMMARY: join(place, 'summary.md'),
    // What a test has no time for; a workflow that is copied has none of it.
    MAKEFLAGS: `FLAGS=${QUIET.join('\\ ')}`,
  };
  for (const step of steps) {
    expect(Object.keys(step)).toEqual(['name', 'run']);
    // As a runner does it.
    const done = run(['bash', '-e', '-c', step.run], place, given);
    expect({ step: step.name, exit: done.exit, stderr: done.exit === 0 ? '' : done.stderr }).toEqual({
      step: step.name,
      exit: 0,
      stderr: '',
    });
  }
  expect(readFileSync(given.GITHUB_STEP_SUMMARY, 'utf8')).toStartWith('## k8sbench compare: judged\n');
  expect(existsSync(join(place, 'tree/out/attempts.jsonl'))).toBe(true);
  expect(readdirSync(place).toSorted()).toEqual(['summary.md', 'tree']);
}, 60_000);
