/** Faults of the API server, one after another: fault → message → exit status. A session costs nothing by them, and loses nothing. */
import { expect } from 'bun:test';
import { type Fault, real } from './fault.ts';
import { blocking } from './faults.ts';
import { pidOf } from './processes.ts';
import { expectWhole, planned, start } from './session-runs.ts';
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
};
