/** Bundles sent into pods of the cluster: whole, broken, wrong. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { real, small } from './fault.ts';
import { until } from './processes.ts';
import { foreignExecutable } from './registry.ts';
import { makeArtifacts, sealArtifacts } from './session-image.ts';
import {
  type Bed,
  expectWhole,
  grants,
  jobOf,
  makeBed,
  planned,
  session,
  start,
  untilEvent,
  untilNothingIsLeft,
} from './session-runs.ts';
import { sideBySide } from './side-by-side.ts';
import { admin } from './the-cluster.ts';
import { openTunnel } from './tunnel.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

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
/** Small enough to stand beside others. */
const beside = (directory: string, change?: (spec: any) => void, by = bed, rounds = 3) =>
  of(
    directory,
    {
      rounds,
      change(manifest) {
        real(small(manifest));
        change?.(manifest.spec.template.spec);
      },
    },
    by,
  );

test('a bundle arrives, is measured, and its pod does not linger', async () => {
  const run = await of(bundle, { profile: 'durable-store' });
  const ended = await session(bed, run);
  expect(ended).toMatchObject({ exit: 0 });
  await expectWhole(bed, run, 3);
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

sideBySide(
  'a bundle that is wrong',
  {
    async 'changed after it was planned'() {
      const directory = changed('later', () => undefined);
      const run = await beside(directory);
      writeFileSync(join(directory, 'lib/runtimes.mjs'), 'changed');
      const ended = await session(bed, run);
      expect(ended.exit).toBe(1);
      expect(ended.stderr).toMatch(
        /the bundle that was sent has SHA-256 '[0-9a-f]{64}', and '.*' was planned with '[0-9a-f]{64}'; was '.*' changed\? plan again/,
      );
      await untilNothingIsLeft(bed, run);
    },

    async 'for another architecture'() {
      const directory = changed('other', (one) => {
        writeFileSync(join(one, 'bin/busybox'), foreignExecutable());
        sealArtifacts(one);
      });
      // The scheduler would keep it away; the pod's own check is what is tested.
      const run = await beside(directory, ({ affinity }) => {
        const terms = affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
        for (const term of terms.nodeSelectorTerms)
          term.matchExpressions = term.matchExpressions.filter(
            (one: any) => one.key !== 'kubernetes.io/arch',
          );
      });
      const ended = await session(bed, run);
      expect(ended.exit).toBe(1);
      expect(ended.stderr).toMatch(/this node is 'a\w+64', the bundle is for 'a\w+64'/);
      await untilNothingIsLeft(bed, run);
    },

    async 'larger than the scratch space of its pod'() {
      const run = await beside(bundle, ({ volumes }) => {
        volumes.find((one: any) => one.name === 'bundle').emptyDir = { medium: 'Memory', sizeLimit: '1Mi' };
      });
      const ended = await session(bed, run);
      expect(ended.exit).toBe(1);
      expect(ended.stderr).toMatch(/the pod could not take the bundle: gzip: .+; is its scratch space full/);
      await untilNothingIsLeft(bed, run);
    },

    async 'for another release of Node'() {
      const directory = changed('release', (one) => writeFileSync(join(one, 'VERSIONS'), 'node=v1.2.3\n'));
      const ended = await session(bed, await beside(directory));
      expect(ended.exit).toBe(1);
      expect(ended.stderr).toMatch(
        /the artifacts need node 'v1\.2\.3' \(VERSIONS\), and this place has 'v\d+/,
      );
    },
  },
  4,
);

const brokenStream = async (): Promise<void> => {
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
  const run = await beside(big, undefined, through);
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
  await expectWhole(bed, run, 3);
};

const killedOnce = async (event: string): Promise<void> => {
  const run = await beside(bundle, undefined, bed, 40);
  const first = start(bed, ['--run', run.name]);
  await untilEvent(run, event);
  first.kill('SIGKILL');
  await first.ended;
  const second = await session(bed, run);
  expect(second).toMatchObject({ exit: 0 });
  await expectWhole(bed, run, 40);
};

sideBySide(
  'a delivery that is interrupted',
  {
    'a stream that breaks is sent again': brokenStream,
    ...Object.fromEntries(
      ['started', 'delivered', 'measuring'].map((event) => [
        `a runner killed once it was ${event}: the next one has every sample once`,
        () => killedOnce(event),
      ]),
    ),
  },
  4,
);
