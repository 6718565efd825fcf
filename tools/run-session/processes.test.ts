import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descendantsOf, identityOf, isAlive, killTree, signal } from './processes.ts';

test('a process is known by its pid and its start', async () => {
  const child = Bun.spawn(['sleep', '60']);
  const identity = identityOf(child.pid)!;
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, start_ticks: identity.start_ticks + 1 })).toBe(false);
  child.kill('SIGKILL');
  await child.exited;
  expect(isAlive(identity)).toBe(false);
  expect(identityOf(2 ** 22 + 1)).toBeUndefined();
  signal(child.pid, 'SIGTERM');
});

test('a name with blanks and parentheses does not confuse', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-name-'));
  const program = join(scratch, 'a) R 1 (');
  symlinkSync(process.execPath, program);
  const child = Bun.spawn([program, '-e', 'setTimeout(() => undefined, 60_000)']);
  const identity = identityOf(child.pid)!;
  expect(identity.start_ticks).toBeGreaterThan(0);
  expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toBe('a) R 1 (\n');
  expect(isAlive(identity)).toBe(true);
  expect(descendantsOf(process.pid)).toContain(child.pid);
  child.kill('SIGKILL');
  await child.exited;
  rmSync(scratch, { recursive: true });
});

test('a process is killed with everything below it, and nobody else', async () => {
  const other = Bun.spawn(['sleep', '60']);
  const root = Bun.spawn(['bash', '-c', 'sleep 61 & bash -c "sleep 62 & wait" & echo ready; wait'], {
    stdout: 'pipe',
  });
  await root.stdout.getReader().read();
  while (descendantsOf(root.pid).length < 3) await Bun.sleep(5);
  const below = descendantsOf(root.pid).map((pid) => identityOf(pid)!);
  killTree(identityOf(root.pid)!);
  await root.exited;
  for (let tries = 0; tries < 200 && below.some(isAlive); tries++) await Bun.sleep(5);
  expect(below.filter(isAlive)).toEqual([]);
  expect(isAlive(identityOf(other.pid)!)).toBe(true);
  // Its pid may belong to somebody else by now: a start that doesn't fit is left alone.
  killTree({ pid: other.pid, start_ticks: 1 });
  expect(isAlive(identityOf(other.pid)!)).toBe(true);
  other.kill('SIGKILL');
});
