/** `model`: its four objects, and entries of models.lock from a directory, a hub, and a copy of a hub's listing. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ModelsLock } from '../../schemas/models-lock.ts';
import { sha256 } from '../../shared/files.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const FIXTURE = resolve(import.meta.dir, '../../fixtures/schemas/models-lock/valid.json');
const STAGED = 'b'.repeat(64);
const NOW = Date.parse('2026-06-01T00:00:00Z');
const REVISION = 'c'.repeat(40);

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'k8sbench-model-'));
  writeFileSync(join(cwd, 'models.lock'), readFileSync(FIXTURE, 'utf8'));
  writeFileSync(
    join(cwd, 'values.local.yaml'),
    `namespace: bench\nbaseImage: registry.example/node@sha256:${'a'.repeat(64)}\ngpu: { trialPVC: trials, modelPVC: models }\n`,
  );
});
const call = (...args: string[]) => runTool(main, args, { cwd, env: {}, now: NOW });
const print = (...args: string[]) => call('--model', 'small-coder', '--staged', STAGED, ...args);
const objectsIn = (text: string): any[] =>
  text.split(/^---\n/m).map((part) => parseForeignYaml(part, 'yaml'));
const change = (edit: (lock: any) => void): void => {
  const lock = JSON.parse(readFileSync(join(cwd, 'models.lock'), 'utf8'));
  edit(lock);
  writeFileSync(join(cwd, 'models.lock'), JSON.stringify(lock));
};

describe('printed', () => {
  test('the policy first, and it closes both ways', async () => {
    const [policy, service, fetch, deployment] = objectsIn((await print()).stdout);
    expect([policy, service, fetch, deployment].map((one) => one.kind)).toEqual([
      'NetworkPolicy',
      'Service',
      'Job',
      'Deployment',
    ]);
    expect(policy.spec.egress).toBeUndefined();
    expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(policy.spec.ingress[0].from).toEqual([
      {
        podSelector: {
          matchLabels: {
            'app.kubernetes.io/name': 'k8sbench',
            'app.kubernetes.io/managed-by': 'k8sbench',
            'app.kubernetes.io/component': 'trial',
            'k8sbench/model': 'small-coder',
          },
        },
      },
    ]);
    // It holds for the engine, and not for the fetch.
    const chosen = policy.spec.podSelector.matchLabels;
    const fits = (one: any): boolean =>
      Object.entries(chosen).every(([key, value]) => one.spec.template.metadata.labels[key] === value);
    expect([fits(deployment), fits(fetch)]).toEqual([true, false]);
    expect(service.spec.selector).toEqual(chosen);
  });

  test('an engine that asks no hub, finds its files, and starts beside the marker alone', async () => {
    const [, , fetch, deployment] = objectsIn((await print()).stdout);
    const { spec } = deployment.spec.template;
    const [engine, ready] = spec.containers;
    expect(engine.command).toEqual([
      'vllm',
      'serve',
      '/k8sbench/models/small-coder/files',
      '--served-model-name',
      'small-coder',
      '--port',
      '8000',
      '--tensor-parallel-size',
      '1',
      '--max-model-len',
      '32768',
    ]);
    const env = Object.fromEntries(engine.env.map((one: any) => [one.name, one.value]));
    expect(env).toMatchObject({ HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1' });
    expect(engine.resources.limits['nvidia.com/gpu']).toBe('1');
    expect(engine.volumeMounts.find((one: any) => one.name === 'models').readOnly).toBe(true);
    expect(spec.volumes.find((one: any) => one.name === 'shm').emptyDir).toEqual({
      medium: 'Memory',
      sizeLimit: '8589934592',
    });
    expect(spec).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false });
    expect(engine.readinessProbe).toBeUndefined();
    expect(ready.readinessProbe.httpGet.port).toBe(8001);
    const [pinned, wanted] = [
      JSON.parse(fetch.spec.template.spec.containers[0].env[0].value).pin,
      JSON.parse(spec.initContainers[0].env[0].value).pin,
    ];
    expect(pinned).toBe(wanted);
    expect(pinned).toMatch(/^[0-9a-f]{64}$/);
  });

  test('other files, another pin; another hub, the same', async () => {
    const pin = async (...args: string[]): Promise<string> =>
      JSON.parse((await print('--json', ...args)).stdout).pin;
    const first = await pin();
    expect(await pin('--hub', 'http://files.bench.svc:8080')).toBe(first);
    change((lock) => (lock.models['small-coder'].files['config.json'].size = 1));
    expect(await pin()).not.toBe(first);
  });

  test.each(['qwen2-5-coder-7b', 'qwen2-5-coder-7b-q4'])('the example of %s', async (id) => {
    const lock = resolve(import.meta.dir, '../../fixtures/trials/models.lock');
    const words = ['--model', id, '--models-lock', lock, '--staged', STAGED];
    const { exit, stdout } = await runTool(main, words, { cwd, env: {}, now: Date.parse('2026-10-04') });
    expect(exit).toBe(0);
    // Nothing in it stands for something else.
    expect(readFileSync(lock, 'utf8')).not.toMatch(/([0-9a-f])\1{15}|example/);
    expect(stdout).toContain(`k8sbench/models/${id}/files`);
    expect(stdout).not.toMatch(/\{(model|name|gpus)\}/);
  });

  test('an engine that needs root says so', async () => {
    change((lock) => (lock.engines.vllm.user = 0));
    const { stdout } = await print();
    expect(stdout).toContain('# The engine runs as root, without capabilities');
    expect(objectsIn(stdout)[3].spec.template.spec.containers[0].securityContext).toEqual({
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
  });
});

describe('refused', () => {
  test.each<[string, (lock: any) => void, string[], string]>([
    [
      'a young pin',
      (lock) => (lock.models['small-coder'].published = '2026-05-30T00:00:00Z'),
      [],
      'less than 7 days ago',
    ],
    [
      'a young engine',
      (lock) => (lock.engines.vllm.published = '2026-05-26T00:00:00Z'),
      [],
      "the image of its engine 'vllm'",
    ],
    [
      'a pin of the future',
      (lock) => (lock.models['small-coder'].published = '2027-01-01T00:00:00Z'),
      [],
      'less than 7 days ago',
    ],
    [
      'shared memory beyond the memory',
      (lock) => (lock.engines.vllm.shm_bytes = 2 ** 40),
      [],
      'has no room beside the',
    ],
    ['a hub with a password', () => {}, ['--hub', 'https://me:x@hub.example'], 'without a user'],
    ['a flag of lock', () => {}, ['--dir', '.'], "'model print' takes no flag '--dir'"],
  ])('%s', async (_, edit, args, says) => {
    change(edit);
    const { exit, stdout, stderr } = await print(...args);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
  });
});

describe('lock', () => {
  const FILES: Readonly<Record<string, string>> = {
    'config.json': '{}',
    'a.Q4.gguf': 'weights',
    'b.Q8.gguf': 'more weights',
  };
  let server: ReturnType<typeof Bun.serve>;
  let asked: string[] = [];
  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname, search } = new URL(request.url);
        asked.push(pathname + search);
        if (pathname === `/api/models/owner/name/revision/${REVISION}`) return Response.json(listing());
        const name = pathname.replace(`/owner/name/resolve/${REVISION}/`, '');
        return FILES[name] === undefined ? new Response('', { status: 404 }) : new Response(FILES[name]);
      },
    });
  });
  afterAll(() => server.stop(true));
  const listing = () => ({
    sha: REVISION,
    lastModified: '2026-02-03T04:05:06.000Z',
    siblings: [
      { rfilename: '.gitattributes', size: 5 },
      ...Object.entries(FILES).map(([rfilename, text]) => ({
        rfilename,
        size: text.length,
        ...(rfilename.endsWith('.gguf') ? { lfs: { sha256: sha256(text), size: text.length } } : {}),
      })),
    ],
  });
  const lock = (...args: string[]) =>
    call(
      'lock',
      '--model',
      'new',
      '--engine',
      'vllm',
      '--repository',
      'owner/name',
      '--revision',
      REVISION,
      ...args,
    );
  const entry = () =>
    (JSON.parse(readFileSync(join(cwd, 'models.lock'), 'utf8')) as ModelsLock).models['new'];
  const FILE = (name: string) => ({ size: FILES[name]!.length, sha256: sha256(FILES[name]!) });
  const directory = (): void => {
    mkdirSync(join(cwd, 'files/.cache'), { recursive: true });
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, 'files', name), text);
    writeFileSync(join(cwd, 'files/.cache/note'), '');
  };

  test('^C while the hub is silent', async () => {
    const silent = Bun.serve({ port: 0, fetch: () => Bun.sleep(5000).then(() => new Response('')) });
    const controller = new AbortController();
    setTimeout(() => controller.abort('SIGINT'), 50);
    const args = ['--model', 'new', '--engine', 'vllm', '--repository', 'o/n', '--revision', REVISION];
    const { exit, stdout, stderr } = await runTool(
      main,
      ['lock', ...args, '--hub', `http://127.0.0.1:${silent.port}`],
      { cwd, now: NOW, interrupted: controller.signal },
    );
    await silent.stop(true);
    expect([exit, stdout]).toEqual([130, '']);
    expect(stderr).toContain("interrupted by SIGINT while asking 'http://127.0.0.1:");
    expect(stderr).not.toContain("can't get");
  });

  test('from the hub: large files by its word, small ones by their bytes', async () => {
    asked = [];
    expect(
      await lock('--hub', `http://127.0.0.1:${server.port}`, '--arg=--x', '--context-tokens', '4096'),
    ).toMatchObject({
      exit: 0,
      stdout: `new: new, owner/name at ${REVISION}\n`,
    });
    expect(entry()).toEqual({
      engine: 'vllm',
      hub: `http://127.0.0.1:${server.port}`,
      repository: 'owner/name',
      revision: REVISION,
      published: '2026-02-03T04:05:06.000Z',
      args: ['--x'],
      contextTokens: 4096,
      files: {
        'a.Q4.gguf': FILE('a.Q4.gguf'),
        'b.Q8.gguf': FILE('b.Q8.gguf'),
        'config.json': FILE('config.json'),
      },
    });
    expect(asked).toEqual([
      `/api/models/owner/name/revision/${REVISION}?blobs=true`,
      `/owner/name/resolve/${REVISION}/config.json`,
    ]);
    expect(
      await lock('--hub', `http://127.0.0.1:${server.port}`, '--arg=--x', '--context-tokens', '4096'),
    ).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: expect.stringContaining('nothing changed'),
    });
  });

  test('from a copy of the listing, without a network', async () => {
    writeFileSync(join(cwd, 'listing.json'), JSON.stringify(listing()));
    asked = [];
    expect((await lock('--listing', 'listing.json', '--file', '*.Q4.gguf')).exit).toBe(0);
    expect(entry()!.files).toEqual({ 'a.Q4.gguf': FILE('a.Q4.gguf') });
    directory();
    expect((await lock('--listing', 'listing.json', '--dir', 'files')).stdout).toContain('new: files: 1 → 3');
    expect(asked).toEqual([]);
  });

  test('from a directory', async () => {
    directory();
    expect((await lock('--dir', 'files', '--published', '2026-01-02')).exit).toBe(0);
    expect(entry()).toMatchObject({
      published: '2026-01-02T00:00:00Z',
      files: { 'config.json': FILE('config.json') },
    });
    expect(Object.keys(entry()!.files)).toHaveLength(3);
  });

  test.each<[string, () => void, string[], number, string]>([
    ['a branch', () => {}, ['--revision', 'main'], 2, "flag '--revision' is given twice"],
    ['an engine that is not there', () => {}, ['--engine', 'x'], 2, "flag '--engine' is given twice"],
    ['a directory without a day', () => directory(), ['--dir', 'files'], 2, "'--published' is missing"],
    [
      'a directory of links',
      () => {
        mkdirSync(join(cwd, 'files'));
        symlinkSync('/etc/passwd', join(cwd, 'files/x'));
      },
      ['--dir', 'files', '--published', '2026-01-02'],
      1,
      'is neither a file nor a directory',
    ],
    [
      'another revision',
      () => writeFileSync(join(cwd, 'listing.json'), JSON.stringify({ ...listing(), sha: 'd'.repeat(40) })),
      ['--listing', 'listing.json'],
      2,
      "'--revision' says cccc",
    ],
    [
      'a listing without sizes',
      () => writeFileSync(join(cwd, 'listing.json'), '{"siblings":[{"rfilename":"a"}]}'),
      ['--listing', 'listing.json', '--published', '2026-01-02'],
      1,
      "'a' has no size",
    ],
    [
      'a pattern that fits nothing',
      () => directory(),
      ['--dir', 'files', '--published', '2026-01-02', '--file', '*.bin'],
      2,
      "no file fits '*.bin'",
    ],
    [
      'a file that leaves its place',
      () =>
        writeFileSync(
          join(cwd, 'listing.json'),
          JSON.stringify({ siblings: [{ rfilename: '../x', size: 1, lfs: { sha256: 'a'.repeat(64) } }] }),
        ),
      ['--listing', 'listing.json', '--published', '2026-01-02'],
      2,
      'expected a path inside',
    ],
  ])('refuses %s', async (_, make, args, status, says) => {
    make();
    const before = readFileSync(join(cwd, 'models.lock'), 'utf8');
    const { exit, stdout, stderr } = await lock(...args);
    expect({ exit, stdout }).toEqual({ exit: status as never, stdout: '' });
    expect(stderr).toContain(says);
    expect(readFileSync(join(cwd, 'models.lock'), 'utf8')).toBe(before);
  });

  test('refuses all that is missing or wrong at once', async () => {
    const { exit, stderr } = await call('lock', '--model', 'A b', '--revision', 'main');
    expect(exit).toBe(2);
    for (const one of [
      "'--engine' is missing",
      "'--repository' is missing",
      'expected a name of a-z',
      'a branch moves',
    ])
      expect(stderr).toContain(one);
  });
});
