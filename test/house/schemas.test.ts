/**
 * Every format has valid fixtures and rejected ones: fixtures/schemas/<format>/valid*.* fit, and each row of rejected.json
 * is a valid fixture with one change, refused with a message that names the place.
 */
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import { FORMATS, type Shape } from '../../schemas/formats.ts';
import { parseManifest } from '../../schemas/manifest.ts';
import { problemsOf } from '../../shared/read.ts';
import { parseYaml } from '../../shared/yaml.ts';

/** One change to a valid record: `set` or `remove` at a path; `says` is part of what it must say. */
interface Rejected {
  why: string;
  path: (string | number)[];
  set?: unknown;
  remove?: true;
  says: string;
  /** Which record of the first valid fixture is changed, for JSONL: the first that has this `t`, else the first. */
  t?: string;
}

const fixtures = resolve(import.meta.dir, '../../fixtures/schemas');

/** The records that a file of a shape holds. */
const recordsOf = (shape: Shape, content: string): unknown[] => {
  if (shape === 'yaml') return [parseYaml(content, 'fixture').value];
  if (shape === 'sha256sum') return [parseManifest(content)];
  if (shape === 'json') return [JSON.parse(content)];
  return content
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
};

const changed = (record: unknown, { path, set, remove }: Rejected): unknown => {
  if (path.length === 0) return set;
  const copy = structuredClone(record);
  const last = path.at(-1)!;
  const holder = path.slice(0, -1).reduce<any>((at, part) => at[part], copy);
  if (remove) delete holder[last];
  else holder[last] = set;
  return copy;
};

describe.each(Object.entries(FORMATS))('format %s', (name, format) => {
  const folder = join(fixtures, name);
  const valid = readdirSync(folder)
    .filter((file) => file.startsWith('valid'))
    .toSorted();
  const records = valid.flatMap((file) => recordsOf(format.shape, readFileSync(join(folder, file), 'utf8')));

  test('valid fixtures fit', () => {
    expect(valid.length).toBeGreaterThan(0);
    expect(records.length).toBeGreaterThan(0);
    expect(records.flatMap((value) => problemsOf(format.schema, { value }, name))).toEqual([]);
  });

  const rejected = JSON.parse(readFileSync(join(folder, 'rejected.json'), 'utf8')) as Rejected[];
  test.each(rejected.map((row) => [row.why, row] as const))('refuses %s', (_, row) => {
    const record =
      row.t === undefined ? records[0] : records.find((one) => (one as { t?: string }).t === row.t);
    expect(record).toBeDefined();
    const problems = problemsOf(format.schema, { value: changed(record, row) }, name);
    expect(problems).not.toBeEmpty();
    expect(problems.join('\n')).toContain(row.says);
  });

  test('has rejected fixtures', () => expect(rejected.length).toBeGreaterThan(1));

  test('has a JSON Schema', () =>
    expect(toJsonSchema(format.schema as never, { errorMode: 'ignore', typeMode: 'input' })).toHaveProperty(
      '$schema',
    ));
});

test('every kind of log line has a valid fixture', () => {
  const kinds = new Set(
    recordsOf('jsonl', readFileSync(join(fixtures, 'log', 'valid.jsonl'), 'utf8')).map(
      (one) => (one as { t: string }).t,
    ),
  );
  expect([...kinds].toSorted()).toEqual([
    'cpu',
    'done',
    'end',
    'error',
    'facts',
    'pin',
    'sample',
    'seed',
    'stop',
    'warmup',
  ]);
});
