/** The check by hand says what the schema says: of valid scripts nothing, of spoiled ones the same places. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelScript } from '../../../schemas/model-script.ts';
import { problemsOf } from '../../read.ts';
import { readScript } from '../lib/scripted-model/script.ts';

const fixtures = join(import.meta.dir, '../../../fixtures/schemas/model-script');
const valid = JSON.parse(readFileSync(join(fixtures, 'valid.json'), 'utf8')) as object;

const byHand = (value: unknown): string[] => {
  const read = readScript(value);
  return 'script' in read ? [] : read.problems;
};
const bySchema = (value: unknown): string[] => problemsOf(modelScript, { value }, 'x');
const places = (problems: readonly string[]): string[] =>
  [...new Set(problems.map((one) => one.replace(/^x: /, '').split(':')[0]!))].toSorted();

test('a valid script', () => expect([byHand(valid), bySchema(valid)]).toEqual([[], []]));

/** Every place of a value, as a path. */
const pathsIn = (value: unknown, path: (string | number)[] = []): (string | number)[][] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        pathsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
      )
    : []),
];
const spoiled = (path: readonly (string | number)[], by: unknown): unknown => {
  if (path.length === 0) return by;
  const copy = structuredClone(valid);
  const holder = path.slice(0, -1).reduce<any>((at, part) => at[part], copy);
  if (by === undefined && Array.isArray(holder)) holder.splice(Number(path.at(-1)), 1);
  else if (by === undefined) delete holder[path.at(-1)!];
  else holder[path.at(-1)!] = by;
  return copy;
};
/** Arguments of tools and the texts of people may be anything. */
const free = (path: readonly (string | number)[]): boolean => path.slice(0, -1).includes('arguments');

test.each(
  pathsIn(valid)
    .filter((path) => !free(path))
    .map((path) => [path.join('.') || 'the whole', path] as const),
)('spoiled at %s, both say the same', (_, path) => {
  for (const by of [
    undefined,
    null,
    true,
    '',
    'x',
    0,
    -1,
    1.5,
    Number.POSITIVE_INFINITY,
    [],
    [0],
    {},
    { x: 1 },
  ]) {
    const value = spoiled(path, by);
    if (value === undefined) continue;
    const [hand, schema] = [byHand(value), bySchema(value)];
    expect({ path, by, refused: hand.length > 0 }).toEqual({ path, by, refused: schema.length > 0 });
  }
});

test.each(JSON.parse(readFileSync(join(fixtures, 'rejected.json'), 'utf8')) as any[])(
  '$why: at the same place',
  ({ path, set, remove }) => {
    const value = spoiled(path, remove ? undefined : set);
    expect(places(byHand(value))).toEqual(places(bySchema(value)));
  },
);
