import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'bun:test';
import { machineAt } from '../../shared/machine.ts';
import { launch } from './launch.ts';
import { StartCost } from './start-cost.ts';

const cost = new StartCost(machineAt('/'));

test("a start costs the runtime's CPU time, and the shortest wait of all starts so far", () => {
  const starts: readonly (readonly [tookMs: number, cpuMs: number, costs: number])[] = [
    [2, 0.75, 2],
    // The runtime came back late: the program was there already.
    [6, 0.75, 2],
    [1.25, 0.75, 1.25],
    [6, 1, 1.5],
    // Where only the time of all threads is known.
    [1, 3, 1],
    [6, 1, 1],
  ];
  const one = new StartCost(machineAt('/nowhere'));
  for (const [tookMs, cpuMs, costs] of starts)
    expect([tookMs, one.of(tookMs, cpuMs)]).toEqual([tookMs, costs]);
});

test('CPU time is what this thread used, told at once', () => {
  const before = cost.cpuMs();
  const until = process.cpuUsage().user + 20_000;
  while (process.cpuUsage().user < until);
  expect(cost.cpuMs()).toBeGreaterThan(before);
  expect(new StartCost(machineAt('/nowhere')).cpuMs()).toBeGreaterThan(0);
});

test("a process's time is at most the time around it", async () => {
  const nowhere = openSync('/dev/null', 'w');
  const words = { argv: ['sleep', '0.05'], cwd: '/', env: { PATH: process.env['PATH']! } };
  const running = await launch({ ...words, stdout: nowhere, stderr: nowhere }, cost);
  const { status, wallMs, outerMs } = await running.ended;
  closeSync(nowhere);
  expect(status).toBe(0);
  expect(wallMs).toBeGreaterThan(0);
  expect(wallMs).toBeLessThanOrEqual(outerMs);
});
