/** Texts of a settings file with their placeholders filled in; `{{` and `}}` are braces. */

/** Name → what it stands for; a number and nothing stay what they are where a text is the placeholder alone. */
export type Values = Readonly<Record<string, string | number | null>>;

const PART = /\{\{|\}\}|\{([a-z]+)\}/g;

/** A text filled in. What is no placeholder known here stays as it is, so that JSON and TOML may hold braces. */
export const fill = (text: string, values: Values): string =>
  text.replace(PART, (whole, name: string | undefined) => {
    if (whole === '{{') return '{';
    if (whole === '}}') return '}';
    return Object.hasOwn(values, name!) ? String(values[name!] ?? '') : whole;
  });

/** Any value with every text in it filled in, also keys. */
export const fillAll = <T>(value: T, values: Values): T => {
  if (typeof value === 'string') {
    const alone = /^\{([a-z]+)\}$/.exec(value)?.[1];
    return (alone !== undefined && Object.hasOwn(values, alone) ? values[alone] : fill(value, values)) as T;
  }
  if (Array.isArray(value)) return value.map((one: unknown) => fillAll(one, values)) as T;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [fill(key, values), fillAll(inner as unknown, values)]),
    ) as T;
  return value;
};
