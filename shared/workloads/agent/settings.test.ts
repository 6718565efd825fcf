/** Settings that come with k8sbench fit; the check by hand says what the schema says. */
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentSettings } from '../../../schemas/agent-settings.ts';
import { BUILT_IN } from '../../profiles/built-in.ts';
import { bySchema, type Path, pathsIn, placesOf, RUBBISH, spoiled } from '../../../test/spoiled-values.ts';
import { fill, fillAll } from '../lib/agent/placeholders.ts';
import { readSettings } from '../lib/agent/settings.ts';

const shipped = join(import.meta.dir, '../lib/agent/settings');
const fixtures = join(import.meta.dir, '../../../fixtures/schemas/agent-settings');
const read = (path: string): any => JSON.parse(readFileSync(path, 'utf8'));
const byHand = (value: unknown): string[] => {
  const found = readSettings(value);
  return 'settings' in found ? [] : found.problems;
};
const names = readdirSync(shipped).map((file) => file.replace('.json', ''));

test.each(names)('%s fits, and is named like its file', (name) => {
  const settings = read(join(shipped, `${name}.json`));
  expect([byHand(settings), bySchema(agentSettings, settings), settings.name]).toEqual([[], [], name]);
});

test.each(['qwen', 'small'])('%s, which does not come with k8sbench, fits', (name) => {
  const settings = read(join(fixtures, '../../agents', `${name}.json`));
  expect([byHand(settings), bySchema(agentSettings, settings), settings.name]).toEqual([[], [], name]);
});

test('each has a part in a profile, and each profile has settings for its targets', () => {
  const used = Object.values(BUILT_IN).flatMap((profile) =>
    profile.targets.flatMap(({ name, sample }) =>
      sample?.some((word) => word.endsWith(`/settings/${name}.json`)) ? [name] : [],
    ),
  );
  expect([...new Set(used)].toSorted()).toEqual(names.toSorted());
});

test('only who can write a session down has a part in long ones', () => {
  for (const profile of ['session-scale-context', 'session-scale-entries', 'long-history'])
    for (const { name } of BUILT_IN[profile]!.targets)
      expect(read(join(shipped, `${name}.json`)).session).toBeDefined();
});

/** What agents read themselves, and what goes over their wires. */
const isFree = (path: Readonly<Path>): boolean =>
  path.length > 2 && path[0] === 'files'
    ? true
    : path
        .slice(0, -1)
        .some(
          (key, at) =>
            (key === 'arguments' && path[at - 1] === 'tool') ||
            (key === 'lines' && path.length > 4) ||
            key === 'send' ||
            key === 'until',
        );

describe.each(['codex', 'pi'])('spoiled, %s', (name) => {
  const valid = read(join(fixtures, `valid-${name}.json`));
  test.each(
    pathsIn(valid)
      .filter((path) => !isFree(path))
      .map((path) => [path.join('.') || 'the whole', path] as const),
  )('at %s, both say the same', (_, path) => {
    for (const by of RUBBISH) {
      const value = spoiled(valid, path, by);
      if (value === undefined) continue;
      const told = (problems: readonly string[]) => ({ path, by, refused: problems.length > 0 });
      expect(told(byHand(value))).toEqual(told(bySchema(agentSettings, value)));
    }
  });
});

test.each((read(join(fixtures, 'rejected.json')) as any[]).map((row) => [row.why as string, row] as const))(
  '%s: at the same place',
  (_, { path, set, remove }) => {
    const value = spoiled(read(join(fixtures, 'valid-codex.json')), path, remove ? undefined : set);
    expect(placesOf(byHand(value))).toEqual(placesOf(bySchema(agentSettings, value)));
  },
);

test.each([
  ['{home}/x', '/h/x'],
  ['{{home}}', '{home}'],
  ['{"a": {b}}', '{"a": {b}}'],
  ['{toString}', '{toString}'],
  ['', ''],
])('placeholders of %s', (text, filled) => expect(fill(text, { home: '/h' })).toBe(filled));

test('placeholders anywhere in a value', () =>
  expect(fillAll<unknown>({ '{home}': ['{home}', 1, null, { a: '{home}' }] }, { home: 'h' })).toEqual({
    h: ['h', 1, null, { a: 'h' }],
  }));
