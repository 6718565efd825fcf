import { expect, test } from 'bun:test';
import { wordsCalled } from './called.ts';

test.each([
  ['k8sbench-plan', ['plan', '--local']],
  ['/home/me/.local/bin/k8sbench-run-session', ['run-session', '--local']],
  ['k8sbench', ['--local']],
  ['./k8sbench-linux-x64', ['--local']],
  ['/opt/k8sbench-plan/k8sbench', ['--local']],
  ['k8sbench-', ['--local']],
  ['my-k8sbench-plan', ['--local']],
  ['bun', ['--local']],
])('called %s', (name, words) =>
  expect(wordsCalled(name, ['--local'], ['plan', 'run-session'])).toEqual(words),
);
