/** Runs the examples of README.md. K8SBENCH_WRITE=1 writes what they print into the document instead of comparing. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  CLUSTER_CHAPTER,
  comparable,
  type Example,
  examplesOf,
  isRefused,
  TASKS_CHAPTER,
  withOutputs,
} from './examples.ts';

const root = resolve(import.meta.dir, '../..');
const path = join(root, 'README.md');
const document = readFileSync(path, 'utf8');
const runsHere = ({ chapter }: Example): boolean => chapter !== CLUSTER_CHAPTER && chapter !== TASKS_CHAPTER;
const examples = examplesOf(document).filter(runsHere);
const home = mkdtempSync(join(tmpdir(), 'k8sbench-readme-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
mkdirSync(join(home, 'bin'));
symlinkSync(join(root, 'tools/k8sbench/main.ts'), join(home, 'bin/k8sbench'));
symlinkSync(process.execPath, join(home, 'bin/bun'));
const work = join(home, 'work');
mkdirSync(work);

const run = (command: string): { exit: number; printed: string } => {
  const done = Bun.spawnSync(['bash', '-o', 'pipefail', '-c', `exec 2>&1\n${command}`], {
    cwd: work,
    stdin: 'ignore',
    env: {
      ...process.env,
      PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
      HOME: home,
      K8SBENCH_VALUES: undefined,
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'reader',
      GIT_CONFIG_KEY_1: 'user.email',
      GIT_CONFIG_VALUE_1: 'reader@example.com',
    },
  });
  return { exit: done.exitCode, printed: done.stdout.toString().replaceAll(home, '~') };
};

const outputs: string[][][] = [];

test('there are examples', () => expect(examples.length).toBeGreaterThan(4));

test.each(examples.map((one, at) => [at + 1, one.commands[0]!.command.split('\n')[0]!, one] as const))(
  'example %i: %s',
  (_, __, example) => {
    const printed = example.commands.map(({ command }) => {
      const done = run(command);
      expect({ command, exit: done.exit, printed: done.printed }).toMatchObject({
        exit: done.exit === 3 ? 3 : 0,
      });
      return done;
    });
    outputs.push(
      printed.map((one) => (one.printed === '' ? [] : one.printed.replace(/\n$/, '').split('\n'))),
    );
    if (process.env['K8SBENCH_WRITE']) return;
    for (const [at, { printed: now }] of printed.entries()) {
      const written = example.commands[at]!.printed.join('\n');
      const [found, wanted] = comparable(now, written);
      expect(found).toBe(wanted);
      // What comes after works on what a judgement leaves behind.
      if (isRefused(now) !== isRefused(written)) break;
    }
  },
  120_000,
);

afterAll(() => {
  if (process.env['K8SBENCH_WRITE']) writeFileSync(path, withOutputs(document, outputs, runsHere));
});
