/** Programs that say their version: in time, or not at all. */
import { expect, test } from 'bun:test';
import { Failure } from '../../shared/failure.ts';
import { answerOf } from './answer.ts';

const env = { PATH: process.env['PATH'] };
const never = new AbortController().signal;

test('what a program says, without the end of its line', async () => {
  expect(await answerOf(['sh', '-c', 'echo 1.2'], env, '/', never)).toBe('1.2');
  expect(await answerOf(['sh', '-c', 'echo 1.2; exit 1'], env, '/', never)).toBeUndefined();
  expect(await answerOf(['no-such-program'], env, '/', never)).toBeUndefined();
});

test('one that hangs is ended, with what it started', async () => {
  const hangs = ['sh', '-c', 'sleep 300.1 & sleep 300.1'];
  await expect(answerOf(hangs, env, '/', never, 200)).rejects.toThrow(
    "'sh -c sleep 300.1 & sleep 300.1' did not end within 0.2 s",
  );
  await Bun.sleep(100);
  expect(Bun.spawnSync(['pgrep', '-f', '^sleep 300.1']).stdout.toString()).toBe('');
});

test('an interruption ends it', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort('SIGTERM'), 50);
  const asked = answerOf(['sleep', '300.2'], env, '/', controller.signal);
  expect(await asked.catch((error: Failure) => error.exit)).toBe(130);
});
