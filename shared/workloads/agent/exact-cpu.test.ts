/** Which cgroup's count is the agent's, on described machines. Times of this process are in every reading, and small. */
import { expect, test } from 'bun:test';
import { ExactCpu } from '../lib/agent/exact-cpu.ts';
import type { Proc } from '../lib/agent/tree.ts';

const SECOND = 1000;
const V2 = '30 20 0:26 ROOT /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw';
const V1 = '31 20 0:27 ROOT /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct';

const machine = (files: Record<string, string>): Proc => ({
  read: (path) => files[path],
  list: (path) => (path === '/proc/77/task' ? ['77'] : []),
});
const usage = { v2: 'usage_usec 100000000\nuser_usec 1\n', v1: '100000000000\n' };

test.each<[string, Record<string, string>, boolean]>([
  [
    'a cgroup of its own, v2',
    {
      '/proc/self/mountinfo': V2.replace('ROOT', '/'),
      '/proc/self/cgroup': '0::/own\n',
      '/sys/fs/cgroup/own/cpu.stat': usage.v2,
    },
    true,
  ],
  [
    'a container that sees itself as the top, v2',
    {
      '/proc/self/mountinfo': V2.replace('ROOT', '/'),
      '/proc/self/cgroup': '0::/\n',
      '/proc/1/cgroup': '0::/\n',
      '/sys/fs/cgroup/cpu.stat': usage.v2,
    },
    true,
  ],
  [
    "the whole machine's, v2",
    {
      '/proc/self/mountinfo': V2.replace('ROOT', '/'),
      '/proc/self/cgroup': '0::/\n',
      '/proc/1/cgroup': '0::/\n',
      '/proc/2/comm': 'kthreadd\n',
      '/sys/fs/cgroup/cpu.stat': usage.v2,
    },
    false,
  ],
  [
    'a cgroup of its own, v1',
    {
      '/proc/self/mountinfo': V1.replace('ROOT', '/'),
      '/proc/self/cgroup': '4:cpu,cpuacct:/own\n0::/\n',
      '/sys/fs/cgroup/cpu,cpuacct/own/cpuacct.usage': usage.v1,
    },
    true,
  ],
  [
    'a container whose mount shows its part, v1',
    {
      '/proc/self/mountinfo': V1.replace('ROOT', '/kubepods/pod1'),
      '/proc/self/cgroup': '4:cpu,cpuacct:/kubepods/pod1\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage': usage.v1,
    },
    true,
  ],
  [
    'a counter that is not there',
    { '/proc/self/mountinfo': V2.replace('ROOT', '/'), '/proc/self/cgroup': '0::/own\n' },
    false,
  ],
  ['no cgroups', {}, false],
])('%s', (_, files, counted) => {
  const read = new ExactCpu(machine(files)).read(new Set());
  if (!counted) return expect(read).toBeNull();
  // A hundred seconds, less those of the process that reads.
  expect(read!).toBeGreaterThan(
    100 * SECOND - process.cpuUsage().user / 1000 - process.cpuUsage().system / 1000 - 1,
  );
  expect(read!).toBeLessThan(100 * SECOND);
});

test('the session beside it is taken away, the agent is not', () => {
  const files = {
    '/proc/self/mountinfo': V2.replace('ROOT', '/'),
    '/proc/self/cgroup': '0::/own\n',
    '/sys/fs/cgroup/own/cpu.stat': usage.v2,
    '/sys/fs/cgroup/own/cgroup.procs': `77\n${process.pid}\n`,
    '/proc/77/task/77/schedstat': '40000000000 1 1\n',
  };
  const exact = new ExactCpu(machine(files));
  const [without, withIt] = [exact.read(new Set())!, exact.read(new Set([77]))!];
  expect(Math.round((withIt - without) / SECOND)).toBe(40);
});
