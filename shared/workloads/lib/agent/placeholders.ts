/** Texts of a settings file with their placeholders filled in; `{{` and `}}` are braces. */

export type Values = Readonly<Record<string, string>>;

const PART = /\{\{|\}\}|\{([a-z]+)\}/g;

/** A text filled in. What is no placeholder known here stays as it is, so that JSON and TOML may hold braces. */
export const fill = (text: string, values: Values): string =>
  text.replace(PART, (whole, name: string | undefined) => {
    if (whole === '{{') return '{';
    if (whole === '}}') return '}';
    return Object.hasOwn(values, name!) ? values[name!]! : whole;
  });

/** Any value with every text in it filled in, also keys. */
export const fillAll = <T>(value: T, values: Values): T => {
  if (typeof value === 'string') return fill(value, values) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => fillAll(one, values)) as T;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [fill(key, values), fillAll(inner as unknown, values)]),
    ) as T;
  return value;
};
