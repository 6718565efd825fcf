/** Kinds of flags. Numbers are read by pattern, never by `Number()`: "" is not 0, `1e3`, `0x10`, `+1`, `1_000` and `-0` are refused. */

/** A value, or what was expected instead. */
export type Read<T> = { ok: true; value: T } | { ok: false; expected: string };
const ok = <T>(value: T): Read<T> => ({ ok: true, value });
const no = (expected: string): Read<never> => ({ ok: false, expected });

export interface Flag<T> {
  readonly kind: 'boolean' | 'value' | 'many';
  readonly about: string;
  /** What the value is called in the help text. */
  readonly hint: string;
  readonly read: (text: string) => Read<T>;
  /** As written in the help text; absent: none. */
  readonly default?: string;
  readonly options?: readonly string[];
  /** Default true, switched off by `--no-<name>`. */
  readonly negatable?: boolean;
  /** Other names of the same flag. */
  readonly alias?: readonly string[];
  /** The value comes in T | undefined when absent (phantom; never read). */
  readonly _type?: T;
}

export type Flags = Readonly<Record<string, Flag<any>>>;
/** Parsed values by flag name: `undefined` when absent without default; lists for `many`. */
export type Values<F extends Flags> = { [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

/** A switch: absent is false. */
export const yes = (about: string): Flag<boolean> => ({
  kind: 'boolean',
  about,
  hint: '',
  read: () => ok(true),
});

/** On unless `--no-<name>`. */
export const unlessNo = (about: string): Flag<boolean> => ({
  kind: 'boolean',
  about,
  hint: '',
  negatable: true,
  read: () => ok(true),
});

/** A text that is not empty. */
export const text = (
  about: string,
  hint: string,
  extra: { default?: string; alias?: string[] } = {},
): Flag<string | undefined> => ({
  kind: 'value',
  about,
  hint,
  ...extra,
  read: (given) => (given === '' ? no('a text that is not empty') : ok(given)),
});

/** The name of a file that is read more than once, written, or kept by its name: `-` can't stand for it. */
export const readFileName = (given: string): Read<string> =>
  given === '' || given === '-' ? no("a file's name ('-', standard input, can't be read here)") : ok(given);

export const fileName = (about: string): Flag<string | undefined> => ({
  kind: 'value',
  about,
  hint: 'FILE',
  read: readFileName,
});

/** One of a few words. */
export const choice = <const T extends string>(
  about: string,
  options: readonly T[],
  fallback?: T,
): Flag<T | undefined> => ({
  kind: 'value',
  about,
  hint: options.join('|'),
  options,
  ...(fallback === undefined ? {} : { default: fallback }),
  read: (given) => (options.includes(given as T) ? ok(given as T) : no(options.join(', '))),
});

interface Range {
  min?: number;
  max?: number;
  default?: number;
  alias?: string[];
}
const range = ({ min, max }: Range): string =>
  (min === undefined ? '' : ` ≥ ${min}`) +
  (max === undefined ? '' : `${min === undefined ? '' : ' and'} ≤ ${max}`);

/** A whole number in decimal digits. */
export const readWhole = (given: string, bounds: Range = {}): Read<number> => {
  const value = Number(given);
  const fits = /^(0|[1-9][0-9]{0,15})$/.test(given) && Number.isSafeInteger(value);
  return fits && value >= (bounds.min ?? 0) && value <= (bounds.max ?? Number.MAX_SAFE_INTEGER)
    ? ok(value)
    : no(`a whole number${range({ ...bounds, min: bounds.min ?? 0 })}`);
};

export const whole = (about: string, hint: string, bounds: Range = {}): Flag<number | undefined> => ({
  kind: 'value',
  about,
  hint,
  ...(bounds.default === undefined ? {} : { default: String(bounds.default) }),
  ...(bounds.alias ? { alias: bounds.alias } : {}),
  read: (given) => readWhole(given, bounds),
});

/** A decimal number such as 0.05, or a percentage such as 5%. `above` is excluded itself. */
export const readDecimal = (given: string, above?: number): Read<number> => {
  const found = /^((?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?)(%?)$/.exec(given);
  const value = found ? Number(found[1]) / (found[2] ? 100 : 1) : Number.NaN;
  return value > (above ?? -1)
    ? ok(value)
    : no(`a decimal number${above === undefined ? '' : ` > ${above}`} such as 0.05 or 5%`);
};

export const decimal = (
  about: string,
  hint: string,
  extra: { above?: number; default?: string } = {},
): Flag<number | undefined> => ({
  kind: 'value',
  about,
  hint,
  ...(extra.default === undefined ? {} : { default: extra.default }),
  read: (given) => readDecimal(given, extra.above),
});

const UNITS: Readonly<Record<string, number>> = { '': 1, ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };

/** A length of time in s: `90`, `90s`, `5m`, `1h`, `1h30m`. */
const readDuration = (given: string): Read<number> => {
  const parts = [...given.matchAll(/([0-9]{1,9})(ms|s|m|h|d|$)/g)];
  const total = parts.reduce((sum, [, digits, unit]) => sum + Number(digits) * (UNITS[unit ?? ''] ?? 0), 0);
  return parts.length > 0 &&
    parts.map((one) => one[0]).join('') === given &&
    total > 0 &&
    // 0644 and the like mean something else elsewhere.
    !/^0[0-9]/.test(given)
    ? ok(total)
    : no('a length of time such as 90s, 5m or 1h30m');
};

export const duration = (about: string, fallback?: string): Flag<number | undefined> => ({
  kind: 'value',
  about,
  hint: 'TIME',
  ...(fallback === undefined ? {} : { default: fallback }),
  read: readDuration,
});

/** A comma list of what another kind of value is; each once. */
export const list = <T>(
  about: string,
  hint: string,
  one: (text: string) => Read<T>,
  fallback?: string,
): Flag<T[] | undefined> => ({
  kind: 'value',
  about,
  hint,
  ...(fallback === undefined ? {} : { default: fallback }),
  read: (given) => {
    const all: T[] = [];
    for (const part of given.split(',')) {
      const read = one(part);
      if (!read.ok) return no(`a comma list, each ${read.expected}`);
      if (all.includes(read.value)) return no(`a comma list without repetitions, found '${part}' twice`);
      all.push(read.value);
    }
    return ok(all);
  },
});

/** A flag that may be given several times. */
export const many = <T>(flag: Flag<T | undefined>): Flag<T[]> =>
  ({ ...flag, kind: 'many' }) as unknown as Flag<T[]>;

/** A word for use as `one` of a list. */
export const readText = (given: string): Read<string> =>
  given === '' ? no('a text that is not empty') : ok(given);

/** `k=v,k2=v2`; each key once. */
const readSelector = (given: string): Read<Record<string, string>> => {
  const pairs = given.split(',').map((part) => /^([^=]+)=(.*)$/.exec(part)?.slice(1));
  const keys = pairs.map((pair) => pair?.[0]);
  return pairs.every((pair) => pair !== undefined) && new Set(keys).size === keys.length
    ? ok(Object.fromEntries(pairs as [string, string][]))
    : no('key=value,…, each key once');
};

/** Labels. */
export const selector = (about: string): Flag<Record<string, string> | undefined> => ({
  kind: 'value',
  about,
  hint: 'K=V,…',
  read: readSelector,
});
