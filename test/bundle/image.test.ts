/** Images made of bundles: read by skopeo, pushed to a real registry, the same bytes each time. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '../../shared/world.ts';
import { peer } from '../bench/peers.ts';
import { makeImage } from '../cluster/image.ts';
import { main as plan } from '../../tools/plan/main.ts';
import { askedOfFlags } from '../../tools/preflight/asked.ts';
import type { PreflightFlags } from '../../tools/preflight/flags.ts';
import { main as render } from '../../tools/render/main.ts';
import { runTool } from '../outside.ts';
import { bundle, sourceTree } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

let base: string;
let registry: { host: string; child: ReturnType<typeof Bun.spawn> };
let identity: string;
const run = (...command: string[]): string => {
  const done = Bun.spawnSync(command, { stderr: 'pipe' });
  if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr.toString()}`);
  return done.stdout.toString().trim();
};
const here = process.arch === 'x64' ? 'amd64' : 'arm64';
const other = here === 'amd64' ? 'arm64' : 'amd64';

const freePort = (): number => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') });
  const { port } = server;
  server.stop(true);
  return port!;
};

/** A registry of this machine, as people run one. */
const startRegistry = async (): Promise<typeof registry> => {
  const host = `localhost:${freePort()}`;
  const config = join(base, 'registry.yml');
  writeFileSync(
    config,
    `version: 0.1\nlog: { level: error }\nstorage: { filesystem: { rootdirectory: ${base}/registry } }\nhttp: { addr: "127.0.0.1${host.slice(9)}" }\n`,
  );
  const child = Bun.spawn(['docker-registry', 'serve', config], { stdout: 'ignore', stderr: 'ignore' });
  for (let at = 0; at < 100; at++) {
    if (
      await fetch(`http://${host}/v2/`).then(
        (one) => one.ok,
        () => false,
      )
    )
      return { host, child };
    await Bun.sleep(50);
  }
  throw new Error('the registry does not answer');
};

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-image-'));
  mkdirSync(join(base, 'home'));
  for (const name of ['skopeo', 'docker-registry'] as const) {
    const found = await peer(name);
    if ('why' in found) throw new Error(found.why);
  }
  registry = await startRegistry();
  mkdirSync(join(base, 'root/etc'), { recursive: true });
  writeFileSync(join(base, 'root/etc/about'), 'a base');
  makeImage(join(base, 'base.tar'), 'node', join(base, 'root'), { env: ['NODE_VERSION=24.22.3'] });
  mkdirSync(join(base, 'layout'));
  run('tar', '-xf', join(base, 'base.tar'), '-C', join(base, 'layout'));
  const recipe = 'node: v24.22.3\nartifacts:\n  - { kind: files, from: data, to: share/data }\n';
  for (const arch of [here, other]) {
    const args = ['--recipe', 'bundle.yaml', '--out', join(base, arch), '--arch', arch];
    const built = bundle(sourceTree(base, recipe), { home: join(base, 'home') }, 'build', ...args);
    if (built.exit !== 0) throw new Error(built.stderr);
    if (arch === here) identity = built.stdout.split(' ')[0]!;
  }
}, 240_000);
afterAll(async () => {
  registry?.child.kill();
  await registry?.child.exited;
  rmSync(base, { recursive: true });
});

const image = (...args: string[]) => bundle(base, { home: join(base, 'home') }, 'image', here, ...args);
const first = (...more: string[]) => image('--base', 'base.tar', '--out', 'image.tar', ...more);

test('upon an archive: its reference is printed, skopeo reads it, the bundle stands in it whole', () => {
  const { exit, stdout, stderr } = first();
  expect(exit === 0 ? '' : stderr).toBe('');
  expect(stdout).toMatch(/^localhost\/k8sbench@sha256:[0-9a-f]{64}\n$/);
  const digest = stdout.trim().split('@')[1]!;
  const about = JSON.parse(run('skopeo', 'inspect', `oci-archive:${join(base, 'image.tar')}`));
  expect(about).toMatchObject({
    Digest: digest,
    Architecture: here,
    Os: 'linux',
    Created: '1970-01-01T00:00:00Z',
  });
  expect(about.Labels['io.k8sbench.bundle.sha256']).toBe(identity);
  expect(about.Layers).toHaveLength(2);
  expect(about.Env).toContain('NODE_VERSION=24.22.3');
  const parts = join(base, 'parts');
  run('skopeo', 'copy', `oci-archive:${join(base, 'image.tar')}`, `dir:${parts}`);
  const layer = join(parts, about.Layers[1].slice('sha256:'.length));
  const out = join(base, 'unpacked');
  mkdirSync(out);
  run('tar', '-xzf', layer, '-C', out);
  expect(run('diff', '-r', join(out, 'opt/k8sbench'), join(base, here))).toBe('');
  expect(run('tar', '-tvzf', layer)).toMatch(/^drwxr-xr-x 0\/0 +0 1970-01-01 00:00 opt\/\n/);
  const config = JSON.parse(run('skopeo', 'inspect', '--config', `oci-archive:${join(base, 'image.tar')}`));
  expect(config.rootfs.diff_ids[1]).toBe(
    `sha256:${run('sh', '-c', `gzip -dc ${layer} | sha256sum`).split(' ')[0]}`,
  );
});

test('the same bytes from an archive, a layout and a registry; by another user mask, at another time', () => {
  run(
    'skopeo',
    'copy',
    '--preserve-digests',
    '--dest-tls-verify=false',
    `oci-archive:${join(base, 'base.tar')}`,
    `docker://${registry.host}/base/node:24`,
  );
  const before = readFileSync(join(base, 'image.tar'));
  for (const from of ['layout', `${registry.host}/base/node:24`]) {
    const another: Parameters<typeof bundle>[1] = {
      home: join(base, 'home'),
      umask: '077',
      env: { TZ: 'Asia/Kathmandu', K8SBENCH_NOW: '1' },
    };
    const made = bundle(base, another, 'image', here, '--base', from, '--out', 'again.tar');
    expect(made.exit === 0 ? '' : made.stderr).toBe('');
    expect(readFileSync(join(base, 'again.tar')).equals(before)).toBe(true);
  }
});

test('pushed: the registry has it under the digest that is printed', async () => {
  const name = `${registry.host}/team/session:7`;
  const { exit, stdout, stderr } = image('--base', 'layout', '--out', 'pushed.tar', '--push', name);
  expect(exit === 0 ? '' : stderr).toBe('');
  expect(stdout).toStartWith(`${registry.host}/team/session@sha256:`);
  const about = JSON.parse(run('skopeo', 'inspect', '--tls-verify=false', `docker://${stdout.trim()}`));
  expect(`${about.Name}@${about.Digest}`).toBe(stdout.trim());
  expect(about.Labels['io.k8sbench.bundle.sha256']).toBe(identity);
}, 30_000);

describe('plan, preflight and render take the archive for the image', () => {
  const outside = () => ({ cwd: base, env: { PATH: process.env['PATH'] } });
  const planned = (...more: string[]) =>
    runTool(
      plan,
      ['--run', 'run', '--force', '--namespace', 'team', '--image', 'image.tar', '--turns', '50', ...more],
      outside(),
    );

  test('its reference, architecture and commit', async () => {
    const made = await planned('--profile', 'durable-store');
    expect(made.exit === 0 ? '' : made.stderr).toBe('');
    const reference = first().stdout.trim();
    const json = (name: string) => JSON.parse(readFileSync(join(base, 'run', name), 'utf8'));
    expect(json('values.json').image).toBe(reference);
    const commit = readFileSync(join(base, here, 'COMMIT'), 'utf8').trim();
    expect(json('run.json')).toMatchObject({ delivery: 'image', arch: here, commit });
    const { stdout } = await runTool(render, ['--run', 'run', '--out', '-'], outside());
    expect(stdout).toContain(reference);
    expect(stdout).toContain('kubernetes.io/arch');
  });

  test('preflight looks for nodes of its architecture, and tries the pod with its reference', async () => {
    const given = { namespace: 'team', image: 'image.tar' } as PreflightFlags;
    const asked = await askedOfFlags(given, outside() as unknown as World);
    const reference = first().stdout.trim();
    expect(asked).toMatchObject({ image: reference, delivery: 'image', wanted: { arch: here } });
    expect(JSON.stringify(asked.manifest)).toContain(`"image":"${reference}"`);
  });

  test('what the profile names and needs must be in it, and it must be of the commit', async () => {
    const target = (name: string, role: string) => ({
      name,
      role,
      seed: ['{root}/bin/gone'],
      seedMeta: '{dir}/m',
      sample: ['node', '{root}/lib/pod.mjs'],
    });
    const targets = [target('a', 'candidate'), target('b', 'reference')];
    const profile = { name: 'p', rule: 'p', about: 'a', needs: ['agents'], targets };
    writeFileSync(join(base, 'needy.json'), JSON.stringify(profile));
    const { exit, stderr } = await planned('--profile', 'needy.json', '--commit', 'abcdef1');
    expect(exit).toBe(2);
    expect(stderr).toContain("image 'image.tar': target 'a' names '{root}/bin/gone'");
    expect(stderr).toContain("image 'image.tar': the profile needs agents, and it holds none");
    expect(stderr).toContain("flag '--commit': wanted abcdef1, but 'image.tar' is at");
  });

  test.each<[string, () => Buffer, string]>([
    ['no archive', () => Buffer.from('hello'), 'it has no index.json'],
    [
      'one that is cut',
      () => readFileSync(join(base, 'image.tar')).subarray(0, 4096),
      'it has no index.json',
    ],
    ['an image without a bundle', () => readFileSync(join(base, 'base.tar')), "image archive 'other.tar': "],
  ])('refused: %s', async (_, bytes, says) => {
    writeFileSync(join(base, 'other.tar'), bytes());
    const words = [
      '--run',
      'no',
      '--namespace',
      'team',
      '--image',
      'other.tar',
      '--profile',
      'durable-store',
    ];
    const { exit, stdout, stderr } = await runTool(plan, words, outside());
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toContain("'k8sbench bundle image' makes one");
  });
});

describe('refused', () => {
  const changed = (name: string, change: (layout: string) => void): string => {
    cpSync(join(base, 'layout'), join(base, name), { recursive: true });
    change(join(base, name));
    return name;
  };
  const blobs = (layout: string): string => join(layout, 'blobs/sha256');
  test.each<[string, () => string[], number, string]>([
    ['no base', () => ['--out', 'no.tar'], 2, "'bundle image' needs --base="],
    ['no place', () => ['--base', 'layout'], 2, "'bundle image' needs --out="],
    [
      'a base that is not there',
      () => ['--base', './gone.tar', '--out', 'no.tar'],
      2,
      "'./gone.tar' does not exist",
    ],
    [
      'a directory that is no layout',
      () => ['--base', 'home', '--out', 'no.tar'],
      2,
      "'home' is no OCI layout",
    ],
    [
      'an image that the registry has not',
      () => ['--base', `${registry.host}/base/gone:1`, '--out', 'no.tar'],
      1,
      '404 (there is no such image)',
    ],
    [
      'two names',
      () => ['--base', 'layout', '--out', 'no.tar', '--name', 'a', '--push', 'b'],
      2,
      'exclude each other',
    ],
    [
      'a layer that was changed',
      () => [
        '--base',
        changed('evil', (one) => {
          for (const name of readdirSync(blobs(one))) {
            const path = join(blobs(one), name);
            const bytes = readFileSync(path);
            if (bytes[0] !== 0x7b) {
              bytes[600] = 1;
              writeFileSync(path, bytes);
            }
          }
        }),
        '--out',
        'no.tar',
      ],
      1,
      'is not the',
    ],
    [
      'a blob that is missing',
      () => [
        '--base',
        changed('cut', (one) => {
          for (const name of readdirSync(blobs(one)))
            if (readFileSync(join(blobs(one), name))[0] !== 0x7b) rmSync(join(blobs(one), name));
        }),
        '--out',
        'no.tar',
      ],
      1,
      'it has no blob sha256:',
    ],
    [
      'a digest that leads outside',
      () => [
        '--base',
        changed('leaves', (one) =>
          writeFileSync(
            join(one, 'index.json'),
            JSON.stringify({
              manifests: [{ digest: 'sha256:../../../etc/passwd', size: 1, mediaType: 'x' }],
            }),
          ),
        ),
        '--out',
        'no.tar',
      ],
      2,
      'holds 0 images',
    ],
    [
      'a profile that finds no program',
      () => ['--base', 'layout', '--out', 'no.tar', '--profile', 'gone.json'],
      1,
      "names '{root}/bin/gone'",
    ],
  ])('%s', (_, args, status, says) => {
    const target = (name: string, role: string) => ({
      name,
      role,
      seed: ['{root}/bin/gone'],
      seedMeta: '{dir}/m',
      sample: ['node', '{root}/lib/pod.mjs'],
    });
    writeFileSync(
      join(base, 'gone.json'),
      JSON.stringify({
        name: 'p',
        rule: 'p',
        about: 'a',
        targets: [target('a', 'candidate'), target('b', 'reference')],
      }),
    );
    const { exit, stdout, stderr } = image(...args());
    expect({ exit, stdout, stderr: stderr.includes(says) ? '' : stderr }).toEqual({
      exit: status,
      stdout: '',
      stderr: '',
    });
    expect(readdirSync(base).filter((name) => name === 'no.tar' || name.startsWith('.k8sbench'))).toEqual([]);
  });

  test('a base for another machine, and one with another release of Node: both at once', () => {
    const { exit, stderr } = bundle(
      base,
      { home: join(base, 'home') },
      'image',
      other,
      '--base',
      'base.tar',
      '--out',
      'no.tar',
    );
    expect(exit).toBe(1);
    expect(stderr).toContain(`it is for linux/${here}, the bundle for linux/${other}`);
    makeImage(join(base, 'old.tar'), 'node', join(base, 'root'), { env: ['NODE_VERSION=22.1.0'] });
    expect(image('--base', 'old.tar', '--out', 'no.tar').stderr).toContain(
      'it has Node v22.1.0, the bundle is for v24.22.3',
    );
  });
});
