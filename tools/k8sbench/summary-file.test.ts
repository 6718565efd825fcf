import { afterAll, beforeAll, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from '../../shared/exit.ts';
import { talkOn } from '../../shared/talk.ts';
import { runTool } from '../../test/outside.ts';
import type { Attempt } from './chain.ts';
import { appendSummary } from './summary-file.ts';

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'k8sbench-summary-'));
  const fixtures = join(import.meta.dir, '../../fixtures/schemas');
  mkdirSync(join(scratch, 'out/run'), { recursive: true });
  copyFileSync(join(fixtures, 'analysis/valid-a-comparison.json'), join(scratch, 'out/run/analysis.json'));
  mkdirSync(join(scratch, 'out/broken'));
  writeFileSync(join(scratch, 'out/broken/analysis.json'), '{}');
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const END: Attempt = {
  exit: 0,
  run: 'out/run',
  last: 'tracker',
  refused: false,
  errors: [],
  attempt: 1,
  attempts: 1,
};
/** Appends to a file of the scratch directory; what was said. */
const append = async (file: string, end: Partial<Attempt> = {}): Promise<string> =>
  (
    await runTool(
      async (_, world) => {
        const talk = talkOn(world, 'k8sbench compare');
        appendSummary(file, 'compare', { ...END, ...end }, { world, talk });
        await talk.flushed();
        return EXIT.done;
      },
      [],
      { cwd: scratch, host: 'runner' },
    )
  ).stderr;
const written = (file: string): string => readFileSync(join(scratch, file), 'utf8');

test('stands behind what is there', async () => {
  writeFileSync(join(scratch, 'both'), 'before\n');
  expect(await append('both')).toBe('');
  expect(await append('both', { exit: 1, run: undefined, last: 'plan', errors: ['no'] })).toBe('');
  const [before, first, second] = written('both').split('## k8sbench compare: ');
  expect(before).toBe('before\n');
  expect(first).toContain('| warm | ms |');
  expect(second).toBe('failed\n\n**What went wrong**\n\n- no\n\n');
});

test.each<[string, Partial<Attempt>]>([
  ['that did not get to a judgement', { exit: 130, last: 'run-session' }],
  ['whose analysis failed, beside an earlier one', { exit: 1, last: 'analyze' }],
])('a run %s has no table', async (_, end) => {
  await append('none', end);
  expect(written('none')).not.toContain('| warm |');
  expect(written('none')).toContain('Run directory: <code>out/run</code>');
  rmSync(join(scratch, 'none'));
});

test.each([
  ['out', {}, 'it is not a file'],
  ['no/where', {}, 'it does not exist'],
  ['file', { run: 'out/broken' }, 'analysis.json'],
] as const)('what can not be written to %s is a warning', async (file, end, says) => {
  const said = await append(file, end);
  expect(said).toStartWith(`k8sbench compare: warn: no summary in '${file}' ($GITHUB_STEP_SUMMARY): `);
  expect(said).toContain(says);
});
