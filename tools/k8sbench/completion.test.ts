import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessNo } from '../../shared/flags.ts';
import { runTool } from '../../test/outside.ts';
import { completionOf } from './completion.ts';
import { bashScript } from './completion-bash.ts';
import { described } from './described.ts';
import { main } from './main.ts';
import { TOOLS } from './table.ts';

const completion = completionOf(TOOLS);
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-completion-'));
beforeAll(() => {
  mkdirSync(join(scratch, 'out dir'));
  writeFileSync(join(scratch, 'a file'), '');
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const made = bashScript([
  {
    name: 'plan',
    about: "what it's [for]: x",
    words: [],
    flags: [
      { name: 'order', about: '', value: { hint: 'rotate|balanced', options: ['rotate', 'balanced'] } },
      { name: 'out', about: '', value: { hint: 'DIR', options: [] } },
      { name: 'profile', about: '', value: { hint: 'NAME|FILE', options: [] } },
      { name: 'rounds', about: '', value: { hint: 'N', options: [] } },
      { name: 'aa', about: '' },
    ],
  },
  { name: 'tracker', about: '', words: [['append', 'show']], flags: [{ name: 'json', about: '' }] },
  { name: 'profile', about: '', words: [[]], flags: [] },
]);

/** What a real bash offers for words of which the last is being typed; bash itself cuts at '='. */
const offered = (script: string, ...words: string[]): string[] => offeredTo('k8sbench', script, words);
const offeredTo = (program: string, script: string, words: readonly string[]): string[] => {
  const cut = words.flatMap((word) => word.split(/(=)/).filter((part, at) => part !== '' || at === 0));
  if (words.at(-1)!.endsWith('=')) cut.splice(-1, 1, '=');
  const list = [program, ...cut].map((one) => `'${one}'`).join(' ');
  const shell = Bun.spawnSync(
    [
      'bash',
      '--norc',
      '-c',
      `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${cut.length}; $(complete -p ${program} | grep -o '_k8sbench[a-z_]*') ${program}; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
    { cwd: scratch },
  );
  expect(shell.stderr.toString()).toBe('');
  return shell.stdout.toString().trimEnd().split('\n').filter(Boolean).toSorted();
};

describe('bash completes', () => {
  test.each<[string[], string[]]>([
    [[''], ['--help', '--version', 'plan', 'profile', 'tracker']],
    [['p'], ['plan', 'profile']],
    [
      ['plan', '--o'],
      ['--order', '--out'],
    ],
    [
      ['plan', '-o'],
      ['-order', '-out'],
    ],
    [
      ['plan', '-'],
      ['--aa', '--order', '--out', '--profile', '--rounds'],
    ],
    [
      ['plan', '--order', ''],
      ['balanced', 'rotate'],
    ],
    [['plan', '-order', 'b'], ['balanced']],
    [['plan', '--order=r'], ['rotate']],
    [
      ['plan', '--order='],
      ['balanced', 'rotate'],
    ],
    [['plan', '--out', ''], ['out dir']],
    [
      ['plan', '--profile', ''],
      ['a file', 'out dir'],
    ],
    [['plan', '--rounds', ''], []],
    [['plan', '--aa', '--ro'], ['--rounds']],
    [['plan', ''], []],
    [
      ['tracker', ''],
      ['append', 'show'],
    ],
    [['tracker', 'append', '--j'], ['--json']],
    [['profile', 'a'], ['a file']],
    [['nothing', ''], []],
  ])('%j', (words, wanted) => expect(offered(made, ...words)).toEqual(wanted));
});

test.each<[string[], string[]]>([
  [['--o'], ['--order', '--out']],
  [['--order', 'b'], ['balanced']],
  [['--out='], ['out dir']],
])('bash completes a tool that is called by its own name: %j', (words, wanted) =>
  expect(offeredTo('k8sbench-plan', made, words)).toEqual(wanted),
);

describe('the scripts for the tools there are', () => {
  test('bash knows every tool and every flag', async () => {
    const { exit, stdout, stderr } = await runTool(main, ['completion', 'bash']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(offered(stdout, '')).toEqual([...Object.keys(TOOLS), 'help', '--help', '--version'].toSorted());
    for (const [name, entry] of Object.entries(TOOLS)) {
      const wanted = described(name, (await entry.load()).tool).flags.map((one) => `--${one.name}`);
      expect(offered(stdout, name, '--')).toEqual(wanted.toSorted());
    }
    expect(offered(stdout, 'help', 'comp')).toContain('completion');
    expect(offered(stdout, 'schema', 'tra')).toEqual(['tracker']);
  });

  test.each(['zsh', 'fish'])('%s names every tool and flag once', async (shell) => {
    const { exit, stdout } = await runTool(completion.main, [shell]);
    expect(exit).toBe(0);
    for (const [name, entry] of Object.entries(TOOLS)) {
      expect(stdout).toContain(shell === 'zsh' ? ` k8sbench-${name} ` : `-c k8sbench-${name} -w `);
      const flags = described(name, (await entry.load()).tool).flags;
      for (const flag of flags)
        expect(stdout).toContain(shell === 'zsh' ? `--${flag.name}` : `-l ${flag.name} `);
    }
  });

  test('a negatable flag is offered as it is written', () => {
    const flags = { check: unlessNo('x') };
    expect(described('x', { about: '', words: [], flags }).flags.map((one) => one.name)).toEqual([
      'no-check',
      'help',
      'version',
    ]);
  });
});
