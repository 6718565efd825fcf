/** What lands: .ci/run adds up what its two suites count, and never calls a failure a success. */
import { afterAll, expect, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const home = mkdtempSync(join(tmpdir(), 'k8sbench-landing-'));
afterAll(() => rmSync(home, { recursive: true }));
// .ci/run looks for a kit beside its checkout: nobody else's.
const place = join(home, 'checkout');
mkdirSync(join(place, '.ci'), { recursive: true });
cpSync(resolve(import.meta.dir, '../../.ci/run'), join(place, '.ci/run'));
// A make whose suites say what they are told to say.
mkdirSync(join(place, 'bin'));
const make = join(place, 'bin/make');
writeFileSync(
  make,
  `#!/bin/sh
case "$*" in
*test-cluster*) echo "$CLUSTER"; exit "$CLUSTER_STATUS" ;;
*) echo "$HERE"; exit "$HERE_STATUS" ;;
esac
`,
);
chmodSync(make, 0o755);

const landed = (env: Record<string, string>) =>
  Bun.spawnSync(['bash', join(place, '.ci/run')], {
    env: {
      PATH: `${join(place, 'bin')}:${process.env['PATH']}`,
      HERE_STATUS: '0',
      CLUSTER_STATUS: '0',
      ...env,
    },
  });

/** Where `up` of a kit that is there ends with `status`; undefined: there is no kit. */
const landing = (status: number | undefined) => {
  const kit = join(place, 'kit');
  rmSync(kit, { recursive: true, force: true });
  if (status !== undefined) {
    mkdirSync(kit);
    for (const [name, code] of [
      ['up', status],
      ['down', 0],
    ] as const) {
      writeFileSync(join(kit, name), `#!/bin/sh\nexit ${code}\n`);
      chmodSync(join(kit, name), 0o755);
    }
  }
  // Every package is there: nothing is installed.
  const query = join(place, 'bin/dpkg-query');
  writeFileSync(query, '#!/bin/sh\nprintf installed\n');
  chmodSync(query, 0o755);
  const ran = landed({
    ...(status === undefined ? {} : { K8SBENCH_TEST_KUBE: kit }),
    HERE: '5 passed, 0 failed',
    CLUSTER: '7 passed, 0 failed',
  });
  return [ran.exitCode, ...ran.stdout.toString().trimEnd().split('\n').slice(-2)];
};

test('no cluster to be had is no failure; one that is there and does not start is', () => {
  expect(landing(undefined)).toEqual([0, 'the tests on a cluster did not run here', '5 passed, 0 failed']);
  expect(landing(1)).toEqual([1, 'the tests on a cluster could not run here', '5 passed, 1 failed']);
  expect(landing(0)).toEqual([0, '7 passed, 0 failed', '12 passed, 0 failed']);
});

test('files that passed only when run once more are counted over both suites, before the last line', () => {
  const again = (passed: number, ...files: string[]): string =>
    `${files.length} files passed only when run once more: ${files.join(' ')}\n${passed} passed, 0 failed`;
  const ends = (here: string, cluster: string): string[] => {
    const { stdout } = landed({ K8SBENCH_TEST_KUBECONFIG: 'theirs', HERE: here, CLUSTER: cluster });
    return stdout.toString().trimEnd().split('\n').slice(-2);
  };
  const [a, b, c] = ['test/a.test.ts', 'test/b.test.ts', 'test/cluster/c.test.ts'] as const;
  expect(ends(again(5, a, b), again(7, c))).toEqual(again(12, a, b, c).split('\n'));
  expect(ends('5 passed, 0 failed', again(7, c))).toEqual(again(12, c).split('\n'));
});

test.each<[here: string, status: number, cluster: string, status: number, last: string, exit: number]>([
  ['5 passed, 0 failed', 0, 'noise\n7 passed, 0 failed', 0, '12 passed, 0 failed', 0],
  ['5 passed, 1 failed', 1, '7 passed, 0 failed', 0, '12 passed, 1 failed', 1],
  ['5 passed, 0 failed', 0, '7 passed, 2 failed', 1, '12 passed, 2 failed', 1],
  [
    '5 passed, 1 failed\nmake: *** [Makefile:54: test] Error 1',
    2,
    '7 passed, 0 failed',
    0,
    '12 passed, 1 failed',
    1,
  ],
  ['no such compiler', 2, '7 passed, 0 failed', 0, '7 passed, 1 failed', 1],
  ['5 passed, 0 failed', 0, 'no cluster', 1, '5 passed, 1 failed', 1],
  ['5 passed, 0 failed', 0, '7 passed, 0 failed', 3, '12 passed, 1 failed', 1],
])('%j (%d) and %j (%d): %j', (here, status, cluster, clusterStatus, last, exit) => {
  const ran = landed({
    // Somebody's cluster: nothing is installed.
    K8SBENCH_TEST_KUBECONFIG: 'theirs',
    HERE: here,
    HERE_STATUS: String(status),
    CLUSTER: cluster,
    CLUSTER_STATUS: String(clusterStatus),
  });
  expect([ran.stdout.toString().trimEnd().split('\n').at(-1), ran.exitCode]).toEqual([last, exit]);
});
