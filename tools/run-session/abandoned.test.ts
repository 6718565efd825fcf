import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdData, removeAbandonedData, removeAbandonedLeaves } from './abandoned.ts';
import { MARK } from './leftovers.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-abandoned-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const later = Date.now() + 3_600_000;
/** An id that no process has. */
const DEAD = 2 ** 22 + 1;

test('cgroups of dead runners go; those of living ones, young ones, busy ones and others stay', () => {
  const parent = join(scratch, 'cgroup');
  const gone = [`k8sbench-run-${DEAD}`, `k8sbench-cmp-c0-20260102-030405-${DEAD}`];
  const stay = [`k8sbench-run-${process.pid}`, `k8sbench-busy-${DEAD}`, `run-${DEAD}`, 'k8sbench-run'];
  for (const name of [...gone, ...stay]) mkdirSync(join(parent, name), { recursive: true });
  mkdirSync(join(parent, gone[0]!, 'k8sbench-session-7'));
  // As a cgroup with members, it can't be removed.
  writeFileSync(join(parent, stay[1]!, 'member'), '');
  removeAbandonedLeaves(parent, Date.now());
  expect(readdirSync(parent)).toHaveLength(6);
  removeAbandonedLeaves(parent, later);
  expect(readdirSync(parent).toSorted()).toEqual(stay.toSorted());
  removeAbandonedLeaves(join(scratch, 'missing'), later);
});

/** Makes a directory of fixtures as a runner does that is killed then. */
const killedWith = (data: string): void => {
  mkdirSync(join(data, 'old', '50'), { recursive: true });
  const script = `import { holdData } from '${import.meta.dir}/abandoned.ts'; holdData(${JSON.stringify(data)}); process.kill(process.pid, 'SIGKILL')`;
  expect(Bun.spawnSync([process.execPath, '-e', script]).signalCode).toBe('SIGKILL');
};

test('fixtures of dead runners go; those that are held, kept, in use, young or not ours stay', async () => {
  const temporary = join(scratch, 'tmp');
  const at = (name: string): string => join(temporary, name);
  killedWith(at('k8sbench-run-0123abcd'));
  killedWith(at('k8sbench-used-0123abcd'));
  killedWith(at('other-run-0123abcd'));
  for (const name of ['k8sbench-held-0123abcd', 'k8sbench-kept-0123abcd']) mkdirSync(at(name));
  symlinkSync(at('other-run-0123abcd'), at('k8sbench-link-0123abcd'));
  const release = holdData(at('k8sbench-held-0123abcd'));
  const user = Bun.spawn(['sleep', '60'], { env: { ...process.env, [MARK]: at('k8sbench-used-0123abcd') } });
  await removeAbandonedData(temporary, Date.now());
  expect(readdirSync(temporary)).toHaveLength(6);
  await removeAbandonedData(temporary, later);
  expect(existsSync(at('k8sbench-run-0123abcd'))).toBe(false);
  expect(readdirSync(temporary)).toHaveLength(5);
  release();
  user.kill();
  await user.exited;
  await removeAbandonedData(temporary, later);
  expect(readdirSync(temporary).toSorted()).toEqual([
    'k8sbench-kept-0123abcd',
    'k8sbench-link-0123abcd',
    'other-run-0123abcd',
  ]);
  await removeAbandonedData(join(scratch, 'missing'), later);
});
