/** A cluster of the tests' own leaves nothing on the machine, whatever became of it. */
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cgroupsOf, down } from '../down.ts';
import { run } from '../kube-binary.ts';
import { pidOf, until } from '../processes.ts';
import { slotOf } from '../slot.ts';
import { up } from '../up.ts';

const lines = (text: string, ...words: string[]): string[] =>
  text.split('\n').filter((line) => words.some((word) => line.includes(word)));

/** What of a cluster is on the machine beside its directory. */
const tracesOf = (directory: string, slot: number | undefined): Record<string, readonly string[]> => ({
  mounts: lines(readFileSync('/proc/mounts', 'utf8'), directory),
  processes: readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return lines(readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '), directory);
      } catch {
        return [];
      }
    }),
  cgroups: slot === undefined ? [] : cgroupsOf(slot),
  addresses: slot === undefined ? [] : lines(run(['ip', 'route']), `10.${200 + slot}.`),
});
/** Names and rules of the machine's packet filter, without its counters. */
const filterRules = (): string[] =>
  run(['iptables-save'])
    .split('\n')
    .filter((line) => /^(-A|:KUBE|:CNI)/.test(line))
    .map((line) => line.replace(/\[\d+:\d+\]/, ''));

test('killed with all its programs, a pod running in it, and taken down: nothing is left', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'k8sbench-harness-'));
  const rules = filterRules();
  const { kube, kubeconfig, image } = await up({ directory, nodes: 1 });
  const slot = slotOf(directory);
  try {
    const kubectl = (...words: string[]): string =>
      run([kube, 'kubectl', '--kubeconfig', kubeconfig, ...words], { allowFailure: true });
    kubectl('run', 'sleeper', '--image', image, '--command', '--', 'sleep', '600');
    await until('a pod', () => kubectl('get', 'pod', 'sleeper').includes('Running'));
    const before = tracesOf(directory, slot);
    for (const [what, traces] of Object.entries(before))
      expect([what, traces.length > 0]).toEqual([what, true]);
    for (const name of readdirSync(join(directory, 'pid'))) {
      const pid = pidOf(directory, name);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
  } finally {
    await down(directory);
  }
  expect(tracesOf(directory, slot)).toEqual({ mounts: [], processes: [], cgroups: [], addresses: [] });
  expect(filterRules()).toEqual(rules);
  expect([existsSync(directory), slotOf(directory)]).toEqual([false, undefined]);
}, 180_000);
