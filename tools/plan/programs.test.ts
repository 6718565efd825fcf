import { describe, expect, test } from 'bun:test';
import type { Profile, Target } from '../../schemas/profile.ts';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import type { Machine } from './machine.ts';
import { pinProblems, programsOf, runtimeProblems, withRuntime } from './programs.ts';

/** A machine with these executables; `files` exist without being executable. */
const machine = (executables: string[], files: string[] = [], rest: Partial<Machine> = {}): Machine => ({
  onPath: (name) => executables.find((path) => path === `/usr/bin/${name}`),
  isExecutable: (path) => executables.includes(path),
  exists: (path) => executables.includes(path) || files.includes(path),
  nodeMajor: () => 24,
  bun: ['/opt/this/bun'],
  allowedCpus: () => '0-3,8',
  ...rest,
});
const target = (fields: Partial<Target>): Target => ({ name: 't', role: 'candidate', ...fields });
const places = { root: '/root', cwd: '/here' };

describe('programs are found before anything runs', () => {
  test.each<[Partial<Target>, string]>([
    [{ command: ['sort', '-n'] }, '/usr/bin/sort'],
    [{ command: ['./app'] }, '/here/app'],
    [{ command: ['../up/app'] }, '/up/app'],
    [{ command: ['/abs/app'] }, '/abs/app'],
    [{ sample: ['{root}/bin/app', '{turns}'] }, '/root/bin/app'],
    // The artifacts' own program comes before another of its name on the PATH.
    [{ command: ['app'] }, '/root/bin/app'],
    [{ command: ['./a{{b}}'] }, '/here/a{b}'],
    [
      {
        sample: [
          'sort',
          ...['{root}/lib/x.ts', '-w={root}/lib/x.ts', '-p={root}/lib/x.ts:{root}/bin/app'],
          ...['{root}/{turns}', '{{root}}/no', 'cat {root}/lib/x.ts | wc'],
        ],
      },
      '/usr/bin/sort',
    ],
  ])('%j', (fields, path) => {
    const all = ['/usr/bin/sort', '/here/app', '/up/app', '/abs/app', '/root/bin/app', '/here/a{b}'];
    expect(programsOf([target(fields)], places, machine(all, ['/root/lib/x.ts']))).toEqual({
      paths: { t: path },
      problems: [],
    });
  });

  test('each missing thing is named once, with what to do', () => {
    const targets = [
      target({ seed: ['nope'], sample: ['nope', '{root}/gone.ts'] }),
      target({ name: 'u', command: ['./text'], prepare: ['./missing'] }),
      target({ name: 'v', sample: ['{dir}/built-by-seed'] }),
    ];
    expect(programsOf(targets, places, machine([], ['/here/text']))).toEqual({
      paths: {},
      problems: [
        "target 't', sample: 'nope' is not on the PATH; install it, or write its path",
        "target 't', sample: '/root/gone.ts' does not exist",
        "target 'u', command: './text' is not an executable file; chmod +x it",
        "target 'u', prepare: './missing' does not exist",
      ],
    });
  });
});

const first = (profile: Profile) => [...new Set(profile.targets.map((one) => one.sample![0]))];

describe('the runtime of built-in workloads', () => {
  const store = BUILT_IN['durable-store']!;
  test.each<[string, string[], number | undefined, string, string | undefined]>([
    ['a fitting Node', ['/usr/bin/node', '/usr/bin/bun'], 24, 'node', undefined],
    ['a newer Node', ['/usr/bin/node'], 30, 'node', undefined],
    ['an older Node', ['/usr/bin/node', '/usr/bin/bun'], 22, 'bun', "'node' on the PATH is release 22"],
    [
      'a Node that does not start',
      ['/usr/bin/node', '/usr/bin/bun'],
      undefined,
      'bun',
      "no 'node' is on the PATH",
    ],
    ['no Node', ['/usr/bin/bun'], 24, 'bun', "no 'node' is on the PATH"],
    ['neither', [], 24, '/opt/this/bun', "no 'node' is on the PATH"],
  ])('%s', (_, executables, major, runtime, reason) => {
    const { profile, said } = withRuntime(store, machine(executables, [], { nodeMajor: () => major }));
    expect(first(profile)).toEqual([runtime]);
    expect(said?.split(', and ')[1]).toBe(reason as string);
    expect(profile.targets.map((one) => one.sample!.slice(1))).toEqual(
      store.targets.map((one) => one.sample!.slice(1)),
    );
  });

  test('a compiled binary is the runtime by its environment; braces in its path are no placeholders', () => {
    const own = machine(['/usr/bin/env'], [], { bun: ['env', 'BUN_BE_BUN=1', '/opt/{1}/k8sbench'] });
    const { profile, said } = withRuntime(store, own);
    expect(profile.targets[0]!.sample!.slice(0, 4)).toEqual([
      'env',
      'BUN_BE_BUN=1',
      '/opt/{{1}}/k8sbench',
      '{root}/lib/durable-store/main.ts',
    ]);
    expect(said).toStartWith("the workload runs on 'env BUN_BE_BUN=1 ");
  });

  test.each([
    [
      20,
      ["'journal', 'sqlite', 'memory' run TypeScript on 'node', which on the PATH is release 20 and can't"],
    ],
    [22, []],
    [undefined, []],
  ])("a profile of one's own is refused a Node that can't: %p", (major, problems) => {
    const found = runtimeProblems(store, machine(['/usr/bin/node'], [], { nodeMajor: () => major }));
    expect(found.map((one) => one.split(';')[0]!)).toEqual(problems);
  });

  test("the artifacts' own Node is the one that is started, whatever the PATH has", () => {
    const both = machine(['/usr/bin/node', '/root/bin/node', '/usr/bin/bun'], [], {
      nodeMajor: (path) => (path === '/root/bin/node' ? 24 : 20),
    });
    expect([runtimeProblems(store, both, '/root'), withRuntime(store, both, '/root')]).toEqual([
      [],
      { profile: store },
    ]);
    expect(withRuntime(store, both, '/other').said).toContain("'node' on the PATH is release 20");
  });

  test('a profile about runtimes keeps them', () => {
    const runtimes = BUILT_IN['runtimes']!;
    expect(withRuntime(runtimes, machine([]))).toEqual({ profile: runtimes });
  });
});

test.each([
  ['none', ['/usr/bin/x'], []],
  ['auto', ['/usr/bin/taskset'], []],
  [
    'auto',
    [],
    [
      "'taskset' is not on the PATH, and pins processes to cores; install util-linux, or plan with --pin none",
    ],
  ],
  ['0-2,8', ['/usr/bin/taskset'], []],
  [
    '3-5,9',
    ['/usr/bin/taskset'],
    ["flag '--pin': CPUs 4, 5, 9 are not among those this process may use, 0-3,8"],
  ],
])('pin %s', (pin, executables, problems) => {
  expect(pinProblems(pin, machine(executables))).toEqual(problems);
});
