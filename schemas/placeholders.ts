/** Words of commands with their placeholders filled in (spec §2): `{root}`, `{dir}`, `{turns}`, `{sample}`; `{{` and `}}` are braces. */

export type Values = Readonly<Partial<Record<'root' | 'dir' | 'turns' | 'sample', string | number>>>;

const PART = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;
const NAMES = new Set(['root', 'dir', 'turns', 'sample']);

/** Braces in a word that are neither a placeholder nor doubled. */
export const unknownIn = (word: string): string[] =>
  [...word.matchAll(PART)]
    .filter(([whole, name]) => whole !== '{{' && whole !== '}}' && !NAMES.has(name ?? ''))
    .map(([whole]) => whole);

/** Whether a word has this placeholder. */
export const uses = (word: string, name: keyof Values): boolean =>
  [...word.matchAll(PART)].some((found) => found[1] === name);

/** The word as the process gets it. A placeholder without a value stays as it is: the plan's check has refused it before. */
export const fill = (word: string, values: Values): string =>
  word.replace(PART, (whole, name: string | undefined) => {
    if (whole === '{{') return '{';
    if (whole === '}}') return '}';
    const value = values[name as keyof Values];
    return value === undefined ? whole : String(value);
  });

/**
 * The paths below the root that a word names, as written there: `lib/a.ts` of `{root}/lib/a.ts`, and of lists and options such
 * as `-wasm={root}/a.wasm:{root}/b.wasm`. A path ends at white space, at a quote, and at what separates lists.
 */
export const rootPathsIn = (word: string): string[] =>
  [...word.matchAll(/\{root\}\/([^,:;\s"'`]*)/g)].map((found) => found[1]!);

/** A path that {@link rootPathsIn} gave as it is on the disk; undefined when the session completes it. */
export const settledPath = (path: string, values: Pick<Values, 'turns'> = {}): string | undefined =>
  [...NAMES].some((name) => !(name in values) && uses(path, name as keyof Values))
    ? undefined
    : fill(path, values);
