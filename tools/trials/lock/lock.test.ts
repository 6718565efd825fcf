/** `trials lock` against a checkout of its own and a registry on this machine. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TasksLock } from '../../../schemas/tasks-lock.ts';
import { sha256 } from '../../../shared/files.ts';
import { runTool } from '../../../test/outside.ts';
import { tasksLock } from '../tasks-lock.ts';
import { readTaskToml } from './task-toml.ts';

const FIXTURE = resolve(import.meta.dir, '../../../fixtures/trials/tasks');
const OCI = 'application/vnd.oci.image';

/** Digest → content, and tag → digest. */
const blobs = new Map<string, string>();
const put = (text: string): { digest: string; size: number } => {
  const digest = `sha256:${sha256(text)}`;
  blobs.set(digest, text);
  return { digest, size: Buffer.byteLength(text) };
};
const manifest = (arch: string, config: object): { digest: string; size: number } =>
  put(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${OCI}.manifest.v1+json`,
      config: {
        mediaType: `${OCI}.config.v1+json`,
        ...put(JSON.stringify({ architecture: arch, os: 'linux', config })),
      },
      layers: [],
    }),
  );
const single = manifest('amd64', { User: '1000:1000', WorkingDir: '/work' });
const platform = (architecture: string, of: { digest: string; size: number }, os = 'linux') => ({
  mediaType: `${OCI}.manifest.v1+json`,
  ...of,
  platform: { os, architecture },
});
const index = put(
  JSON.stringify({
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [
      platform('unknown', put('{}'), 'unknown'),
      platform('amd64', manifest('amd64', {})),
      platform('arm64', manifest('arm64', {})),
      platform('s390x', put('{"x":1}')),
    ],
  }),
);
const foreign = manifest('s390x', {});
const TAGS: Readonly<Record<string, string>> = {
  multi: index.digest,
  single: single.digest,
  foreign: foreign.digest,
};

let server: ReturnType<typeof Bun.serve>;
let registry: string;
let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-tasks-'));
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/token') return Response.json({ token: `t-${searchParams.get('scope')}` });
      if (request.headers.get('authorization') !== 'Bearer t-repository:team/task:pull')
        return new Response('', {
          status: 401,
          headers: { 'www-authenticate': `Bearer realm="${server.url}token",service="x"` },
        });
      const word = pathname.split('/').at(-1)!;
      const text = blobs.get(TAGS[word] ?? word);
      return text === undefined ? new Response('', { status: 404 }) : new Response(text);
    },
  });
  registry = `127.0.0.1:${server.port}`;
});
afterAll(() => {
  server.stop(true);
  rmSync(base, { recursive: true });
  // Many small repositories.
}, 60_000);

const git = (cwd: string, ...args: string[]): void => {
  const done = Bun.spawnSync(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd,
    env: {
      ...process.env,
      GIT_COMMITTER_DATE: '2026-01-02T03:04:05+02:00',
      GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
    },
  });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
};

let made = 0;
/** A dataset with the fixture's tasks, their images in the registry; `change` sees its directory of tasks before the commit. */
const dataset = (change: (tasks: string) => void = () => {}): string => {
  const top = join(base, `dataset-${++made}`);
  const tasks = join(top, 'tasks');
  mkdirSync(top);
  cpSync(FIXTURE, tasks, { recursive: true });
  for (const [name, tag] of [
    ['word-report', 'multi'],
    ['impossible', 'single'],
    ['endless', 'multi'],
    ['train-model', 'multi'],
  ]) {
    const path = join(tasks, name!, 'task.toml');
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(
        /docker_image = .*/,
        `docker_image = "${registry}/team/task:${tag}"`,
      ),
    );
  }
  change(tasks);
  git(top, 'init', '-q');
  git(top, 'add', '-A');
  git(top, 'commit', '-qm', 'all');
  return tasks;
};

const call = (...args: string[]) =>
  runTool(tasksLock.main, args, { cwd: base, env: { PATH: process.env['PATH'], HOME: base } });
const locked = async (src: string, ...args: string[]): Promise<TasksLock> => {
  const { exit, stdout, stderr } = await call('--src', src, '--dataset', 'small', '--out', '-', ...args);
  expect(exit === 0 ? '' : stderr).toBe('');
  return JSON.parse(stdout) as TasksLock;
};

describe('a lock', () => {
  test('has commit, files and images by digest, and tells what is left out', async () => {
    const tasks = dataset();
    const lock = await locked(tasks, '--repo-url', 'https://git.example/small');
    expect(lock.dataset).toMatchObject({
      name: 'small',
      url: 'https://git.example/small',
      published: '2026-01-02T01:04:05.000Z',
    });
    expect(lock.dataset.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(lock.leftOut).toEqual([
      { name: 'no-image', reason: 'it has no prebuilt image (environment.docker_image)' },
      { name: 'train-model', reason: 'it needs 1 GPU' },
    ]);
    expect(lock.counts).toEqual({ tasks: 3, leftOut: 2 });
    const [endless, impossible, word] = lock.tasks;
    expect(endless).toMatchObject({
      name: 'endless',
      agent_timeout_s: 8,
      verifier_timeout_s: 60,
      internet: false,
    });
    expect(impossible).toMatchObject({
      image: `${registry}/team/task@${single.digest}`,
      tag: `${registry}/team/task:single`,
      platforms: ['amd64'],
      user: '1000:1000',
      workdir: '/work',
    });
    expect(word).toMatchObject({
      image: `${registry}/team/task@${index.digest}`,
      platforms: ['amd64', 'arm64'],
      user: '',
      workdir: '/',
      cpus: 0.3,
      memory_bytes: 384 * 2 ** 20,
      storage_bytes: 512 * 2 ** 20,
    });
    expect(Object.keys(word!.files)).toEqual([
      'environment/Dockerfile',
      'environment/texts/a.txt',
      'environment/texts/b.txt',
      'environment/texts/c.txt',
      'instruction.md',
      'task.toml',
      'tests/test.sh',
      'tests/texts.txt',
    ]);
    expect(word!.files['tests/test.sh']).toEqual({
      sha256: sha256(readFileSync(join(tasks, 'word-report/tests/test.sh'))),
      x: true,
    });
    const lines = ['test.sh', 'texts.txt'].map(
      (one) => `${sha256(readFileSync(join(tasks, 'word-report/tests', one)))}  ${one}\n`,
    );
    expect(word!.testsSha256).toBe(sha256(lines.join('')));
  });

  test('is the same each time, and of some tasks alone', async () => {
    const tasks = dataset();
    const first = await call('--src', tasks, '--dataset', 'small', '--out', 'a.lock');
    expect(first).toMatchObject({ exit: 0, stdout: 'a.lock\n' });
    await call('-src', tasks, '-dataset', 'small', '-out', 'b.lock');
    expect(readFileSync(join(base, 'a.lock'), 'utf8')).toBe(readFileSync(join(base, 'b.lock'), 'utf8'));
    expect((await locked(tasks, '--tasks', 'endless')).tasks.map((one) => one.name)).toEqual(['endless']);
  });

  test('of a mirror, the registry itself being out of reach', async () => {
    const tasks = dataset((at) => {
      for (const name of ['word-report', 'impossible', 'endless']) {
        const path = join(at, name, 'task.toml');
        writeFileSync(path, readFileSync(path, 'utf8').replace(registry, 'far.invalid'));
      }
    });
    const lock = await locked(tasks, '--mirror', `far.invalid=http://${registry}`);
    expect(lock.tasks[0]!.image).toBe(`far.invalid/team/task@${index.digest}`);
  });

  test('of a directory that is no checkout, with its commit told', async () => {
    const plain = join(base, 'plain');
    cpSync(dataset(), plain, { recursive: true });
    const lock = await locked(plain, '--commit', 'a'.repeat(40), '--published', '2026-01-01');
    expect(lock.dataset).toMatchObject({ commit: 'a'.repeat(40), published: '2026-01-01T00:00:00Z' });
  });
});

describe('left out', () => {
  test.each<[string, string, (task: string) => void]>([
    ['no tests', 'it has no tests/test.sh', (task) => rmSync(join(task, 'tests/test.sh'))],
    [
      'a link',
      'is neither a file nor a directory',
      (task) => symlinkSync('/etc/passwd', join(task, 'tests/data')),
    ],
    [
      'several containers',
      'it needs several containers',
      (task) => writeFileSync(join(task, 'environment/docker-compose.yaml'), ''),
    ],
    [
      'several containers, by another of its names',
      'it needs several containers',
      (task) => writeFileSync(join(task, 'environment/compose.yml'), ''),
    ],
    ['broken TOML', 'its task.toml is no TOML', (task) => writeFileSync(join(task, 'task.toml'), 'a = ')],
  ])('%s', async (_, says, change) => {
    const lock = await locked(dataset((tasks) => change(join(tasks, 'word-report'))));
    expect(lock.leftOut.find((one) => one.name === 'word-report')?.reason).toContain(says);
  });
});

describe('refused', () => {
  test.each<[string, string[], string]>([
    ['no directory', ['--src', 'nowhere', '--dataset', 'x'], "'nowhere' is no directory"],
    ['no name', ['--src', '.'], 'needs --dataset=<NAME>'],
    ['nothing', [], 'needs --src=<DIR>'],
    [
      'a mirror that is none',
      ['--src', '.', '--dataset', 'x', '--mirror', 'docker.io'],
      'expected docker.io=https://mirror.example',
    ],
  ])('%s', async (_, args, says) => {
    const { exit, stdout, stderr } = await call(...args.map((one) => (one === '.' ? dataset() : one)));
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test.each<[string, (tasks: string) => void, string[], string]>([
    [
      'an uncommitted file',
      (tasks) => writeFileSync(join(tasks, 'word-report/tests/new'), ''),
      [],
      'holds more than its commit: ',
    ],
    ['another commit', () => {}, ['--commit', 'a'.repeat(40)], "'--commit' says aaaa"],
    ['a short commit', () => {}, ['--commit', 'abc'], 'expected 40 hex digits'],
    ['an unknown task', () => {}, ['--tasks', 'x'], "has no task 'x'"],
    ['a day that is none', () => {}, ['--published', '2026-02-30'], 'expected a day or a UTC time'],
  ])('%s', async (_, change, more, says) => {
    const tasks = dataset();
    change(tasks);
    const { exit, stdout, stderr } = await call('--src', tasks, '--dataset', 'small', '--out', '-', ...more);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('images that are not there, or for no machine of ours: all of them at once', async () => {
    const tasks = dataset((at) => {
      for (const [name, tag] of [
        ['word-report', 'none'],
        ['impossible', 'foreign'],
      ]) {
        const path = join(at, name!, 'task.toml');
        writeFileSync(path, readFileSync(path, 'utf8').replace(/task:\w+/, `task:${tag}`));
      }
    });
    const { exit, stderr } = await call('--src', tasks, '--dataset', 'small', '--out', '-');
    expect(exit).toBe(1);
    expect(stderr).toContain('404 (there is no such image)');
    expect(stderr).toContain('is for linux/s390x');
  });
});

describe('--check', () => {
  const against = async (change: (tasks: string) => void) => {
    const tasks = dataset();
    await call('--src', tasks, '--dataset', 'small', '--out', 'check.lock');
    change(tasks);
    git(join(tasks, '..'), 'add', '-A');
    git(join(tasks, '..'), 'commit', '-q', '--allow-empty', '-m', 'more');
    return call('--src', tasks, '--check', 'check.lock');
  };

  test('agrees with the checkout that was locked', async () => {
    const tasks = dataset();
    await call('--src', tasks, '--dataset', 'small', '--out', 'check.lock');
    expect(await call('--src', tasks, '--check', 'check.lock')).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: expect.stringContaining('agrees'),
    });
  });

  test.each<[string, (tasks: string) => void, string]>([
    ['another commit', () => {}, 'the checkout is at commit'],
    [
      'a changed test',
      (tasks) => writeFileSync(join(tasks, 'endless/tests/test.sh'), 'x', { mode: 0o755 }),
      "'endless/tests/test.sh' has another content",
    ],
    [
      'another mode',
      (tasks) => chmodSync(join(tasks, 'endless/tests/test.sh'), 0o644),
      'is not executable, the locked one is',
    ],
    [
      'a new file',
      (tasks) => writeFileSync(join(tasks, 'endless/tests/more'), 'x'),
      "'endless/tests/more' is not locked",
    ],
    [
      'a task that is gone',
      (tasks) => rmSync(join(tasks, 'endless'), { recursive: true }),
      "'endless' is locked and not there",
    ],
    [
      'a new task',
      (tasks) => cpSync(join(tasks, 'endless'), join(tasks, 'later'), { recursive: true }),
      "'later' is not locked",
    ],
    [
      'a task that needs a GPU now',
      (tasks) =>
        writeFileSync(join(tasks, 'endless/task.toml'), '[environment]\ndocker_image = "a"\ngpus = 2\n'),
      "can't be locked any more: it needs 2 GPUs",
    ],
  ])('tells %s', async (_, change, says) => {
    const { exit, stdout, stderr } = await against(change);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain(says);
  });
});

describe('task.toml', () => {
  const head = '[environment]\ndocker_image = "a/b:1"\n';
  test.each<[string, string, object]>([
    ['the least', head, { image: 'a/b:1', agent_timeout_s: 600, verifier_timeout_s: 600, internet: true }],
    [
      'older sizes',
      `${head}memory = "4G"\nstorage = "10G"\n`,
      { memory_bytes: 4 * 2 ** 30, storage_bytes: 10 * 2 ** 30 },
    ],
    ['no network', `${head}network_mode = "no-network"\n`, { internet: false }],
    [
      'variables',
      `${head}[environment.env]\nA = "b"\n[verifier]\nenv = { C = "d" }\n`,
      { env: { A: 'b' }, verifierEnv: { C: 'd' } },
    ],
    ['a directory', `${head}workdir = "/srv"\n`, { workdir: '/srv' }],
    ['no GPU', `${head}gpus = 0\n`, { image: 'a/b:1' }],
  ])('%s', (_, text, wanted) => expect(readTaskToml(text, 'task.toml')).toMatchObject(wanted));

  test.each<[string, string, string]>([
    [
      'secrets of the caller',
      `${head}[verifier.env]\nKEY = "\${OPENAI_API_KEY}"\n`,
      'it takes ${OPENAI_API_KEY} from its caller',
    ],
    ['steps', `${head}[[steps]]\nname = "a"\n`, 'it has several steps'],
    ['Windows', `${head}os = "windows"\n`, 'it is for windows'],
    ['another user', `${head}[agent]\nuser = "bob"\n`, "another user than the image's (bob)"],
    [
      'a verifier of its own',
      `${head}[verifier]\nenvironment_mode = "separate"\n`,
      'its verifier has an environment of its own',
    ],
    ['MCP servers', `${head}mcp_servers = [{ name = "x" }]\n`, 'it needs MCP servers'],
    [
      'a limit that is none',
      `${head}[agent]\ntimeout_sec = -1\n`,
      'agent.timeout_sec: expected a number above 0',
    ],
    ['a text as number', `${head}cpus = "2"\n`, 'environment.cpus'],
  ])('leaves out: %s', (_, text, says) =>
    expect(readTaskToml(text, 'task.toml')).toMatchObject({ reason: expect.stringContaining(says) }),
  );
});
