/** A bad judgement (4) in a pipeline: it ends with it, and records what was judged all the same; here and as a script. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type Tool } from '../../shared/command-line.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { list, type Read, text } from '../../shared/flags.ts';
import { talkOn } from '../../shared/talk.ts';
import { runTool } from '../../test/outside.ts';
import { type NotJudged, runPipeline } from './chain.ts';
import { scriptOf } from './explain.ts';
import { flagsOf, type Link, stepsOf } from './links.ts';
import { compare } from './pipelines.ts';

const only =
  (word: string) =>
  (given: string): Read<string> =>
    given === word ? { ok: true, value: given } : { ok: false, expected: word };

/** Tools that end as told and say what they were called with. */
const linksOf = (calls: string[], ends: Readonly<Record<string, Exit>>): Link[] => {
  const tool = (name: string, flags: Parameters<typeof defineTool>[0]['flags'], prints: string): Tool =>
    defineTool({
      name,
      about: '',
      flags,
      words: [{ name: 'VERB', about: '' }],
      exits: Object.values(EXIT),
      async run({ given, words, world }) {
        const called = [name, ...words].join(' ');
        calls.push([called, ...[...given].map(([flag, value]) => `${flag}=${value.join()}`)].join(' '));
        await world.stdout.write(prints);
        return ends[called] ?? EXIT.done;
      },
    });
  const judge = tool(
    'judge',
    { run: text('', 'DIR'), 'fail-on': list('bad words', 'WORD,…', only('slower')) },
    'out/run\n',
  );
  const history = tool(
    'history',
    {
      run: text('', 'DIR'),
      track: text('', 'FILE'),
      'fail-on': list('changes: a change', 'WORD', only('change')),
    },
    'the line\n',
  );
  return [
    { tool: tool('measure', {}, 'out/run\n'), leave: [], takes: 'nothing' },
    { tool: judge, leave: ['run'], takes: 'run', judges: true },
    { tool: history, words: ['append'], leave: ['run'], takes: 'run' },
    {
      tool: history,
      words: ['changes'],
      leave: ['run', 'track', 'fail-on'],
      shares: { flag: 'fail-on', words: ['change'] },
      also: ['track'],
      optional: true,
      beside: true,
      takes: 'run',
    },
  ];
};

const given = (failOn: string): Map<string, string[]> =>
  new Map([
    ['fail-on', [failOn]],
    ['track', ['t']],
  ]);

const here = async (failOn: string, ends: Readonly<Record<string, Exit>>, notJudged: NotJudged) => {
  const calls: string[] = [];
  const steps = stepsOf(linksOf(calls, ends), given(failOn));
  const done = await runTool(async (_, world) => {
    const talk = talkOn(world, 'k8sbench compare');
    const exit = await runPipeline(steps, notJudged, { world, talk });
    await talk.flushed();
    return exit;
  }, []);
  return { ...done, calls };
};

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-bad-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
/** The same steps as a script, in a real bash whose k8sbench prints and ends as the tools do. */
const inBash = (failOn: string, ends: Readonly<Record<string, Exit>>, notJudged: NotJudged) => {
  writeFileSync(join(scratch, 'script'), scriptOf(stepsOf(linksOf([], {}), given(failOn)), notJudged));
  const cases = Object.entries(ends).map(([called, status]) => `'${called}') return ${status} ;;`);
  const fake = `k8sbench() {
      local called=$1; case $2 in -* | '') ;; *) called="$1 $2" ;; esac
      echo "$called" >> ${scratch}/calls
      case $called in history*) echo the line ;; *) echo out/run ;; esac
      case $called in ${cases.join(' ')} esac
    }
    export -f k8sbench
    : > ${scratch}/calls
    bash ${scratch}/script; status=$?
    cat ${scratch}/calls >&2
    exit $status`;
  const done = Bun.spawnSync(['bash', '-c', fake]);
  const calls = done.stderr
    .toString()
    .trimEnd()
    .split('\n')
    .filter((one) => one !== 'the line');
  return { exit: done.exitCode, stdout: done.stdout.toString(), calls };
};

const ALL = ['measure', 'judge', 'history append'];
describe('a pipeline', () => {
  test.each<[string, string, Record<string, Exit>, NotJudged, Exit, string[]]>([
    ['that was judged bad', 'slower', { judge: 4 }, { retries: 0, end: 'fail' }, 4, ALL],
    ['that was judged well', 'slower', {}, { retries: 0, end: 'fail' }, 0, ALL],
    ['that was not judged', 'slower', { judge: 3 }, { retries: 0, end: 'fail' }, 3, ALL.slice(0, 2)],
    [
      'that was not judged and may pass',
      'slower',
      { judge: 3 },
      { retries: 0, end: 'pass' },
      0,
      ALL.slice(0, 2),
    ],
    ['that is void', 'slower', { judge: 5 }, { retries: 0, end: 'pass' }, 5, ALL.slice(0, 2)],
    [
      'that was judged bad and not recorded',
      'slower',
      { judge: 4, 'history append': 1 },
      { retries: 0, end: 'fail' },
      1,
      ALL,
    ],
    [
      'whose history changed',
      'change',
      { 'history changes': 4 },
      { retries: 0, end: 'fail' },
      4,
      [...ALL, 'history changes'],
    ],
    [
      'that was judged bad, in a history that did not change',
      'slower,change',
      { judge: 4 },
      { retries: 2, end: 'fail' },
      4,
      [...ALL, 'history changes'],
    ],
  ])('%s', async (_, failOn, ends, notJudged, status, called) => {
    const done = await here(failOn, ends, notJudged);
    expect(done.exit).toBe(status);
    expect(
      done.calls.map((one) =>
        one
          .split(' ')
          .filter((word) => !word.includes('='))
          .join(' '),
      ),
    ).toEqual(called);
    expect(done.stdout).toBe(called.length > 2 ? 'the line\n' : '');
    const script = inBash(failOn, ends, notJudged);
    expect({ exit: script.exit, stdout: script.stdout, calls: script.calls }).toEqual({
      exit: status,
      stdout: done.stdout,
      calls: called,
    });
  });

  test('gives each tool its own words, and the history’s file to both that read it', async () => {
    const { calls } = await here('slower,change', {}, { retries: 0, end: 'fail' });
    expect(calls).toEqual([
      'measure',
      'judge fail-on=slower run=out/run',
      'history append track=t run=out/run',
      'history changes fail-on=change track=t run=out/run',
    ]);
  });

  test('takes the words of both, and no others', () => {
    const flag = flagsOf(linksOf([], {}))['fail-on']!;
    expect(flag.about).toBe('bad words; a change');
    expect(['slower', 'change', 'change,slower'].map((one) => flag.read(one).ok)).toEqual([true, true, true]);
    expect(flag.read('lose')).toEqual({ ok: false, expected: 'a comma list, each slower, change' });
    expect(flag.read('').ok).toBe(false);
  });
});

test('compare takes what a conclusion can be asked, and hands it to the tools that know it', async () => {
  const flags = [
    '--margin',
    '2%',
    '--fail-on',
    'slower',
    '--for-effect',
    '5%',
    '--from',
    'r',
    '--power',
    '0.9',
  ];
  const { stdout, exit } = await runTool(compare.main, [
    '--local',
    ...flags,
    '--stop-when',
    'decided',
    '--explain',
  ]);
  expect(exit).toBe(0);
  expect(stdout).toContain(
    'k8sbench plan --local --margin 2% --for-effect 5% --from r --power 0.9 --stop-when decided)',
  );
  expect(stdout).toContain('k8sbench analyze --fail-on slower --run "$run")');
});
