import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Machine, machineAt } from '../../shared/machine.ts';
import { killMembers, parentOfLeaf, removeLeaf } from './accounting-cgroup.ts';

const V1 = `32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime shared:7 - cgroup cgroup rw,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`;
const V1_OWN = '3:cpuacct:/jobs/a\n2:cpu:/jobs/b\n0::/c';
const JOINT = '33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct';
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';

describe('the cgroup under which a leaf is made (described machines)', () => {
  test.each<[string, { mountinfo: string; cgroup: string }, Record<string, string>, string | undefined]>([
    ['v1, own mount', { mountinfo: V1, cgroup: V1_OWN }, {}, '/sys/fs/cgroup/cpuacct/jobs/a'],
    [
      'v1, own mount, under a quota: the quota is in another hierarchy',
      { mountinfo: V1, cgroup: V1_OWN },
      {
        '/sys/fs/cgroup/cpu/jobs/b/cpu.cfs_quota_us': '100000',
        '/sys/fs/cgroup/cpu/jobs/b/cpu.cfs_period_us': '100000',
      },
      '/sys/fs/cgroup/cpuacct/jobs/a',
    ],
    ['v1, joint', { mountinfo: JOINT, cgroup: '4:cpu,cpuacct:/x' }, {}, '/sys/fs/cgroup/cpu,cpuacct/x'],
    [
      'v1, joint, without a quota',
      { mountinfo: JOINT, cgroup: '4:cpu,cpuacct:/x' },
      {
        '/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us': '100000',
      },
      '/sys/fs/cgroup/cpu,cpuacct/x',
    ],
    [
      'v1, joint, under a quota above it',
      { mountinfo: JOINT, cgroup: '4:cpu,cpuacct:/a/b' },
      {
        '/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '50000\n',
        '/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us': '100000',
      },
      undefined,
    ],
    ['v2', { mountinfo: V2, cgroup: '0::/user.slice/a.scope' }, {}, '/sys/fs/cgroup/user.slice/a.scope'],
    [
      'v2 without a quota',
      { mountinfo: V2, cgroup: '0::/a/b' },
      { '/sys/fs/cgroup/a/b/cpu.max': 'max 100000\n', '/sys/fs/cgroup/a/cpu.max': 'max 100000\n' },
      '/sys/fs/cgroup/a/b',
    ],
    [
      'v2 under a quota above it',
      { mountinfo: V2, cgroup: '0::/a/b' },
      { '/sys/fs/cgroup/a/cpu.max': '200000 100000\n' },
      undefined,
    ],
    [
      'a container: its own cgroup is the mount',
      { mountinfo: '30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup ro', cgroup: '0::/docker/1' },
      {},
      '/sys/fs/cgroup',
    ],
    [
      'a container: its own cgroup lies outside what is mounted',
      { mountinfo: '30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup ro', cgroup: '0::/../../x' },
      {},
      '/sys/fs/cgroup',
    ],
    [
      'a mount point with a blank',
      { mountinfo: '30 23 0:26 / /a\\040b rw - cgroup2 cgroup rw', cgroup: '0::/c' },
      {},
      '/a b/c',
    ],
    ['no cgroups', { mountinfo: '1 0 8:1 / / rw - ext4 /dev/sda rw', cgroup: '' }, {}, undefined],
    ['nothing readable', { mountinfo: '', cgroup: '' }, {}, undefined],
  ])('%s', (_, { mountinfo, cgroup }, files, wanted) => {
    const all: Record<string, string> = {
      '/proc/self/mountinfo': mountinfo,
      '/proc/self/cgroup': cgroup,
      ...files,
    };
    const machine: Machine = {
      ...machineAt('/none'),
      read: (path) => all[path],
      word: (path) => all[path]?.trim(),
    };
    expect(parentOfLeaf(machine)).toBe(wanted);
  });
});

describe('what is left in a leaf', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-leaf-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  test('is killed, also below it; ourselves and members that can not be seen are left alone', async () => {
    const leaf = join(scratch, 'leaf');
    mkdirSync(join(leaf, 'inner'), { recursive: true });
    const [one, two] = [Bun.spawn(['sleep', '60']), Bun.spawn(['sleep', '60'])];
    writeFileSync(join(leaf, 'cgroup.procs'), `${one.pid}\n0\n${process.pid}\n`);
    writeFileSync(join(leaf, 'inner', 'cgroup.procs'), `${two.pid}\n`);
    expect(killMembers(leaf)).toBe(2);
    await Promise.all([one.exited, two.exited]);
    expect([one.signalCode, two.signalCode]).toEqual(['SIGKILL', 'SIGKILL']);
    expect(killMembers(join(scratch, 'missing'))).toBe(0);
  });

  test('is removed with its inner groups; what can not be removed says so', () => {
    const leaf = join(scratch, 'empty');
    mkdirSync(join(leaf, 'inner', 'deeper'), { recursive: true });
    expect(removeLeaf(leaf)).toBe(true);
    expect(existsSync(leaf)).toBe(false);
    expect(removeLeaf(leaf)).toBe(true);
    mkdirSync(leaf);
    writeFileSync(join(leaf, 'busy'), '');
    expect(removeLeaf(leaf)).toBe(false);
  });
});
