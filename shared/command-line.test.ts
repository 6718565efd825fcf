import { describe, expect, test } from 'bun:test';
import { runTool } from '../test/outside.ts';
import { defineTool } from './command-line.ts';
import { EXIT } from './exit.ts';
import { failed } from './failure.ts';
import { choice, decimal, duration, list, many, readWhole, text, unlessNo, whole, yes } from './flags.ts';

const flags = {
  turns: list('sizes', 'N,…', (one) => readWhole(one, { min: 1 })),
  rounds: whole('rounds', 'N', { min: 3, default: 12, alias: ['runs'] }),
  local: yes('here'),
  'output-check': unlessNo('let outputs differ'),
  name: text('a name', 'NAME'),
  tag: many(text('a tag', 'TAG')),
  order: choice('order', ['rotate', 'balanced'], 'rotate'),
  'max-cv': decimal('limit', 'CV', { above: 0, default: '0.05' }),
  'step-timeout': duration('limit', '1h'),
};
/** Prints what it was given; `seen` holds it as parsed. */
const toolWith = (words: { name: string; about: string; required?: boolean }[] = []) => {
  const seen: { flags?: unknown; words?: string[] } = {};
  const tool = defineTool({
    name: 'try',
    about: 'for tests',
    flags,
    words,
    exits: [EXIT.done, EXIT.usage],
    async run(call) {
      Object.assign(seen, { flags: call.flags, words: call.words });
      return EXIT.done;
    },
  });
  return { tool, seen };
};
const failing = (error: unknown) =>
  defineTool({
    name: 'try',
    about: 'fails',
    flags: {},
    exits: [EXIT.failed],
    run: () => Promise.reject(error),
  });

const defaults = {
  turns: undefined,
  rounds: 12,
  local: false,
  'output-check': true,
  name: undefined,
  tag: [],
  order: 'rotate',
  'max-cv': 0.05,
  'step-timeout': 3600,
};
const words = [{ name: 'FILE…', about: 'files' }];

describe('what is read', () => {
  test.each<[string[], object, string[]?]>([
    [[], {}],
    [['--turns', '50,500'], { turns: [50, 500] }],
    [['--turns=50,500'], { turns: [50, 500] }],
    [['-turns', '3500'], { turns: [3500] }],
    [['-turns=3500'], { turns: [3500] }],
    [['--runs', '5'], { rounds: 5 }],
    [['-local'], { local: true }],
    [['--no-output-check'], { 'output-check': false }],
    [['--output-check'], { 'output-check': true }],
    [['--tag', 'a', '--tag=b', '-tag', 'a'], { tag: ['a', 'b', 'a'] }],
    [['--name=--local'], { name: '--local' }],
    [['--name=a=b'], { name: 'a=b' }],
    [['--name=a\nb'], { name: 'a\nb' }],
    [['--name', '-'], { name: '-' }],
    [['--name', 'ä 記 '], { name: 'ä 記 ' }],
    [['--max-cv', '5%'], { 'max-cv': 0.05 }],
    [['--step-timeout', '1h30m'], { 'step-timeout': 5400 }],
    [['a', '-', '--local', 'b'], { local: true }, ['a', '-', 'b']],
    [['--local', '--', '--local', '-x', '--'], { local: true }, ['--local', '-x', '--']],
    [['--', '--help'], {}, ['--help']],
  ])('%j', async (args, expected, given = []) => {
    const { tool, seen } = toolWith(words);
    expect(await runTool(tool.main, args)).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(seen).toEqual({ flags: { ...defaults, ...expected }, words: given });
  });
});

describe('what is refused', () => {
  test.each<[string[], string[]]>([
    [['--rat', '5'], ["unknown flag '--rat'"]],
    [['--round', '5'], ["unknown flag '--round'; did you mean '--rounds'?"]],
    [['-trns=5'], ["unknown flag '-trns'; did you mean '--turns'?"]],
    [['--no-local'], ["unknown flag '--no-local'"]],
    [['---turns', '5'], ["unknown flag '---turns'; did you mean '--turns'?"]],
    [['--=5'], ["unknown flag '--'"]],
    [['--rounds', '5', '--rounds', '5'], ["flag '--rounds' is given twice: '5' and '5'"]],
    [['--rounds', '5', '-runs', '6'], ["flag '--rounds' is given twice: '5' and '6'"]],
    [['--local', '--local'], ["flag '--local' is given twice"]],
    [['--output-check', '--no-output-check'], ["flag '--no-output-check' is given twice"]],
    [['--local=yes'], ["flag '--local' takes no value, found 'yes'"]],
    [['--turns'], ["flag '--turns' needs a value: --turns=<N,…>"]],
    [['--runs'], ["flag '--runs' needs a value: --runs=<N>"]],
    [
      ['--turns', '--local'],
      [
        "flag '--turns' needs a value: --turns=<N,…>; a value that starts with '-' is written --turns=--local",
      ],
    ],
    [
      ['--name', '-5'],
      ["flag '--name' needs a value: --name=<NAME>; a value that starts with '-' is written --name=-5"],
    ],
    [['--name='], ["flag '--name': expected a text that is not empty, found ''"]],
    [['--name', ''], ["flag '--name': expected a text that is not empty, found ''"]],
    [['--order', 'random'], ["flag '--order': expected rotate, balanced, found 'random'"]],
    [['--rounds', '2'], ["flag '--rounds': expected a whole number ≥ 3, found '2'"]],
    [
      ['--turns', '50,500,50'],
      ["flag '--turns': expected a comma list without repetitions, found '50' twice, found '50,500,50'"],
    ],
    [['--turns', '50,'], ["flag '--turns': expected a comma list, each a whole number ≥ 1, found '50,'"]],
    [['file'], ["unexpected argument 'file'"]],
    [
      ['', 'b'],
      ["unexpected argument ''", "unexpected argument 'b'"],
    ],
    [
      ['--rat', '5', '--rounds=x', '--local=1', 'file'],
      [
        "unknown flag '--rat'",
        "flag '--local' takes no value, found '1'",
        "unexpected argument 'file'",
        "flag '--rounds': expected a whole number ≥ 3, found 'x'",
      ],
    ],
  ])('%j', async (args, problems) => {
    const { tool, seen } = toolWith();
    const { exit, stdout, stderr } = await runTool(tool.main, args);
    const lines = [...problems, "'k8sbench try --help' shows what it takes"];
    expect(stderr).toBe(lines.map((one) => `try: error: ${one}\n`).join(''));
    expect([exit, stdout, seen]).toEqual([2, '', {}]);
  });

  test('a missing argument', async () => {
    const { tool } = toolWith([{ name: 'FILE', about: 'what to read', required: true }]);
    const { exit, stderr } = await runTool(tool.main, ['--local']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('missing argument FILE: what to read')]);
  });

  test('control characters of a word are shown, not sent to the terminal', async () => {
    const { stderr } = await runTool(toolWith().tool.main, ['\u001b[2Jx']);
    expect(stderr).toContain("unexpected argument '\\e[2Jx'");
  });
});

describe('numbers that are none', () => {
  const wrong = [
    '0x10',
    '1e3',
    '1_000',
    '+4',
    '-4',
    'Infinity',
    'NaN',
    '',
    '-0',
    '٣',
    '４',
    ' 4',
    '4 ',
    '4.0',
    '04',
    '4n',
    '1e400',
    '99999999999999999999',
    '9007199254740993',
    'null',
    '4\n',
  ];
  test.each(['rounds', 'turns', 'max-cv', 'step-timeout'])('--%s', async (name) => {
    // What is a decimal number or a time of its own right.
    const fine =
      ({ 'max-cv': ['4.0', '9007199254740993'], 'step-timeout': ['04'] } as Record<string, string[]>)[name] ??
      [];
    for (const one of wrong.filter((written) => !fine.includes(written))) {
      const { tool, seen } = toolWith();
      const { exit } = await runTool(tool.main, [`--${name}=${one}`]);
      expect([one, exit, seen]).toEqual([one, 2, {}]);
    }
  });

  test.each(['0', '0.0', '0%', '-1', '.5', '5.', '1,5', '5 %'])('--max-cv=%s', async (one) => {
    expect((await runTool(toolWith().tool.main, [`--max-cv=${one}`])).exit).toBe(2);
  });

  test.each(['0', '0s', '1w', 'h', '1h ', '1.5h', 's1'])('--step-timeout=%s', async (one) => {
    expect((await runTool(toolWith().tool.main, [`--step-timeout=${one}`])).exit).toBe(2);
  });
});

describe('help, version and errors', () => {
  test.each([[['--help']], [['-help']], [['-h']], [['--local', '--help']], [['--rat', '--help']]])(
    '%j',
    async (args) => {
      const { tool, seen } = toolWith();
      const { exit, stdout, stderr } = await runTool(tool.main, args);
      expect([exit, stdout, stderr, seen]).toEqual([0, await tool.help(), '', {}]);
    },
  );

  test('the help names every flag once, with its value and default', async () => {
    const help = await toolWith().tool.help();
    for (const line of [
      '--turns=<N,…>',
      '--rounds=<N>',
      '--local',
      '--no-output-check',
      '--tag=<TAG>',
      '--order=<rotate|balanced>',
    ])
      expect(help.split(line)).toHaveLength(2);
    expect(help).toContain('(Default: 12)');
    expect(help).not.toContain('\u001b');
  });

  test('--version prints the version on stdout', async () => {
    const { exit, stdout } = await runTool(toolWith().tool.main, ['--version']);
    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^k8sbench \d+\.\d+\.\d+\n$/)]);
  });

  test('a failure is told line by line, without a stack', async () => {
    const { exit, stdout, stderr } = await runTool(failing(failed(['one', 'two\n  more'])).main, []);
    expect([exit, stdout, stderr]).toEqual([1, '', 'try: error: one\ntry: error: two\ntry: error:   more\n']);
  });

  test('an error of the system is told in words', async () => {
    const error = Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write', path: '/full/disk' });
    const { exit, stderr } = await runTool(failing(error).main, []);
    expect([exit, stderr]).toEqual([
      1,
      "try: error: can't write '/full/disk': no space left on the device\n",
    ]);
  });

  test('what a signal cut short is an interruption, and a bug stays one', async () => {
    const interrupted = AbortSignal.abort('SIGTERM');
    for (const error of ['SIGTERM', new DOMException('aborted', 'AbortError')])
      expect(await runTool(failing(error).main, [], { interrupted })).toMatchObject({
        exit: 130,
        stderr: 'try: error: interrupted by SIGTERM\n',
      });
    const bug = await runTool(failing(new TypeError('oops')).main, [], { interrupted });
    expect([bug.exit, bug.stderr.includes('bug in k8sbench')]).toEqual([1, true]);
    expect((await runTool(failing('SIGTERM').main, [])).exit).toBe(1);
  });

  test('a bug shows its stack and asks for a report', async () => {
    const { exit, stderr } = await runTool(failing(new TypeError('oops')).main, []);
    expect(exit).toBe(1);
    expect(stderr).toMatch(/this is a bug in k8sbench; please report it:\n.*oops/);
  });
});
