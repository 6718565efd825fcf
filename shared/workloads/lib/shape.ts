/**
 * Checks of JSON by hand, for programs that travel in a bundle and bring no schema library: each says path and what was
 * expected, in the words of the schemas.
 */

type Fields = Readonly<Record<string, unknown>>;
export type Check = (value: unknown, path: string) => string[];

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const at = (path: string, key: string | number): string =>
  path === '' ? String(key) : `${path}.${key}`;
export const rule =
  (fits: (value: unknown) => boolean, wanted: string): Check =>
  (value, path) =>
    fits(value) ? [] : [`${path}: expected ${wanted}`];

export const text = rule((value) => typeof value === 'string', 'a text');
export const named = rule((value) => typeof value === 'string' && value !== '', 'a text that is not empty');
export const flag = rule((value) => typeof value === 'boolean', 'true or false');
export const amount = rule(
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  'a number ≥ 0',
);
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  rule(
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number ≥ ${least}`
      : `a whole number from ${least} to ${most}`,
  );
export const oneOf = (...words: string[]): Check =>
  rule((value) => words.includes(value as string), words.join(' or '));
export const object = rule(isObject, 'an object');

export const list =
  (each: Check, wanted: string): Check =>
  (value, path) =>
    Array.isArray(value) && value.length > 0
      ? value.flatMap((one, index) => each(one, at(path, index)))
      : [`${path}: expected ${wanted}`];

/** An object with these fields and no others; `!` at the end of a name: it must be there. */
export const fields = (checks: Readonly<Record<string, Check>>): Check => {
  const names = new Map(Object.entries(checks).map(([name, check]) => [name.replace(/!$/, ''), check]));
  const needed = Object.keys(checks).filter((name) => name.endsWith('!'));
  return (value, path) => {
    if (!isObject(value)) return [`${path || 'script'}: expected an object`];
    return [
      ...needed
        .map((name) => name.slice(0, -1))
        .filter((name) => value[name] === undefined)
        .map((name) => `${at(path, name)}: missing`),
      ...Object.entries(value).flatMap(([key, inner]) => {
        const check = names.get(key);
        return check
          ? inner === undefined
            ? []
            : check(inner, at(path, key))
          : [`${at(path, key)}: unknown key`];
      }),
    ];
  };
};

/** An object with any keys, each value checked. */
export const record =
  (each: Check): Check =>
  (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, inner]) => each(inner, at(path, key)))
      : [`${path}: expected an object`];
