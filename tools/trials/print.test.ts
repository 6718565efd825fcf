/** `trials` without another word: what is printed, that it stays the same, and what is refused. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Trials } from '../../schemas/trials.ts';
import { sha256 } from '../../shared/files.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const FIXTURES = resolve(import.meta.dir, '../../fixtures/schemas');
const STAGED = 'b'.repeat(64);
/** The fixtures were published in March 2026. */
const NOW = Date.parse('2026-06-01T00:00:00Z');

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'k8sbench-print-'));
  for (const [name, to] of [
    ['tasks-lock', 'tasks.lock'],
    ['models-lock', 'models.lock'],
  ])
    writeFileSync(join(cwd, to!), readFileSync(join(FIXTURES, name!, 'valid.json'), 'utf8'));
  writeFileSync(
    join(cwd, 'values.local.yaml'),
    `namespace: bench\nbaseImage: registry.example/node@sha256:${'a'.repeat(64)}\ngpu: { trialPVC: trials, modelPVC: models }\n`,
  );
});
const call = (...args: string[]) => runTool(main, args, { cwd, env: {}, now: NOW });
const print = (...args: string[]) =>
  call('--model', 'small-coder', '--staged', STAGED, '--trial-arms', 'pi,codex', ...args);
/** A lock with so many tasks, each changed a little. */
const lockOf = (changes: readonly object[]): void => {
  const lock = JSON.parse(readFileSync(join(cwd, 'tasks.lock'), 'utf8'));
  const tasks = changes.map((one, at) => ({ ...lock.tasks[0], name: `task-${at}`, ...one }));
  writeFileSync(
    join(cwd, 'tasks.lock'),
    JSON.stringify({ ...lock, tasks, counts: { tasks: tasks.length, leftOut: 1 } }),
  );
};
const jobsIn = (yaml: string): any[] =>
  yaml
    .split(/^---\n/m)
    .slice(1)
    .map((part) => parseForeignYaml(part, 'yaml'));

describe('printed', () => {
  test('are tasks × arms × attempts, attempts outermost, the same each time', async () => {
    lockOf([{}, {}]);
    const { exit, stdout } = await print('--attempts', '3');
    expect(exit).toBe(0);
    expect((await print('--attempts', '3')).stdout).toBe(stdout);
    const jobs = jobsIn(stdout);
    expect(
      jobs
        .map(
          ({ metadata: { labels } }) =>
            `${labels['k8sbench/attempt']} ${labels['k8sbench/task']} ${labels['k8sbench/arm']}`,
        )
        .slice(0, 5),
    ).toEqual(['1 task-0 pi', '1 task-0 codex', '1 task-1 pi', '1 task-1 codex', '2 task-0 pi']);
    expect(jobs).toHaveLength(12);
    expect(new Set(jobs.map((one) => one.metadata.name)).size).toBe(12);
  });

  test('a pod: who mounts what', async () => {
    const [job] = jobsIn((await print('--attempts', '1')).stdout);
    const { spec } = job.spec.template;
    const mounts = Object.fromEntries(
      [...spec.initContainers, ...spec.containers].map((one: any) => [
        one.name,
        one.volumeMounts.map((mount: any) => `${mount.name}${mount.readOnly ? ' ro' : ''}`),
      ]),
    );
    expect(mounts).toEqual({
      prepare: ['claim ro', 'runtime'],
      starts: ['runtime ro'],
      trial: ['runtime ro', 'home', 'ask', 'answer ro', 'tests', 'logs'],
      gate: ['claim ro', 'ask', 'answer'],
    });
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
    });
    expect(job.spec.backoffLimit).toBe(0);
    const [trial, gate] = spec.containers;
    // As the trial will, before there is one.
    const [, starts] = spec.initContainers;
    expect([starts.image, starts.securityContext, starts.command.slice(0, 2)]).toEqual([
      trial.image,
      trial.securityContext,
      trial.command.slice(0, 2),
    ]);
    expect(trial.resources.limits).toEqual({
      cpu: '1',
      memory: '2Gi',
      'ephemeral-storage': '10Gi',
    });
    const gateSpec = JSON.parse(gate.env[0].value);
    expect(gateSpec).toMatchObject({
      task: 'count-words',
      attempt: 1,
      model: 'small-coder',
      testsSha256: '6'.repeat(64),
    });
    // The gate ends a trial before the kubelet does.
    expect(gateSpec.start_s + gateSpec.trial_s).toBeLessThan(spec.activeDeadlineSeconds);
    expect(gateSpec.trial_s).toBeGreaterThan(600 + 120);
    // What the agent could read tells nothing of the tests but their digest.
    expect(JSON.stringify(trial)).not.toContain('/k8sbench/claim');
  });

  test('tasks that want no network are told, and listed for the score', async () => {
    lockOf([{ internet: false }, { internet: true }]);
    const { stdout, stderr } = await print('--attempts', '1', '--json');
    expect((JSON.parse(stdout) as Trials).wantOffline).toEqual(['task-0']);
    expect(stderr).toContain("1 task wants no network, and trial pods have the cluster's: 'task-0'");
    lockOf([{ internet: true }]);
    const other = await print('--attempts', '1', '--json');
    expect(Object.keys(JSON.parse(other.stdout))).not.toContain('wantOffline');
    expect(other.stderr).not.toContain('network');
  });

  test('users: root relaxes, a number does not, a name a little', async () => {
    lockOf([{ user: '' }, { user: '0:0' }, { user: '1000:1001' }, { user: 'app' }]);
    const { stdout, stderr } = await print('--attempts', '1', '--json');
    const trials = JSON.parse(stdout) as Trials;
    expect(trials.relaxed.map((one) => [one.why, one.tasks])).toEqual([
      ["the image's user is root", ['task-0', 'task-1']],
      ["the image's user is a name, not a number", ['task-3']],
    ]);
    expect(stderr).toContain('2 of 4 tasks');
    const contexts = jobsIn((await print('--attempts', '1')).stdout)
      .filter((one) => one.metadata.labels['k8sbench/arm'] === 'pi')
      .map((one) => one.spec.template.spec.containers[0].securityContext);
    expect(contexts[2]).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1001,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(contexts[0].capabilities.add).not.toContain('SYS_ADMIN');
    expect(contexts[0].capabilities.add).not.toContain('SYS_PTRACE');
    expect(contexts[0].capabilities.add).not.toContain('MKNOD');
    expect(contexts[3]).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
  });

  test('other inputs, other names', async () => {
    const names = async (...args: string[]): Promise<string> =>
      (JSON.parse((await print('--json', ...args)).stdout) as Trials).run;
    const all = [
      await names(),
      await names('--attempts', '4'),
      await names('--trust-system'),
      await names('--namespace', 'other'),
    ];
    lockOf([{}]);
    all.push(await names());
    expect(new Set(all).size).toBe(all.length);
  });

  test('an arm of a file of its own, alone or in the place of a built-in one', async () => {
    writeFileSync(
      join(cwd, 'sh.yaml'),
      'arm: sh\napi: responses\nversion: [sh, -c, exit 0]\ncommand: [sh, -c, "echo {instruction}"]\n',
    );
    const { stdout } = await call(
      '--model',
      'small-coder',
      '--staged',
      STAGED,
      '--arm-settings',
      'sh.yaml',
      '--attempts',
      '1',
      '--json',
    );
    expect((JSON.parse(stdout) as Trials).arms).toEqual(['sh']);
    expect((await print('--arm-settings', 'sh.yaml', '--attempts', '1', '--json')).exit).toBe(0);
  });
});

describe('a directory', () => {
  test('gets both files, which belong together', async () => {
    expect(await print('--attempts', '2', '--out', 'run')).toMatchObject({ exit: 0, stdout: 'run\n' });
    const yaml = readFileSync(join(cwd, 'run/trials.yaml'), 'utf8');
    const trials = JSON.parse(readFileSync(join(cwd, 'run/trials.json'), 'utf8')) as Trials;
    const parts = yaml.split(/^---\n/m).slice(1);
    expect(parts.map((one) => sha256(one))).toEqual(trials.trials.map((one) => one.sha256));
    expect(trials.inputs['tasks.lock']).toBe(sha256(readFileSync(join(cwd, 'tasks.lock'), 'utf8')));
    expect((await print('--attempts', '2', '--out', 'run')).stderr).toContain('has the same trials already');
  });

  test('whose trials have begun is not printed over', async () => {
    await print('--attempts', '2', '--out', 'run');
    writeFileSync(join(cwd, 'run/trials.jsonl'), '');
    expect((await print('--attempts', '2', '--out', 'run')).exit).toBe(0);
    expect(await print('--attempts', '3', '--out', 'run')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("'run' holds results of other trials"),
    });
  });
});

describe('refused', () => {
  test.each<[string, string[], string]>([
    ['no model', ['--staged', STAGED, '--trial-arms', 'pi'], "'--model=<ID>' is missing"],
    [
      'an unknown model',
      ['--model', 'x', '--staged', STAGED, '--trial-arms', 'pi'],
      "has no model 'x'; it has small-coder",
    ],
    ['no bundle', ['--model', 'small-coder', '--trial-arms', 'pi'], "'--staged=<SHA256>' is missing"],
    [
      'a bundle by name',
      ['--model', 'small-coder', '--staged', 'x', '--trial-arms', 'pi'],
      'expected the 64 hex digits',
    ],
    [
      'no arm',
      ['--model', 'small-coder', '--staged', STAGED],
      "'--trial-arms=<A,…>' is missing; there are settings of pi, codex",
    ],
    [
      'an unknown arm',
      ['--model', 'small-coder', '--staged', STAGED, '--trial-arms', 'x'],
      "no settings of 'x'",
    ],
    [
      'an unknown task',
      ['--model', 'small-coder', '--staged', STAGED, '--trial-arms', 'pi', '--tasks', 'x'],
      "has no task 'x'",
    ],
    [
      'a task that was left out',
      ['--model', 'small-coder', '--staged', STAGED, '--trial-arms', 'pi', '--tasks', 'train-model'],
      "left 'train-model' out: it needs 1 GPU",
    ],
    ['a flag of another word', ['print', '--src', 'x'], "'trials print' takes no flag '--src'"],
    [
      'a base image by tag',
      ['--model', 'small-coder', '--staged', STAGED, '--trial-arms', 'pi', '--base-image', 'node:24'],
      "'node:24' is not pinned",
    ],
  ])('%s', async (_, args, says) => {
    const { exit, stdout, stderr } = await call(...args);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('settings that are missing, all at once', async () => {
    writeFileSync(join(cwd, 'values.local.yaml'), '');
    const { exit, stderr } = await print();
    expect(exit).toBe(2);
    for (const one of ['no namespace', 'no base image', 'no claim: set gpu.trialPVC'])
      expect(stderr).toContain(one);
  });

  test.each([
    [
      'the model',
      '2026-03-02T00:00:00Z',
      "the model 'small-coder' was published at 2026-03-02T00:00:00Z, less than 7 days ago",
    ],
    ['its engine', '2026-03-01T00:00:00Z', "the image of its engine 'vllm'"],
  ])('a pin younger than seven days: %s', async (_, published, says) => {
    const at = (days: number) =>
      runTool(main, ['--model', 'small-coder', '--staged', STAGED, '--trial-arms', 'pi'], {
        cwd,
        env: {},
        now: Date.parse(published) + days * 86_400_000,
      });
    expect(await at(6.99)).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(says) });
    expect((await at(8)).exit).toBe(0);
  });
});

test('nothing is written when nothing is printed', async () => {
  await print('--tasks', 'x', '--out', 'run');
  expect(existsSync(join(cwd, 'run'))).toBe(false);
});
