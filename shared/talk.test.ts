import { expect, test } from 'bun:test';
import { runTool } from '../test/outside.ts';
import { talkOn } from './talk.ts';

test('words go to stderr, each line with its speaker, foreign text made harmless, none held back', async () => {
  const { stdout, stderr } = await runTool(async (_, world) => {
    const talk = talkOn(world, 'plan');
    talk.info('two\nlines');
    talk.warn('careful \u001b[2J');
    for (let at = 0; at < 10; at++) talk.error('the same');
    talk.print('  a table\n');
    await talk.flushed();
    return 0;
  }, []);
  expect(stdout).toBe('');
  expect(stderr).toBe(
    `plan: two\nplan: lines\nplan: warn: careful \\e[2J\n${'plan: error: the same\n'.repeat(10)}  a table\n`,
  );
});
