/** Faults of the API server, one after another: fault → message → exit status. A session costs nothing by them, and loses nothing. */
import { expect } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, real } from './fault.ts';
import { bundlePlan, changedBundle } from './fault-table-bundle.ts';
import { blocking, killApiServer, restartControllers, startApiServer } from './faults.ts';
import { pidOf, until } from './processes.ts';
import { sealArtifacts } from './session-image.ts';
import { type Bed, expectWhole, jobOf, planned, start } from './session-runs.ts';
import { node2, ownDirectory } from './the-cluster.ts';

const measuring = (
  rounds: number,
): Pick<Fault, 'plan' | 'change' | 'at' | 'after' | 'exit' | 'says' | 'words'> => ({
  plan: { rounds },
  // Nodes, too, are thought to be away once the server is back: as patient as people's runs are.
  words: [],
  change: real,
  at: 'measuring',
  exit: 0,
  says: new RegExp(`${rounds} of ${rounds} rounds done`),
  after: ({ bed, run }) => expectWhole(bed, run, rounds),
});

/** Takes seconds to send, however it is compressed. */
const largeBundle = (bed: Bed): Promise<string> =>
  changedBundle(bed, 'large', (directory) => {
    writeFileSync(join(directory, 'lib/noise'), randomBytes(200 << 20));
    sealArtifacts(directory);
  });

/** How much of it has arrived in a pod, bytes: seen on its node, as whatever runs in the pod takes turns with what receives it. */
const noiseIn = (uid: string): number => {
  const volumes = join(ownDirectory!, 'node-1/kubelet/pods', uid, 'volumes/kubernetes.io~empty-dir/bundle');
  const [noise] = new Bun.Glob('arriving.*/lib/noise').scanSync({ cwd: volumes, absolute: true });
  return noise === undefined ? 0 : statSync(noise).size;
};

export const OF_SERVER: Readonly<Record<string, Fault>> = {
  'an API server that is killed, and started again': {
    ...measuring(60),
    async happens() {
      blocking(ownDirectory!, 'kill-api-server');
      blocking(ownDirectory!, 'start-api-server');
    },
  },
  // Its watches come from before what is remembered: they list again.
  'watches that expired: an API server that has forgotten its history (410)': {
    ...measuring(60),
    happens: async () => blocking(ownDirectory!, 'forget-history'),
  },
  'an API server that stands still for a minute, while another session is submitted': {
    ...measuring(80),
    async happens({ bed }) {
      const submitted = await planned(bed, { node: node2 });
      const server = pidOf(ownDirectory!, 'kube-apiserver')!;
      process.kill(server, 'SIGSTOP');
      const second = start(bed, ['--run', submitted.name]);
      await Bun.sleep(62_000);
      process.kill(server, 'SIGCONT');
      return async () => {
        const ended = await second.ended;
        expect(ended.stderr).toContain('looking whether the Job was made');
        expect(ended.exit).toBe(0);
        await expectWhole(bed, submitted, 3);
      };
    },
  },
  // Longer than a broken stream is sent again at once; it is as patient as with everything else.
  'an API server that is away while a bundle is sent': {
    ...measuring(3),
    plan: async (bed) => ({ ...bundlePlan(bed, await largeBundle(bed)), rounds: 3 }),
    at: 'started',
    async happens({ run }) {
      await until('some of it', () => noiseIn(jobOf(run).pod!.uid) > 1_000_000);
      await killApiServer(ownDirectory!);
      await Bun.sleep(35_000);
      await startApiServer(ownDirectory!);
      // By themselves they would look again after a pause.
      await restartControllers(ownDirectory!);
    },
    says: /sending the bundle again.*3 of 3 rounds done/s,
  },
};
