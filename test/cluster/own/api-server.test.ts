/** Sessions while their API server is killed, forgets, and stands still. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { blocking } from '../faults.ts';
import { pidOf } from '../processes.ts';
import { type Bed, expectWhole, makeBed, planned, start, untilEvent } from '../session-runs.ts';
import { node2, ownDirectory } from '../the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

let bed: Bed;
beforeAll(async () => {
  bed = await makeBed('api');
}, 120_000);
afterAll(() => bed.remove());

describe('an API server', () => {
  test('killed, its history forgotten, and started again, costs nothing', async () => {
    const run = await planned(bed, { rounds: 60 });
    const first = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    // Its watches come from before what is remembered: they list again.
    blocking(ownDirectory!, 'forget-history');
    const ended = await first.ended;
    expect(ended.exit).toBe(0);
    await expectWhole(bed, run, 60);
  });

  test('that stands still for a minute costs nothing, nor a session that is submitted meanwhile', async () => {
    const [measured, submitted] = [await planned(bed, { rounds: 80 }), await planned(bed, { node: node2 })];
    const first = start(bed, ['--run', measured.name]);
    await untilEvent(measured, 'measuring');
    const server = pidOf(ownDirectory!, 'kube-apiserver')!;
    process.kill(server, 'SIGSTOP');
    const second = start(bed, ['--run', submitted.name]);
    await Bun.sleep(62_000);
    process.kill(server, 'SIGCONT');
    const both = await Promise.all([first.ended, second.ended]);
    expect(both.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(both[1].stderr).toContain('looking whether the Job was made');
    await expectWhole(bed, measured, 80);
    await expectWhole(bed, submitted, 3);
  }, 240_000);
});
