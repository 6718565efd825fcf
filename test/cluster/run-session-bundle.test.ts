/** Bundles sent into pods of the cluster: whole, broken, wrong. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { until } from './processes.ts';
import { foreignExecutable } from './registry.ts';
import { makeArtifacts, sealArtifacts } from './session-image.ts';
import {
  type Bed,
  grants,
  jobOf,
  makeBed,
  planned,
  samplesIn,
  session,
  start,
  untilEvent,
  untilNothingIsLeft,
} from './session-runs.ts';
import { admin } from './the-cluster.ts';
import { openTunnel } from './tunnel.ts';

let bed: Bed;
let bundle: string;
beforeAll(async () => {
  bed = await makeBed('bundle', grants().get('k8sbench-bundle')!);
  bundle = join(bed.directory, 'bundle');
  await makeArtifacts(bundle);
}, 120_000);
afterAll(() => bed.remove());

const of = (directory: string, more: Parameters<typeof planned>[1] = {}, by = bed) =>
  planned(by, { ...more, words: ['--bundle', directory, '--base-image', bed.images.base] });

const expectWhole = async (run: Awaited<ReturnType<typeof planned>>, rounds = 3): Promise<void> => {
  const samples = samplesIn(run);
  expect([samples.length, new Set(samples).size]).toEqual([3 * rounds, 3 * rounds]);
  expect(await manifestProblems(run, [])).toEqual([]);
  await untilNothingIsLeft(bed, run);
};

test('a bundle arrives, is measured, and its pod does not linger', async () => {
  const run = await of(bundle);
  const ended = await session(bed, run);
  expect(ended).toMatchObject({ exit: 0 });
  await expectWhole(run);
  const facts = JSON.parse(readFileSync(run.file('pod.log'), 'utf8').split('\n')[0]!);
  const about = JSON.parse(readFileSync(run.file('run.json'), 'utf8'));
  expect(facts).toMatchObject({ delivery: 'bundle', bundleSha256: about.bundleSha256, commit: about.commit });
});

/** A copy of the bundle with one thing changed. */
const changed = (name: string, change: (directory: string) => void): string => {
  const directory = join(bed.directory, name);
  cpSync(bundle, directory, { recursive: true });
  change(directory);
  return directory;
};

describe('a bundle that is wrong', () => {
  test('changed after it was planned', async () => {
    const directory = changed('later', () => undefined);
    const run = await of(directory);
    writeFileSync(join(directory, 'lib/runtimes.mjs'), 'changed');
    const ended = await session(bed, run);
    expect(ended.exit).toBe(1);
    expect(ended.stderr).toMatch(
      /the bundle that was sent has SHA-256 '[0-9a-f]{64}', and '.*' was planned with '[0-9a-f]{64}'; was '.*' changed\? plan again/,
    );
    await untilNothingIsLeft(bed, run);
  });

  test('for another architecture', async () => {
    const directory = changed('other', (one) => {
      writeFileSync(join(one, 'bin/busybox'), foreignExecutable());
      sealArtifacts(one);
    });
    const run = await of(directory);
    // The scheduler would keep it away; the pod's own check is what is tested.
    const manifest = parseForeignYaml(readFileSync(run.file('manifest.yaml'), 'utf8'), 'manifest') as any;
    const terms =
      manifest.spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    for (const term of terms.nodeSelectorTerms)
      term.matchExpressions = term.matchExpressions.filter((one: any) => one.key !== 'kubernetes.io/arch');
    writeFileSync(run.file('manifest.yaml'), JSON.stringify(manifest));
    const ended = await session(bed, run);
    expect(ended.exit).toBe(1);
    expect(ended.stderr).toMatch(/this node is 'a\w+64', the bundle is for 'a\w+64'/);
    await untilNothingIsLeft(bed, run);
  });

  test('larger than the scratch space of its pod', async () => {
    const run = await of(bundle, {
      change(manifest) {
        const { volumes } = manifest.spec.template.spec;
        volumes.find((one: any) => one.name === 'bundle').emptyDir = { medium: 'Memory', sizeLimit: '1Mi' };
      },
    });
    const ended = await session(bed, run);
    expect(ended.exit).toBe(1);
    expect(ended.stderr).toMatch(
      /the pod could not take the bundle: gzip: .*o space left.*; is its scratch space full/,
    );
    await untilNothingIsLeft(bed, run);
  });

  test('for another release of Node', async () => {
    const directory = changed('release', (one) => writeFileSync(join(one, 'VERSIONS'), 'node=v1.2.3\n'));
    const ended = await session(bed, await of(directory));
    expect(ended.exit).toBe(1);
    expect(ended.stderr).toMatch(/the artifacts need node 'v1\.2\.3' \(VERSIONS\), and this place has 'v\d+/);
  });
});

test('a stream that breaks is sent again', async () => {
  const big = changed('big', (one) => {
    // Noise does not compress: the stream takes long enough to be cut.
    const noise = Buffer.alloc(96 << 20);
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
    writeFileSync(join(one, 'lib/noise'), noise);
    sealArtifacts(one);
  });
  const tunnel = await openTunnel(new URL(admin.server));
  const config = JSON.parse(readFileSync(bed.kubeconfig, 'utf8'));
  for (const { cluster } of config.clusters) cluster['proxy-url'] = tunnel.url;
  const through = { ...bed, kubeconfig: join(bed.directory, 'through') };
  writeFileSync(through.kubeconfig, JSON.stringify(config));
  const run = await of(big, {}, through);
  const running = start(through, ['--run', run.name]);
  await untilEvent(run, 'started');
  const { name } = jobOf(run).pod!;
  await until('some of it', async () => {
    const command = ['sh', '-c', '[ "$(cat /bundle/arriving.* | wc -c)" -gt 1000000 ]'];
    const about = { namespace: bed.namespace, pod: name, container: 'bench', stdout: () => undefined };
    return (await admin.exec({ ...about, command })) === 0;
  });
  tunnel.cut();
  const ended = await running.ended;
  tunnel.close();
  expect(ended).toMatchObject({ exit: 0 });
  expect(ended.stderr).toContain('sending the bundle again');
  await expectWhole(run);
});

test.each(['started', 'delivered', 'measuring'])(
  'a runner killed once it was %s: the next one has every sample once',
  async (event) => {
    const run = await of(bundle);
    const first = start(bed, ['--run', run.name]);
    await untilEvent(run, event);
    first.kill('SIGKILL');
    await first.ended;
    const second = await session(bed, run);
    expect(second).toMatchObject({ exit: 0 });
    await expectWhole(run);
  },
);
