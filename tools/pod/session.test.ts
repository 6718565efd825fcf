/** Whole sessions in this process, on described machines: what the machine at hand can't show. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { logLine } from '../../schemas/log.ts';
import { type Described, describedMachine } from '../../test/described-machine.ts';
import { type Ending, runSession } from './session.ts';

const directory = mkdtempSync(join(tmpdir(), 'k8sbench-session-'));
afterAll(() => rmSync(directory, { recursive: true }));

type Line = Record<string, unknown>;

/** A session of two plain commands on a described machine, without a pin: its cores need not be there. */
const sessionOn = async (
  machine: Described,
  command: string[],
  change: Line = {},
): Promise<Ending & { lines: Line[] }> => {
  const lines: Line[] = [];
  const plan = {
    format: 'compact-plan/1',
    run: 'x',
    mode: 'compare',
    profile: {
      name: 'p',
      rule: 'p',
      about: '',
      repeat: 2,
      targets: [
        { name: 'new', role: 'candidate', command },
        { name: 'old', role: 'reference', command: ['true'] },
      ],
    },
    turns: [2],
    rounds: 3,
    warmupRounds: 0,
    order: 'rotate',
    orderSeed: 0,
    pin: 'none',
    cpus: 2,
    allowFrequencyScaling: false,
    delivery: 'local',
    limits: { step_s: 20, session_s: 60, stdout_bytes: 1024 },
    ...change,
  };
  const ending = await runSession({
    plan: async () => JSON.stringify(plan),
    env: { PATH: process.env['PATH'], K8SBENCH_DATA: directory },
    cwd: directory,
    host: 'described',
    machine,
    output: {
      closed: false,
      write: async (text) => {
        for (const one of text.trimEnd().split('\n')) {
          const line = JSON.parse(one) as Line;
          v.parse(logLine, line);
          lines.push(line);
        }
      },
    },
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    random: (bytes) => new Uint8Array(bytes),
    interrupted: new AbortController().signal,
  });
  rmSync(machine.root, { recursive: true });
  return { ...ending, lines };
};

const kinds = (lines: readonly Line[]): string => lines.map((line) => line['t']).join(' ');

describe('a session on a described machine', () => {
  test('scaling clocks are refused, after the facts and the pin were written', async () => {
    const { exit, error, lines } = await sessionOn(describedMachine('x86-no-cgroup'), ['true']);
    expect({ exit, code: error?.code, kinds: kinds(lines) }).toEqual({
      exit: 1,
      code: 'clock',
      kinds: 'facts pin error end',
    });
    expect(error!.message).toContain("core 1 'unreadable'");
    expect(lines[1]).toMatchObject({
      governors: { '0': 'performance', '1': 'unreadable' },
      fixedClock: false,
    });
  });

  test('with the flag they are measured, and said to scale', async () => {
    const machine = describedMachine('x86-no-cgroup');
    const { exit, lines } = await sessionOn(machine, ['true'], { allowFrequencyScaling: true });
    expect(exit).toBe(0);
    expect(lines[0]).toMatchObject({
      node: 'described',
      cgroup: 'none',
      cgroupReason: 'no cgroup hierarchy is mounted',
      cpuAccounting: 'process',
      cpuAccountingReason: 'no cgroup hierarchy is mounted',
      at: '2026-01-02T03:04:05.000Z',
    });
    expect(lines[1]).toMatchObject({ fixedClock: false, gomaxprocs: 2, cpus: '0-1' });
    const cpu = lines.filter((line) => line['t'] === 'cpu');
    expect(cpu.length).toBe(8);
    for (const line of cpu) {
      // What the machine doesn't count is null or absent, never 0.
      expect(line).toMatchObject({ nrPeriods: null, nrThrottled: null, throttledUsec: null });
      for (const key of ['mhz', 'stealUsec', 'psiCpuSomeUsec', 'ioReadBytes', 'settleMs', 'dirtyBytes'])
        expect(line).not.toHaveProperty(key);
    }
  });

  test('the clock of each step is recorded, also of one shorter than a tick', async () => {
    const { exit, lines } = await sessionOn(describedMachine('x86-static-v2'), ['true']);
    expect(exit).toBe(0);
    for (const line of lines.filter((one) => one['t'] === 'cpu'))
      expect(line).toMatchObject({ mhz: 2005, mhzMin: 2005, mhzMax: 2005 });
  });

  const CHANGES: [string, string, string][] = [
    ['governor', '/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor', 'powersave'],
    ['cpuset', '/sys/fs/cgroup/cpuset.cpus.effective', '1'],
    ['affinity', '/proc/self/status', 'Cpus_allowed_list:\t1'],
  ];
  for (const [code, path, text] of CHANGES)
    test(`a ${code} that changes during a step voids the session`, async () => {
      const machine = describedMachine('x86-static-v2');
      const change = ['sh', '-c', `test {sample} -eq 1 && echo '${text}' > ${machine.root}${path}; exit 0`];
      const { exit, error, lines } = await sessionOn(machine, change);
      expect({ exit, code: error?.code }).toEqual({ exit: 5, code: code as never });
      expect(lines.at(-2)).toMatchObject({ t: 'error', code, invalid: true });
      // Round 0 of both, and in round 1 the other target, which comes first there.
      expect(lines.filter((line) => line['t'] === 'sample').length).toBe(3);
    });

  test('a bad plan is an error line too, and the only one', async () => {
    const { exit, lines } = await sessionOn(describedMachine('x86-no-cgroup'), ['true'], { cpus: 0 });
    expect({ exit, kinds: kinds(lines) }).toEqual({ exit: 2, kinds: 'error end' });
  });
});
