/** The check by hand says what the schema says: of valid scripts nothing, of spoiled ones the same places. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelScript } from '../../../schemas/model-script.ts';
import { bySchema, type Path, pathsIn, placesOf, RUBBISH, spoiled } from '../../../test/spoiled-values.ts';
import { readScript } from '../lib/scripted-model/script.ts';

const fixtures = join(import.meta.dir, '../../../fixtures/schemas/model-script');
const valid = JSON.parse(readFileSync(join(fixtures, 'valid.json'), 'utf8')) as unknown;

const byHand = (value: unknown): string[] => {
  const read = readScript(value);
  return 'script' in read ? [] : read.problems;
};

test('a valid script', () => expect([byHand(valid), bySchema(modelScript, valid)]).toEqual([[], []]));

/** Arguments of tools may be anything. */
const isFree = (path: Readonly<Path>): boolean => path.slice(0, -1).includes('arguments');

test.each(
  pathsIn(valid)
    .filter((path) => !isFree(path))
    .map((path) => [path.join('.') || 'the whole', path] as const),
)('spoiled at %s, both say the same', (_, path) => {
  for (const by of RUBBISH) {
    const value = spoiled(valid, path, by);
    if (value === undefined) continue;
    const told = (problems: readonly string[]) => ({ path, by, refused: problems.length > 0 });
    expect(told(byHand(value))).toEqual(told(bySchema(modelScript, value)));
  }
});

test.each(JSON.parse(readFileSync(join(fixtures, 'rejected.json'), 'utf8')) as any[])(
  '$why: at the same place',
  ({ path, set, remove }) => {
    const value = spoiled(valid, path, remove ? undefined : set);
    expect(placesOf(byHand(value))).toEqual(placesOf(bySchema(modelScript, value)));
  },
);
