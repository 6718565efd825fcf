/** For tests: a check by hand and a schema refuse the same spoiled values, at the same places. */
import type { GenericSchema } from 'valibot';
import { problemsOf } from '../shared/read.ts';

export type Path = (string | number)[];

/** Every place of a value, as a path. */
export const pathsIn = (value: unknown, path: Path = []): Path[] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        pathsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
      )
    : []),
];

/** A copy of a value with something else at one place; with `undefined`, without what is there. */
export const spoiled = (value: unknown, path: Readonly<Path>, by: unknown): unknown => {
  if (path.length === 0) return by;
  const copy: unknown = structuredClone(value);
  const holder = path.slice(0, -1).reduce<any>((at, part) => at[part], copy);
  const last = path.at(-1)!;
  if (by === undefined && Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (by === undefined) delete holder[last];
  else holder[last] = by;
  return copy;
};

/** What a value is spoiled by. */
export const RUBBISH: readonly unknown[] = [
  undefined,
  null,
  true,
  '',
  'x',
  '(',
  0,
  -1,
  1.5,
  Number.POSITIVE_INFINITY,
  [],
  [0],
  {},
  { x: 1 },
];

/** Places that a schema's problems name. */
export const placesOf = (problems: readonly string[]): string[] =>
  [...new Set(problems.map((one) => one.replace(/^x: /, '').split(':')[0]!))].toSorted();

export const bySchema = (schema: GenericSchema, value: unknown): string[] =>
  problemsOf(schema, { value }, 'x');
