/** Parts that watch processes and the machine, against real ones. */
import { afterAll, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOnItsWay, otherAffinity } from './affinity.ts';
import { allowedListOf } from '../../shared/cpu-list.ts';
import { describedMachine } from '../../test/described-machine.ts';
import { Leftovers, MARKER } from './leftovers.ts';
import { machineAt } from '../../shared/machine.ts';
import { OutputPipe } from './output-pipe.ts';
import { dirtyBytes, Settle } from './settle.ts';
import { speedProbeHere, startSpeedProbe } from './speed-probe.ts';

const machine = machineAt('/');
const directory = mkdtempSync(join(tmpdir(), 'k8sbench-processes-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Starts a shell in a session of its own and waits for the line it prints: the id of a process. */
const shell = async (
  script: string,
  env: Record<string, string> = {},
): Promise<{ pid: number; said: number }> => {
  const child = spawn('sh', ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH']!, ...env },
  });
  const said = await new Promise<string>((resolve) =>
    child.stdout.once('data', (part) => resolve(String(part))),
  );
  return { pid: child.pid!, said: Number(said.trim()) };
};

const isAlive = (pid: number): boolean => {
  const stat = machine.read(`/proc/${pid}/stat`);
  return typeof stat === 'string' && !/\) [ZX] /.test(stat);
};

describe('left-overs', () => {
  test('a process of the group, one that carries the marker, and nobody else', async () => {
    const leftovers = new Leftovers(machine, undefined, 'm1', false);
    // Not a child of ours: those count as left behind whatever they carry.
    const foreign = await shell("setsid -f sh -c 'echo $$; exec sleep 30'", { [MARKER]: 'another' });
    const grouped = await shell('sleep 30 & echo $!; wait');
    const daemon = await shell("setsid sh -c 'echo $$; exec sleep 30'", { [MARKER]: 'm1' });
    const left = await leftovers.clear([grouped.pid], 0);
    expect(left.map((one) => one.pid)).toEqual(
      expect.arrayContaining([grouped.pid, grouped.said, daemon.said]),
    );
    expect(left.map((one) => one.pid)).not.toContain(foreign.said);
    expect([grouped.said, daemon.said].map(isAlive)).toEqual([false, false]);
    expect(isAlive(foreign.said)).toBe(true);
    process.kill(foreign.said, 'SIGKILL');
    expect(await leftovers.clear([grouped.pid], 0)).toEqual([]);
  });

  test('what ends by itself within a moment was not left behind', async () => {
    const leftovers = new Leftovers(machine, undefined, 'm2', false);
    const short = await shell('sleep 0.05 & echo $!', { [MARKER]: 'm2' });
    expect(await leftovers.clear([short.pid], 5000)).toEqual([]);
  });

  test('what was there before is not looked at', async () => {
    const before = await shell('echo $$; exec sleep 30', { [MARKER]: 'm3' });
    const leftovers = new Leftovers(machine, undefined, 'm3', false);
    expect(await leftovers.clear([before.pid], 0)).toEqual([]);
    process.kill(before.said, 'SIGKILL');
  });
});

describe('affinity', () => {
  test('of a process and its descendants', async () => {
    const own = allowedListOf(machine.read('/proc/self/status'))!;
    const tree = await shell('sleep 30 & echo $!; wait');
    while (machine.word(`/proc/${tree.said}/comm`) !== 'sleep') await Bun.sleep(1);
    expect(otherAffinity(machine, tree.pid, own)).toBeUndefined();
    expect(otherAffinity(machine, tree.pid, 'none')).toEqual({ cpus: own, name: 'sh' });
    const first = String(own.split(/[,-]/)[0]);
    Bun.spawnSync(['taskset', '-cp', first, String(tree.said)]);
    // On a machine with a single core there is no other affinity to be seen.
    expect(otherAffinity(machine, tree.pid, own)).toEqual(
      own === first ? undefined : { cpus: first, name: 'sleep' },
    );
    process.kill(-tree.pid, 'SIGKILL');
  });

  test.each<[string, string, string, boolean]>([
    ['taskset', 'taskset\0-c\x000\0sleep\0', 'taskset', true],
    ['a copy of the harness, before its exec', 'bun\0pod.mjs\0', 'bun', true],
    ['the target', 'sleep\x001\0', 'sleep', false],
    ['a target on the runtime of the harness', 'bun\0target.ts\0', 'bun', false],
    ['one that is ending', '', 'sleep', false],
  ])('of a process on its way to the target: %s', (_, cmdline, name, wanted) => {
    const all: Record<string, string> = {
      '/proc/self/cmdline': 'bun\0pod.mjs\0',
      '/proc/7/cmdline': cmdline,
    };
    const described = { ...machine, read: (path: string) => all[path] };
    expect(isOnItsWay(described, 7, { cpus: '0-1', name })).toBe(wanted);
    expect(isOnItsWay({ ...machine, read: () => '' }, 7, { cpus: '0-1', name: 'bun' })).toBe(false);
  });

  test('of a process that is gone there is nothing to say', () => {
    expect(otherAffinity(machine, 2 ** 22 + 1, '0')).toBeUndefined();
  });
});

describe('the output pipe', () => {
  test('gives what was written, until the last writer is gone, again and again', async () => {
    const pipe = new OutputPipe(join(directory, 'pipe'));
    for (const text of ['first', '', 'x'.repeat(300_000)]) {
      const writer = pipe.writer();
      const parts: string[] = [];
      const drained = pipe.drain((part) => void parts.push(part.toString()));
      for (let at = 0; at < text.length; at += 50_000) {
        writeSync(writer, text.slice(at, at + 50_000));
        await Bun.sleep(1);
      }
      closeSync(writer);
      await drained;
      expect(parts.join('') === text).toBe(true);
    }
    pipe.close();
  });

  test('can be closed while somebody still holds it', async () => {
    const pipe = new OutputPipe(join(directory, 'held'));
    const writer = pipe.writer();
    const parts: string[] = [];
    const drained = pipe.drain((part) => void parts.push(part.toString()));
    writeSync(writer, 'before');
    while (parts.length === 0) await Bun.sleep(1);
    pipe.close();
    await drained;
    // Nobody reads any more: what the holder says later is nowhere.
    expect(() => writeSync(writer, 'after')).toThrow('EPIPE');
    closeSync(writer);
    expect(parts.join('')).toBe('before');
  });

  test('that can not be made says so, and is no bug of ours', () => {
    const nowhere = join(directory, 'absent', 'pipe');
    expect(() => new OutputPipe(nowhere)).toThrow(
      expect.objectContaining({
        code: 'system',
        message: expect.stringMatching(
          /^can't make a pipe at '.*absent\/pipe': .*; let TMPDIR be another directory$/,
        ),
      }),
    );
  });
});

describe('settling', () => {
  test('dirty and writeback pages count', () => {
    const described = describedMachine('x86-static-v2');
    expect(dirtyBytes(described.read('/proc/meminfo')!)).toBe(1032 * 1024);
    expect(dirtyBytes('MemTotal: 1 kB\n')).toBeUndefined();
    expect(dirtyBytes(undefined)).toBeUndefined();
    rmSync(described.root, { recursive: true });
  });

  test('says how long it took; nothing where nothing is known', async () => {
    const never = new AbortController().signal;
    const settle = new Settle(machine, directory);
    expect(await settle.wait(never)).toEqual({
      settleMs: expect.any(Number),
      dirtyBytes: expect.any(Number),
    });
    settle.close();
    // Much is dirty there: the disk is waited for, unless the session must stop.
    const busy = describedMachine('x86-shared-v2');
    const dirty = { settleMs: expect.any(Number), dirtyBytes: 20480 * 1024 };
    expect(await new Settle(busy, directory).wait(never)).toEqual(dirty);
    const stopping = new AbortController();
    const waiting = new Settle(busy, directory).wait(stopping.signal);
    stopping.abort();
    expect(await waiting).toEqual(dirty);
    rmSync(busy.root, { recursive: true });
    const described = describedMachine('x86-no-cgroup');
    const unknown = new Settle(described, directory);
    expect(await unknown.wait(never)).toEqual({});
    rmSync(described.root, { recursive: true });
  });
});

describe('the speed probe', () => {
  test('answers with a time, each time anew', async () => {
    const cpus = allowedListOf(machine.read('/proc/self/status'))!;
    for (const probe of [speedProbeHere(), await startSpeedProbe(cpus, 'taskset')]) {
      if (typeof probe === 'string') throw new Error(probe);
      for (let at = 0; at < 5; at++) {
        probe.ask();
        expect(probe.answer().probeUsec).toBeGreaterThan(0);
      }
      probe.close();
    }
  });

  test('says why it cannot be pinned', async () => {
    expect(await startSpeedProbe('0', '/does/not/exist')).toStartWith("the speed probe can't run");
  });
});
