/** `stage`: what a bundle needs, the archive, the Job, and its script as a real shell runs it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';
import script from './stage.txt';

const ELF = Buffer.concat([
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]),
  Buffer.alloc(11),
  Buffer.from([62, 0]),
  Buffer.alloc(60),
]);

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-stage-'));
  writeFileSync(
    join(base, 'values.local.yaml'),
    `namespace: bench\nbaseImage: registry.example/node@sha256:${'a'.repeat(64)}\ngpu: { trialPVC: trials }\n`,
  );
});
afterAll(() => rmSync(base, { recursive: true }));

let made = 0;
/** A trial bundle in small; what is undefined is left out. */
const bundle = (more: Record<string, string | undefined> = {}): string => {
  const name = `bundle-${++made}`;
  const files: Record<string, string | Uint8Array | undefined> = {
    'bin/node': ELF,
    'lib/trials.mjs': 'x',
    'arms/pi/cli.js': 'x',
    'tasks/t/instruction.md': 'x',
    'tasks/t/tests/test.sh': 'x',
    ...more,
  };
  const there = Object.entries(files).filter(
    (one): one is [string, string | Uint8Array] => one[1] !== undefined,
  );
  for (const [path, content] of there) {
    mkdirSync(join(base, name, path, '..'), { recursive: true });
    writeFileSync(join(base, name, path), content);
  }
  writeFileSync(
    join(base, name, 'ARTIFACTS.sha256'),
    there.map(([path, content]) => `${sha256(content)}  ${path}\n`).join(''),
  );
  writeFileSync(join(base, name, 'COMMIT'), `${'c'.repeat(40)}\n`);
  writeFileSync(join(base, name, 'VERSIONS'), 'arch=amd64\n');
  return name;
};
const call = (...args: string[]) => runTool(main, args, { cwd: base, env: {} });

describe('a bundle', () => {
  test('becomes an archive, a Job and the commands between them; the same each time', async () => {
    const name = bundle();
    const { exit, stdout } = await call('--bundle', name);
    expect(exit).toBe(0);
    expect((await call('--bundle', name, '--out', 'other.tar.gz')).stdout.replace('other', name)).toBe(
      stdout,
    );
    const staged = /^# staged ([0-9a-f]{64})$/m.exec(stdout)![1]!;
    const archive = readFileSync(join(base, `${name}.tar.gz`));
    expect(sha256(Bun.gunzipSync(archive))).toBe(staged);
    const job = parseForeignYaml(stdout, 'stage') as any;
    expect(job.spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
    });
    expect(job.spec.template.spec.containers[0].command[2]).toContain(`bundle=${staged}`);
    expect(stdout).toContain(`-eq ${archive.length} && : > /stage/READY' < ${name}.tar.gz`);
    expect(JSON.parse((await call('--bundle', name, '--json')).stdout)).toMatchObject({
      sha256: staged,
      manifest: job,
    });
  });

  test.each<[string, () => string[], number, string]>([
    ['none', () => [], 2, "'--bundle=<DIR>' is missing"],
    ['one that is not there', () => ['--bundle', 'nowhere'], 2, "bundle 'nowhere' is no directory"],
    [
      'one without tasks',
      () => ['--bundle', bundle({ 'tasks/t/instruction.md': undefined, 'tasks/t/tests/test.sh': undefined })],
      1,
      "lacks tasks: build it with 'bundle build --tasks'",
    ],
    ['one without Node', () => ['--bundle', bundle({ 'bin/node': undefined })], 1, "lacks Node ('bin/node')"],
    [
      'one without an agent',
      () => ['--bundle', bundle({ 'arms/pi/cli.js': undefined })],
      1,
      'lacks an agent',
    ],
    [
      'one without its program',
      () => ['--bundle', bundle({ 'lib/trials.mjs': undefined })],
      1,
      "lacks 'lib/trials.mjs'",
    ],
    [
      'one that was changed',
      () => {
        const name = bundle();
        writeFileSync(join(base, name, 'arms/pi/cli.js'), 'y');
        return ['--bundle', name];
      },
      1,
      "'arms/pi/cli.js' does not have the digest",
    ],
    [
      'one with more files',
      () => {
        const name = bundle();
        writeFileSync(join(base, name, 'solve.sh'), 'y');
        return ['--bundle', name];
      },
      1,
      "'solve.sh' is not listed",
    ],
    [
      'an archive inside of it',
      () => {
        const name = bundle();
        return ['--bundle', name, '--out', `${name}/x.tar.gz`];
      },
      2,
      'lies in the bundle itself',
    ],
  ])('is refused: %s', async (_, args, status, says) => {
    const { exit, stdout, stderr } = await call(...args());
    expect({ exit, stdout }).toEqual({ exit: status as never, stdout: '' });
    expect(stderr).toContain(says);
  });
});

describe("the Job's script", () => {
  /** The script with its directories below one of ours. */
  const stage = async (name: string, change: (place: string) => void = () => {}) => {
    const staged = /^# staged ([0-9a-f]{64})$/m.exec((await call('--bundle', name)).stdout)![1]!;
    const place = join(base, `place-${++made}`);
    for (const one of ['stage', 'claim', 'dev']) mkdirSync(join(place, one), { recursive: true });
    cpSync(join(base, `${name}.tar.gz`), join(place, 'stage/bundle.tar.gz'));
    writeFileSync(join(place, 'stage/READY'), '');
    change(place);
    const text = `claim=${place}/claim bundle=${staged} patience=1 deadline=60\n${script.replaceAll('/stage/', `${place}/stage/`).replaceAll('/dev/termination-log', `${place}/dev/log`)}`;
    const run = () => {
      const done = Bun.spawnSync(['sh', '-c', text]);
      return { exit: done.exitCode, out: done.stdout.toString(), said: done.stderr.toString() };
    };
    return { run, text, place, at: join(place, 'claim/bundles', staged) };
  };

  test('what killed pods left is removed, what another pod unpacks is not', async () => {
    const { run, at } = await stage(bundle());
    const now = Math.floor(Date.now() / 1000);
    const [dead, atWork, other] = [`${now - 61}.a`, `${now - 5}.b`, 'c'].map((one) =>
      join(dirname(at), `.${basename(at)}.${one}`),
    );
    for (const one of [dead!, atWork!, other!]) mkdirSync(one, { recursive: true });
    expect(run()).toMatchObject({ exit: 0 });
    expect([dead!, atWork!, other!].map((one) => existsSync(one))).toEqual([false, true, true]);
  });

  test('a pod that is ended while it unpacks leaves nothing on the claim', async () => {
    const { text, place, at } = await stage(bundle());
    // A tar that writes something and hangs.
    mkdirSync(join(place, 'bin'));
    writeFileSync(
      join(place, 'bin/tar'),
      '#!/bin/sh\necho part > "$4/part"; touch "$0.began"; exec sleep 300.3\n',
      { mode: 0o755 },
    );
    const pod = Bun.spawn(['sh', '-c', text], {
      env: { PATH: `${join(place, 'bin')}:${process.env['PATH']}` },
      stdout: 'ignore',
      stderr: 'ignore',
    });
    while (!existsSync(join(place, 'bin/tar.began'))) await Bun.sleep(10);
    pod.kill('SIGTERM');
    expect(await pod.exited).toBe(143);
    expect(readdirSync(dirname(at))).toEqual([]);
  });

  test('unpacks it whole, and finds it there the next time', async () => {
    const { run, at, place } = await stage(bundle());
    expect(run()).toMatchObject({ exit: 0, out: expect.stringContaining('is staged') });
    expect(readFileSync(join(at, 'tasks/t/tests/test.sh'), 'utf8')).toBe('x');
    rmSync(join(place, 'stage/READY'));
    expect(run()).toMatchObject({ exit: 0, out: expect.stringContaining('is on the claim already') });
  });

  test.each<[string, (place: string) => void, string]>([
    ['nothing', (place) => rmSync(join(place, 'stage/READY')), 'the archive did not arrive'],
    [
      'another archive',
      (place) => writeFileSync(join(place, 'stage/bundle.tar.gz'), Bun.gzipSync('x')),
      'the archive arrived with SHA-256',
    ],
    [
      'half of one',
      (place) =>
        writeFileSync(
          join(place, 'stage/bundle.tar.gz'),
          readFileSync(join(place, 'stage/bundle.tar.gz')).subarray(0, 100),
        ),
      "the archive can't be unpacked",
    ],
  ])('leaves nothing behind when there came %s', async (_, change, says) => {
    const { run, at, place } = await stage(bundle(), change);
    expect(run()).toMatchObject({ exit: 1, said: expect.stringContaining(says) });
    expect(existsSync(at)).toBe(false);
    expect(readFileSync(join(place, 'dev/log'), 'utf8')).toContain(says);
  });

  test('tells of one on the claim that was changed', async () => {
    const { run, at } = await stage(bundle());
    run();
    writeFileSync(join(at, 'arms/pi/cli.js'), 'changed');
    expect(run()).toMatchObject({
      exit: 1,
      said: expect.stringContaining('is on the claim and not whole: arms/pi/cli.js'),
    });
  });
});
