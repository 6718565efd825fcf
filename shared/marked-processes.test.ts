import { expect, test } from 'bun:test';
import { endMarked, markedProcesses } from './marked-processes.ts';

test('all that a process started is found and ended, wherever it went', async () => {
  const value = crypto.randomUUID();
  const env = { ...process.env, K8SBENCH_TEST_MARK: value };
  // One child, one in a session of its own, one that its parent left behind.
  const script = 'sleep 60 & setsid sleep 60 & (sleep 60 &) ; echo started; wait';
  const child = Bun.spawn(['sh', '-c', script], { env, stdout: 'pipe' });
  // Until then the one that leaves its child behind is there itself.
  await child.stdout.getReader().read();
  for (let waited = 0; markedProcesses('K8SBENCH_TEST_MARK', value).length < 4 && waited < 5000; waited += 20)
    await Bun.sleep(20);
  expect(markedProcesses('K8SBENCH_TEST_MARK', value)).toHaveLength(4);
  expect(markedProcesses('K8SBENCH_TEST_MARK', value.slice(1))).toEqual([]);
  expect(markedProcesses('TEST_MARK', value)).toEqual([]);
  expect(await endMarked('K8SBENCH_TEST_MARK', value)).toBeGreaterThanOrEqual(4);
  expect(markedProcesses('K8SBENCH_TEST_MARK', value)).toEqual([]);
  expect(await child.exited).not.toBe(0);
  expect(await endMarked('K8SBENCH_TEST_MARK', value)).toBe(0);
});
