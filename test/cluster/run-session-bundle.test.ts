/** Bundles sent into pods of the cluster: whole, broken, wrong. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { meet, real, small } from './fault.ts';
import { bundleIn, bundlePlan, changedBundle, OF_BUNDLE } from './fault-table-bundle.ts';
import { until } from './processes.ts';
import { sealArtifacts } from './session-image.ts';
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
  bundle = await bundleIn(bed);
}, 120_000);
afterAll(() => bed.remove());

const of = (directory: string, more: Parameters<typeof planned>[1] = {}, by = bed) =>
  planned(by, { ...more, ...bundlePlan(bed, directory) });
/** Small enough to stand beside others. */
const beside = (directory: string, by = bed, rounds = 3) =>
  of(
    directory,
    {
      rounds,
      change(manifest) {
        real(small(manifest));
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

sideBySide(
  'what is wrong with it, or with its account',
  Object.fromEntries(Object.entries(OF_BUNDLE).map(([name, fault]) => [name, () => meet(bed, fault)])),
  4,
);

const brokenStream = async (): Promise<void> => {
  const big = await changedBundle(bed, 'big', (one) => {
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
  const run = await beside(big, through);
  const running = start(through, ['--run', run.name]);
  await untilEvent(run, 'started');
  const { name } = jobOf(run).pod!;
  await until('some of it', async () => {
    const command = ['sh', '-c', '[ "$(cat /bundle/arriving.*/lib/noise | wc -c)" -gt 1000000 ]'];
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
  const run = await beside(bundle, bed, 40);
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
