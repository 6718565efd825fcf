import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plan } from '../../schemas/plan.ts';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import { runTool } from '../../test/outside.ts';
import { withCandidates } from './candidates.ts';
import { main } from './main.ts';

const store = BUILT_IN['durable-store']!;
const agents = BUILT_IN['overhead-pi']!;
const namesOf = (result: ReturnType<typeof withCandidates>) =>
  'profile' in result ? result.profile.targets.map(({ name, rule }) => [name, rule]) : result.problems;

describe('candidates', () => {
  test('none named: as it is', () => expect(withCandidates(store, undefined)).toEqual({ profile: store }));

  test('some named: those, the reference, the floor', () =>
    expect(namesOf(withCandidates(agents, ['codex']))).toEqual([
      ['pi', undefined],
      ['codex', 'overhead-pi-codex'],
    ]));

  test('the rule of one among several stays what it was', () => {
    const several = {
      ...store,
      targets: [...store.targets, { ...store.targets[0]!, name: 'other' }],
    };
    expect(namesOf(withCandidates(several, ['journal']))).toEqual([
      ['journal', 'store-journal'],
      ['sqlite', undefined],
      ['memory', undefined],
    ]);
  });

  test('what is not there is told, all at once', () =>
    expect(namesOf(withCandidates(store, ['sqlite', 'journal', 'x']))).toEqual([
      "flag '--candidates': profile 'durable-store' has no candidate 'sqlite'; it has journal",
      "flag '--candidates': profile 'durable-store' has no candidate 'x'; it has journal",
    ]));
});

describe('what a profile leaves open', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-candidates-'));
  afterAll(() => rmSync(cwd, { recursive: true }));
  const target = (name: string, role: string) => ({
    name,
    role,
    seed: ['true'],
    seedMeta: '{dir}/seed.json',
    sample: ['true'],
  });
  writeFileSync(
    join(cwd, 'mine.json'),
    JSON.stringify({
      name: 'mine',
      rule: 'mine',
      about: '',
      turns: [7, 9],
      targets: [target('a', 'reference'), target('b', 'candidate'), target('c', 'candidate')],
    }),
  );
  const planned = async (...words: string[]): Promise<Plan> => {
    const done = await runTool(
      main,
      ['--local', '--profile', 'mine.json', '--rounds', '3', '--out', '-', ...words],
      { cwd, env: { PATH: process.env['PATH'] } },
    );
    if (done.exit !== 0) throw new Error(done.stderr);
    return JSON.parse(done.stdout) as Plan;
  };

  test("its sizes are the session's, unless others are asked for", async () => {
    expect((await planned()).compact.turns).toEqual([7, 9]);
    expect((await planned('--turns', '8')).compact.turns).toEqual([8]);
  });

  test('its candidates are all there, unless some are named', async () => {
    const names = async (...words: string[]) =>
      (await planned(...words)).compact.profile.targets.map((one) => one.name);
    expect(await names()).toEqual(['a', 'b', 'c']);
    expect(await names('--candidates', 'c')).toEqual(['a', 'c']);
  });
});
