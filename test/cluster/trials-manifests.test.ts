/** Every manifest of a task-completion run against a real API server: taken as it is, at the Pod Security level that it says. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { kubectlProgram } from './kube-binary.ts';
import { admin, kubeconfig, makeNamespace, scratch } from './the-cluster.ts';

const top = resolve(import.meta.dir, '../..');
/** Pods are held to it; what makes them is warned about. */
const heldTo = (level: string) => ({
  'pod-security.kubernetes.io/enforce': level,
  'pod-security.kubernetes.io/warn': level,
});
const STAGED = 'b'.repeat(64);
const IMAGE = `registry.example/node@sha256:${'a'.repeat(64)}`;

const lockedTask = JSON.parse(readFileSync(join(top, 'fixtures/schemas/tasks-lock/valid.json'), 'utf8')) as {
  tasks: Record<string, unknown>[];
};

let restricted: Awaited<ReturnType<typeof makeNamespace>>;
let baseline: Awaited<ReturnType<typeof makeNamespace>>;
const files = scratch();
beforeAll(async () => {
  restricted = await makeNamespace('restricted', heldTo('restricted'));
  baseline = await makeNamespace('baseline', heldTo('baseline'));
});
afterAll(async () => {
  await Promise.all([restricted.remove(), baseline.remove()]);
  files.remove();
});

/** Values with every setting, some of them awkward. */
const values = (namespace: string, more = ''): string => {
  const path = join(files.path, `${namespace}-${more.length}.yaml`);
  writeFileSync(
    path,
    `namespace: ${namespace}
baseImage: ${IMAGE}
nodeSelector: { example.com/pool: "on" }
tolerations: [{ key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 60 }]
labels: { team: "007" }
annotations: { example.com/note: "yes: # no" }
imagePullSecrets: [pull]
priorityClassName: system-node-critical
gpu:
  resource: example.com/gpu
  count: 2
  nodeSelector: { gpu: "true" }
  tolerations: [{ operator: Exists }]
  serverCpus: 8
  serverMemory: 64Gi
  modelPVC: models
  trialPVC: trials
${more}`,
  );
  return path;
};

const tool = (name: string, ...args: string[]): string => {
  const done = Bun.spawnSync([process.execPath, join(top, `tools/${name}/main.ts`), ...args], {
    cwd: files.path,
    env: { PATH: process.env['PATH'], HOME: files.path },
  });
  expect(done.exitCode === 0 ? '' : done.stderr.toString()).toBe('');
  return done.stdout.toString();
};

interface Sent {
  kind: string;
  metadata: { namespace: string };
}

const documentsOf = (text: string): Sent[] =>
  text
    .split(/^---\n/m)
    .map((part) => parseForeignYaml(part, 'printed') as Sent | null)
    .filter((one) => one !== null);

/** Where the server has another value than was sent. */
const changes = (sent: unknown, got: unknown, path = ''): string[] => {
  if (Array.isArray(sent))
    return Array.isArray(got) && got.length === sent.length
      ? sent.flatMap((one, at) => changes(one, got[at], `${path}[${at}]`))
      : [`${path}: another length`];
  if (typeof sent === 'object' && sent !== null)
    return Object.entries(sent).flatMap(([key, one]) =>
      changes(one, (got as Record<string, unknown> | undefined)?.[key], `${path}.${key}`),
    );
  return sent === got ? [] : [`${path}: ${JSON.stringify(sent)} became ${JSON.stringify(got)}`];
};

const KUBECTL = [...kubectlProgram(), '--kubeconfig', kubeconfig];

/** The server's own reader takes the text; a dry run changes nothing in it; kubectl warns of no Pod Security level. */
const admitted = (text: string, name: string): { said: string; kinds: string[]; changed: string[] } => {
  const path = join(files.path, `${name}.yaml`);
  writeFileSync(path, text);
  const kubectl = Bun.spawnSync(
    [...KUBECTL, 'apply', '--server-side', '--dry-run=server', '--validate=strict', '-o', 'json', '-f', path],
    { env: process.env },
  );
  const said = kubectl.stderr.toString();
  if (kubectl.exitCode !== 0) return { said, kinds: [], changed: [] };
  const got = JSON.parse(kubectl.stdout.toString()) as { kind: string; items?: unknown[] };
  const sent = documentsOf(text);
  const items = got.kind === 'List' ? got.items! : [got];
  return {
    said,
    kinds: sent.map((one) => one.kind),
    changed: sent.flatMap((one, index) => changes(one, items[index], one.kind)),
  };
};

const written = (name: string, value: unknown): string => {
  const path = join(files.path, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};

const tasksLock = (name: string, changed: readonly Record<string, unknown>[]): string => {
  const tasks = changed.map((one, index) => ({ ...lockedTask.tasks[0], name: `task-${index}`, ...one }));
  return written(name, { ...lockedTask, tasks, counts: { tasks: tasks.length, leftOut: 1 } });
};

const models = join(top, 'fixtures/schemas/models-lock/valid.json');
const model = ['--model', 'small-coder', '--models-lock', models, '--staged', STAGED];
const trials = (...args: string[]): string => tool('trials', ...model, '--trial-arms', 'pi,codex', ...args);

test('the objects of a model, in a restricted namespace', () => {
  const { said, kinds, changed } = admitted(
    tool('model', ...model, '--values', values(restricted.name)),
    'model',
  );
  expect(said).toBe('');
  expect(kinds).toEqual(['NetworkPolicy', 'Service', 'Job', 'Deployment']);
  expect(changed).toEqual([]);
});

test('the stage Job, in a restricted namespace', async () => {
  const { stageJob } = await import('../../tools/stage/job.ts');
  const { documents } = await import('../../shared/task-run/print.ts');
  const archive = { sha256: STAGED, path: 'b.tar.gz', size_bytes: 3e8, unpacked_bytes: 7e8 };
  const own = {
    namespace: restricted.name,
    baseImage: IMAGE,
    gpu: { trialPVC: 'trials', resource: 'x', count: 1 },
    ttlSecondsAfterFinished: 1,
  };
  const { said, kinds, changed } = admitted(documents([stageJob(archive, own as never)]), 'stage');
  expect({ said, kinds, changed }).toEqual({ said: '', kinds: ['Job'], changed: [] });
});

describe('the Jobs of trials', () => {
  const awkward = [
    {},
    { name: 'A.Task_With-every.Kind_of-Letter' },
    { name: 'x'.repeat(63) },
    { cpus: 0.5, memory_bytes: 268435456, storage_bytes: 1e9 },
    { env: { A: '$(B) $$ "quoted" \\ no', B: 'on' }, verifierEnv: { C: '1e3', D: '' } },
    { platforms: ['arm64'], workdir: '/a b' },
  ];
  test('of images that run as root, in a baseline namespace', () => {
    const lock = tasksLock('root.lock', awkward);
    const { said, kinds, changed } = admitted(
      trials('--tasks-lock', lock, '--attempts', '2', '--values', values(baseline.name)),
      'root',
    );
    expect(said).toBe('');
    expect(kinds).toHaveLength(awkward.length * 2 * 2);
    expect(changed).toEqual([]);
  });

  test('of images that run as a number, in a restricted namespace', () => {
    const lock = tasksLock('number.lock', [{ user: '1000' }, { user: '1000:1000' }, { user: '65534' }]);
    const text = trials('--tasks-lock', lock, '--values', values(restricted.name));
    expect(text).toContain('except:\n#   nothing\n');
    const { said, kinds, changed } = admitted(text, 'number');
    expect(said).toBe('');
    expect(kinds).toHaveLength(3 * 2 * 5);
    expect(changed).toEqual([]);
  });

  test.each([
    ['root', ''],
    ['a name', 'app'],
  ])(
    'of images that run as %s, in a restricted namespace: a warning, and what it is about was told',
    (_, user) => {
      const lock = tasksLock('relaxed.lock', [{ user }]);
      const text = trials('--tasks-lock', lock, '--attempts', '1', '--values', values(restricted.name));
      expect(text).toMatch(/except:\n# {3}.*the image's user is/);
      const { said, changed } = admitted(text, 'relaxed');
      expect(said).toContain('would violate PodSecurity "restricted:latest"');
      expect(said).not.toContain('seccompProfile');
      expect(said).not.toContain('restricted volume types');
      expect(changed).toEqual([]);
    },
  );

  test('what a program has to know reaches it as it was printed', async () => {
    const lock = tasksLock('env.lock', [{ env: { A: '$(B) $$x' } }]);
    const [job] = documentsOf(
      trials('--tasks-lock', lock, '--attempts', '1', '--values', values(baseline.name)),
    ) as any[];
    // The kubelet makes one '$' of two, and leaves what is behind two.
    const text = job.spec.template.spec.containers[0].env[0].value as string;
    expect(JSON.parse(text.replaceAll('$$', '$')).env).toEqual({ A: '$(B) $$x' });
  });

  test('each is created in its dry run alone', async () => {
    const names = await Promise.all(
      [restricted, baseline].map((one) => admin.list('jobs', { namespace: one.name })),
    );
    expect(names).toEqual([[], []]);
  });
});

test('the same inputs give the same bytes, and nothing secret stands in them', () => {
  const lock = tasksLock('same.lock', [{}, { user: '1000' }]);
  const printed = (): string[] => [
    trials('--tasks-lock', lock, '--values', values(baseline.name)),
    tool('model', ...model, '--values', values(baseline.name)),
  ];
  const [first, second] = [printed(), printed()];
  expect(second).toEqual(first);
  for (const text of first) {
    expect(text).not.toMatch(/password|\btoken: |authorization|BEGIN [A-Z ]*KEY/i);
    expect(text).toContain('automountServiceAccountToken: false');
    expect(text).not.toContain('kind: Secret');
  }
});
