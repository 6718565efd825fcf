import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type Tool } from '../../shared/command-line.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { Failure } from '../../shared/failure.ts';
import { many, text, unlessNo, whole, yes } from '../../shared/flags.ts';
import { talkOn } from '../../shared/talk.ts';
import { readStdin } from '../../shared/world.ts';
import { runTool } from '../../test/outside.ts';
import { type NotJudged, readNotJudged, runPipeline } from './chain.ts';
import { scriptOf } from './explain.ts';
import { flagsOf, type Link, stepsOf } from './links.ts';
import { asWord } from '../../shared/shell-words.ts';

const exits = Object.values(EXIT);
/** Tools that say what they were given: a recipe, a plan that reads it, a step in a run, a last one that prints. */
const tools = (calls: string[], ends: Record<string, (call: number) => Exit> = {}): Record<string, Tool> => {
  let runs = 0;
  const counts: Record<string, number> = {};
  const end = (tool: string): Exit => {
    counts[tool] = (counts[tool] ?? 0) + 1;
    return ends[tool]?.(counts[tool]) ?? EXIT.done;
  };
  const recipe = defineTool({
    name: 'recipe',
    about: '',
    flags: { fast: many(text('', 'CMD')), check: unlessNo(''), json: yes('') },
    exits,
    async run({ given, world }) {
      calls.push(`recipe ${JSON.stringify([...given])}`);
      await world.stdout.write('{"a recipe": "it\'s $HOME"}\n');
      return end('recipe');
    },
  });
  const plan = defineTool({
    name: 'plan',
    about: '',
    flags: {
      recipe: text('', 'FILE'),
      rounds: whole('', 'N', { default: 12 }),
      limit: text('', 'X'),
      run: text('', 'DIR'),
    },
    exits,
    async run({ given, flags, world }) {
      const stdin = flags.recipe === '-' ? await readStdin(world) : '';
      calls.push(`plan ${JSON.stringify([...given])} ${stdin.trim()}`);
      const exit = end('plan');
      if (exit === EXIT.done) await world.stdout.write(`out/run ${++runs}\n`);
      return exit;
    },
  });
  const judge = defineTool({
    name: 'judge',
    about: '',
    flags: { run: text('', 'DIR'), limit: text('', 'X'), strict: yes('') },
    exits,
    async run({ given, world }) {
      calls.push(`judge ${JSON.stringify([...given])}`);
      const exit = end('judge');
      if (exit !== EXIT.failed) await world.stdout.write(`${given.get('run')![0]}\n`);
      return exit;
    },
  });
  const history = defineTool({
    name: 'history',
    about: '',
    words: [{ name: 'VERB', about: '' }],
    flags: { run: text('', 'DIR'), track: text('', 'FILE') },
    exits,
    async run({ given, words, world }) {
      calls.push(`history ${words[0]} ${JSON.stringify([...given])}`);
      await world.stdout.write('the line\n');
      return end('history');
    },
  });
  return { recipe, plan, judge, history };
};
const linksOf = ({ recipe, plan, judge, history }: Record<string, Tool>): Link[] => [
  { tool: recipe!, leave: ['json'], optional: true, takes: 'nothing' },
  { tool: plan!, leave: [], takes: 'stdin', fed: ['--recipe', '-'] },
  { tool: judge!, leave: ['run'], takes: 'run', judges: true },
  { tool: history!, words: ['append'], leave: ['run'], takes: 'run' },
];
const given = (...pairs: [string, string[]][]): Map<string, string[]> => new Map(pairs);
const FAIL: NotJudged = { retries: 0, end: 'fail' };
const PASS: NotJudged = { retries: 0, end: 'pass' };
const again = (retries: number, end: NotJudged['end'] = 'fail'): NotJudged => ({ retries, end });

describe('the flags of a pipeline', () => {
  test('are those of its tools, each once, without what the pipeline sets itself', () => {
    expect(Object.keys(flagsOf(linksOf(tools([]))))).toEqual([
      'fast',
      'check',
      'recipe',
      'rounds',
      'limit',
      'run',
      'strict',
      'track',
    ]);
  });

  test('go to the first tool that knows them, as they were written', () => {
    const steps = stepsOf(
      linksOf(tools([])),
      given(
        ['fast', ['a b', "c'd"]],
        ['check', ['false']],
        ['limit', ['-1']],
        ['strict', ['true']],
        ['track', ['t']],
      ),
    );
    expect(steps.map(({ tool, args, takes }) => [tool.name, args, takes])).toEqual([
      ['recipe', ['--fast', 'a b', '--fast', "c'd", '--no-check'], 'nothing'],
      ['plan', ['--recipe', '-', '--limit', '-1'], 'stdin'],
      ['judge', ['--strict'], 'run'],
      ['history', ['append', '--track', 't'], 'run'],
    ]);
  });

  test('a step nobody asked for is left out', () => {
    const [first, second] = stepsOf(linksOf(tools([])), given(['rounds', ['3']]));
    expect(first).toMatchObject({ tool: { name: 'plan' }, args: ['--rounds', '3'], takes: 'nothing' });
    expect(second).toMatchObject({ tool: { name: 'judge' }, args: [], takes: 'run' });
  });
});

/** Runs a pipeline in this process. */
const inProcess = async (
  steps: ReturnType<typeof stepsOf>,
  notJudged: NotJudged,
  ends: Record<string, (call: number) => Exit>,
) => {
  const calls: string[] = [];
  const all = tools(calls, ends);
  const own = steps.map((step) => ({ ...step, tool: all[step.tool.name]! }));
  const ended = await runTool(async (_, world) => {
    const talk = talkOn(world, 'k8sbench compare');
    const exit = await runPipeline(own, notJudged, { world, talk });
    await talk.flushed();
    return exit;
  }, []);
  return { ...ended, calls };
};

const full = (): ReturnType<typeof stepsOf> =>
  stepsOf(linksOf(tools([])), given(['fast', ['x']], ['limit', ['7']], ['track', ['t']]));

describe('a chain', () => {
  test('hands on what each step prints; only the last prints', async () => {
    const { exit, stdout, calls } = await inProcess(full(), FAIL, {});
    expect(exit).toBe(0);
    expect(stdout).toBe('the line\n');
    expect(calls).toEqual([
      'recipe [["fast",["x"]]]',
      'plan [["recipe",["-"]],["limit",["7"]]] {"a recipe": "it\'s $HOME"}',
      'judge [["run",["out/run 1"]]]',
      'history append [["track",["t"]],["run",["out/run 1"]]]',
    ]);
  });

  test.each<[string, Exit, number]>([
    ['recipe', 1, 1],
    ['plan', 2, 2],
    ['judge', 1, 3],
    ['judge', 5, 3],
    ['judge', 3, 3],
    ['history', 1, 4],
  ])('stops when %s ends with %d', async (tool, status, called) => {
    const { exit, stdout, calls, stderr } = await inProcess(full(), FAIL, { [tool]: () => status });
    expect(exit).toBe(status);
    expect(calls).toHaveLength(called);
    expect(stdout).toBe(tool === 'history' ? 'the line\n' : '');
    if (status === 3) expect(stderr).toContain("'out/run 1'");
  });

  test.each<[NotJudged, number, Exit, number]>([
    [PASS, 1, 0, 1],
    [again(2), 1, 0, 2],
    [again(2), 5, 3, 3],
    [again(2, 'pass'), 5, 0, 3],
    [FAIL, 1, 3, 1],
  ])('not judged: %j', async (notJudged, refusals, status, attempts) => {
    const { exit, calls } = await inProcess(full(), notJudged, {
      judge: (call) => (call <= refusals ? 3 : 0),
    });
    expect(exit).toBe(status);
    expect(calls.filter((one) => one.startsWith('judge'))).toEqual(
      Array.from({ length: attempts }, (_, at) => `judge [["run",["out/run ${at + 1}"]]]`),
    );
  });

  test.each([PASS, again(2), again(2, 'pass'), FAIL])(
    'what was refused before it was measured is neither repeated nor passed: %j',
    async (notJudged) => {
      const { exit, calls } = await inProcess(full(), notJudged, { plan: () => 3 });
      expect([exit, calls.length]).toEqual([3, 2]);
    },
  );

  test('a signal between two steps ends it', async () => {
    const controller = new AbortController();
    const steps = stepsOf(
      linksOf(tools([], { plan: () => (controller.abort('SIGINT'), EXIT.done) })),
      given(['limit', ['7']]),
    );
    const { exit, stderr } = await runTool(
      async (_, world) => {
        const talk = talkOn(world, 'x');
        const ended = await runPipeline(steps, FAIL, { world, talk });
        await talk.flushed();
        return ended;
      },
      [],
      { interrupted: controller.signal },
    );
    expect(exit).toBe(130);
    expect(stderr).toBe(
      "x: error: interrupted by SIGINT before 'judge'; the same command with '--run out/run 1' goes on from there\n",
    );
  });

  test('each attempt is told, with the step that ended it and the errors of its tools', async () => {
    const failing = defineTool({
      name: 'plan',
      about: '',
      flags: {},
      exits,
      run: async () => {
        throw new Failure(EXIT.notJudged, ['one', 'two \u001b[2J']);
      },
    });
    const told: unknown[] = [];
    await runTool(
      async (_, world) =>
        runPipeline([{ tool: failing, args: [], takes: 'nothing', judges: true }], again(1), {
          world,
          talk: talkOn(world, 'x'),
          tell: (end) => void told.push(end),
        }),
      [],
    );
    const end = {
      exit: 3,
      run: undefined,
      last: 'plan',
      refused: true,
      errors: ['one', 'two \\e[2J'],
      attempts: 2,
    };
    expect(told).toEqual([
      { ...end, attempt: 1 },
      { ...end, attempt: 2 },
    ]);
  });
});

test.each([
  ['fail', FAIL],
  ['pass', PASS],
  ['retry=3', again(3)],
  ['retry=3,pass', again(3, 'pass')],
  ['retry=3,fail', undefined],
  ['retry=,pass', undefined],
  ['retry', undefined],
  ['retry=0', undefined],
  ['retry=', undefined],
  ['retry=1e1', undefined],
  ['Fail', undefined],
] as const)('--not-judged %s', (written, wanted) => {
  const read = readNotJudged(written);
  expect(read.ok ? read.value : undefined).toEqual(wanted as NotJudged | undefined);
});

describe('the script that --explain prints', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-explain-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** Runs a script in a real bash, with a `k8sbench` that ends as told and writes down its words and its input. */
  const inBash = (
    script: string,
    ends: Record<string, string>,
  ): { exit: number; stdout: string; calls: string[] } => {
    const file = join(scratch, 'script');
    writeFileSync(file, script);
    const cases = Object.entries(ends).map(([tool, code]) => `${tool}) ${code} ;;`);
    const fake = `
      calls=0; export calls
      k8sbench() {
        local tool=$1; shift
        local stdin=; [ "$tool" = plan ] && [[ " $* " == *" - "* ]] && stdin=$(cat)
        printf '%s' "$tool" >&2; printf ' <%s>' "$@" >&2; printf ' %s\\n' "$stdin" >&2
        n=$(cat ${scratch}/n-$tool 2>/dev/null || echo 0); n=$((n + 1)); echo $n > ${scratch}/n-$tool
        local status=0
        case $tool in ${cases.join(' ')} *) ;; esac
        case $tool in
          recipe) printf '%s\\n' '{"a": "$HOME \`x\`"}' ;;
          plan) [ $status -ne 0 ] || echo "out/run $n" ;;
          judge) [ $status -eq 1 ] || echo "\${@: -1}" ;;
          history) echo the line ;;
        esac
        return $status
      }
      export -f k8sbench
      rm -f ${scratch}/n-*
      bash ${file}`;
    const done = Bun.spawnSync(['bash', '-c', fake]);
    return {
      exit: done.exitCode,
      stdout: done.stdout.toString(),
      calls: done.stderr.toString().replace(/\n$/, '').split('\n'),
    };
  };
  const steps = stepsOf(
    linksOf(tools([])),
    given(['fast', ["sort -n 'a b' $x"]], ['limit', ['7']], ['track', ['a b/t']]),
  );

  test('is this', () => {
    expect(scriptOf(steps, again(2, 'pass'))).toBe(
      `#!/usr/bin/env bash
set -o pipefail
attempt() {
  measured=0 &&
  recipe=$(k8sbench recipe --fast 'sort -n '\\''a b'\\'' $x') &&
  run=$(k8sbench plan --recipe - --limit 7 <<<"$recipe") &&
  measured=1 &&
  run=$(k8sbench judge --limit 7 --run "$run") &&
  k8sbench history append --track 'a b/t' --run "$run"
}
attempt
status=$?
for ((more = 2; more > 0 && status == 3 && measured; more--)); do
  attempt
  status=$?
done
((status == 3 && measured)) && status=0
exit "$status"
`.replace('judge --limit 7 ', 'judge '),
    );
  });

  test.each<[string, NotJudged, Record<string, string>, Record<string, (call: number) => Exit>]>([
    ['all goes well', FAIL, {}, {}],
    ['the plan is refused', FAIL, { plan: 'status=2' }, { plan: () => 2 }],
    ['the recipe fails', FAIL, { recipe: 'status=1' }, { recipe: () => 1 }],
    ['not judged', FAIL, { judge: 'status=3' }, { judge: () => 3 }],
    ['refused by the plan, not passed', PASS, { plan: 'status=3' }, { plan: () => 3 }],
    ['refused by the plan, not repeated', again(2, 'pass'), { plan: 'status=3' }, { plan: () => 3 }],
    ['never judged, passed', again(1, 'pass'), { judge: 'status=3' }, { judge: () => 3 }],
    ['not judged, passed', PASS, { judge: 'status=3' }, { judge: () => 3 }],
    ['invalid, not passed', PASS, { judge: 'status=5' }, { judge: () => 5 }],
    [
      'judged the second time',
      again(2),
      { judge: '[ $n -gt 1 ] || status=3' },
      { judge: (call) => (call > 1 ? 0 : 3) },
    ],
    ['never judged', again(2), { judge: 'status=3' }, { judge: () => 3 }],
  ])('does what the pipeline does: %s', async (_, notJudged, code, ends) => {
    const shell = inBash(scriptOf(steps, notJudged), code);
    const here = await inProcess(steps, notJudged, ends);
    expect({ exit: shell.exit as Exit, stdout: shell.stdout }).toEqual({
      exit: here.exit,
      stdout: here.stdout,
    });
    expect(shell.calls.map((one) => one.split(' ')[0])).toEqual(here.calls.map((one) => one.split(' ')[0]));
    expect(shell.calls[0]).toBe("recipe <--fast> <sort -n 'a b' $x> ");
    if (shell.calls[1]) expect(shell.calls[1]).toBe('plan <--recipe> <-> <--limit> <7> {"a": "$HOME `x`"}');
  });

  test('words survive a shell, whatever they hold', () => {
    let state = 7;
    const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    const alphabet = [
      'a',
      'Z',
      '0',
      ' ',
      "'",
      '"',
      '\\',
      '$',
      '`',
      '!',
      '*',
      '?',
      '#',
      '~',
      '\n',
      '\t',
      '=',
      'ä',
      '{',
      ';',
    ];
    const words = [
      '',
      '-n',
      "it's",
      '$(rm -rf /)',
      ...Array.from({ length: 300 }, () =>
        Array.from({ length: random(8) }, () => alphabet[random(20)]).join(''),
      ),
    ];
    const shell = Bun.spawnSync(['bash', '-c', `printf '%s\\0' ${words.map(asWord).join(' ')}`]);
    expect(shell.stdout.toString().split('\0').slice(0, -1)).toEqual(words);
  });
});
