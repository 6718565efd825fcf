import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'bun:test';
import { launch, StartCost } from './launch.ts';

test('a start costs its CPU time, and the shortest wait of all starts so far', () => {
  const cost = new StartCost();
  const starts: readonly (readonly [tookMs: number, cpuMs: number, costs: number])[] = [
    [2, 0.75, 2],
    // The runtime came back late: the program was there already.
    [6, 0.75, 2],
    [1.25, 0.75, 1.25],
    [6, 1, 1.5],
    // CPU time is that of all the runtime's threads.
    [1, 3, 1],
    [6, 1, 1],
  ];
  for (const [tookMs, cpuMs, costs] of starts)
    expect([tookMs, cost.of(tookMs, cpuMs)]).toEqual([tookMs, costs]);
});

test("a process's time is part of the time around it", async () => {
  const nowhere = openSync('/dev/null', 'w');
  const cost = new StartCost();
  const words = { argv: ['sleep', '0.05'], cwd: '/', env: { PATH: process.env['PATH']! } };
  const running = await launch({ ...words, stdout: nowhere, stderr: nowhere }, cost);
  const { status, wallMs, outerMs } = await running.ended;
  closeSync(nowhere);
  expect(status).toBe(0);
  expect(wallMs).toBeGreaterThan(0);
  expect(wallMs).toBeLessThan(outerMs);
});
