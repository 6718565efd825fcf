/**
 * Where and with how much a session runs: defaults → values file → environment → flags, later ones win (spec §1). Every
 * source is checked by itself, so that a mistake is told where it stands, also when a later source hides it.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { type Values, values as valuesSchema } from '../schemas/values.ts';
import { Failure } from './failure.ts';
import { readWhole } from './flags.ts';
import { type Placed, problemsOf, readText } from './read.ts';
import { readStdin, type World } from './world.ts';

type Key = keyof Values;

/** Settings that have a flag or a variable; the others stand in the file alone. */
const SETTINGS: readonly { key: Key; flag: string; variable?: string }[] = [
  { key: 'kubeconfig', flag: 'kubeconfig', variable: 'KUBECONFIG' },
  { key: 'kubeContext', flag: 'context', variable: 'K8SBENCH_CONTEXT' },
  { key: 'namespace', flag: 'namespace', variable: 'K8SBENCH_NAMESPACE' },
  { key: 'image', flag: 'image', variable: 'K8SBENCH_IMAGE' },
  { key: 'bundle', flag: 'bundle', variable: 'K8SBENCH_BUNDLE' },
  { key: 'baseImage', flag: 'base-image', variable: 'K8SBENCH_BASE_IMAGE' },
  { key: 'cpus', flag: 'cpus', variable: 'K8SBENCH_CPUS' },
  { key: 'memory', flag: 'memory', variable: 'K8SBENCH_MEMORY' },
  { key: 'node', flag: 'node', variable: 'K8SBENCH_NODE' },
  { key: 'nodeSelector', flag: 'node-selector' },
  { key: 'pvc', flag: 'pvc', variable: 'K8SBENCH_PVC' },
  { key: 'deadlineSeconds', flag: 'deadline' },
  { key: 'allowUnpinnedImage', flag: 'allow-unpinned-image' },
];

export interface Configuration {
  /** Resolved, defaults filled in; a setting with a problem is left out. */
  values: Values;
  /** Where a value comes from, in words: `flag '--image'`, `$K8SBENCH_IMAGE`, `values.yaml:3`; undefined: a default. */
  from(key: Key): string | undefined;
  problems: string[];
  /** The values file could not be read: what seems to be missing may stand in it. */
  unread?: true;
}

/** One source: its values, how each is shown, and what is wrong in it. */
interface Source {
  raw: Record<string, unknown>;
  shown: (key: string) => string;
  problems: string[];
  unread?: true;
}

const PLACEHOLDER = /<[^<>]*>/;

/** A text that was left as `<placeholder>`, and where it stands. */
interface Placeholder {
  path: (string | number)[];
  text: string;
}

const placeholders = (value: unknown, path: (string | number)[] = []): Placeholder[] => {
  if (typeof value === 'string') return PLACEHOLDER.test(value) ? [{ path, text: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  const all: Placeholder[] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (PLACEHOLDER.test(key)) all.push({ path: [...path, key], text: key });
    all.push(...placeholders(inner, [...path, key]));
  }
  return all;
};

const placeholderProblems = (
  raw: Record<string, unknown>,
  shown: (path: readonly (string | number)[]) => string,
): string[] =>
  placeholders(raw).map(
    ({ path, text }) =>
      `${shown(path)}: ${path.join('.')}: the placeholder '${text}' is still there; replace it`,
  );

/** Problems of a part of the values; a value that is still a placeholder has that one problem and no other. */
const checkPart = (placed: Placed, file: string): string[] => {
  const raw = placed.value as Record<string, unknown>;
  const found = placeholderProblems(raw, (path) => (placed.lineOf ? `${file}:${placed.lineOf(path)}` : file));
  const unfilled = new Set(placeholders(raw).map(({ path }) => String(path[0])));
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !unfilled.has(key)));
  return [...found, ...problemsOf(valuesSchema, { ...placed, value: rest }, file)];
};

const fromFile = async (given: string | undefined, world: World): Promise<Source> => {
  const named = given ?? (world.env['K8SBENCH_VALUES'] || undefined);
  const file = named ?? 'values.local.yaml';
  const nothing: Source = { raw: {}, shown: () => file, problems: [] };
  const path = resolve(world.cwd, file);
  if (named === undefined && !existsSync(path)) return nothing;
  try {
    const text = file === '-' ? await readStdin(world, 1 << 20) : readText(path, file);
    // Loaded for a file alone: most runs on this machine have none.
    const { parseYaml } = await import('./yaml.ts');
    const placed = parseYaml(text, file === '-' ? 'stdin' : file);
    if (placed.value === undefined || placed.value === null) return nothing;
    if (typeof placed.value !== 'object' || Array.isArray(placed.value))
      return { ...nothing, problems: [`${file}: expected a map of settings`], unread: true };
    return {
      raw: placed.value as Record<string, unknown>,
      shown: (key) => `${file}:${placed.lineOf?.([key]) ?? 1}`,
      problems: checkPart(placed, file),
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...nothing, problems: [...error.problems], unread: true };
  }
};

/** A variable that is set to nothing counts as not set, as CI systems leave it. */
const fromEnvironment = (env: World['env']): Source => {
  const source: Source = { raw: {}, shown: () => '', problems: [] };
  const variables = new Map<string, string>();
  for (const { key, variable } of SETTINGS) {
    const text = variable === undefined ? undefined : env[variable];
    if (variable === undefined || text === undefined || text === '') continue;
    const number = key === 'cpus' ? readWhole(text, { min: 1 }) : undefined;
    if (number && !number.ok)
      source.problems.push(`$${variable}: expected ${number.expected}, found '${text}'`);
    else {
      source.raw[key] = number?.value ?? text;
      variables.set(key, `$${variable}`);
      source.problems.push(...checkPart({ value: { [key]: source.raw[key] } }, `$${variable}`));
    }
  }
  return { ...source, shown: (key) => variables.get(key) ?? '' };
};

/** `given` are the values of flags by the flag's name; absent ones are undefined, switches that are off false. */
const fromFlags = (given: Readonly<Record<string, unknown>>): Source => {
  const source: Source = { raw: {}, shown: () => '', problems: [] };
  const names = new Map<string, string>();
  for (const { key, flag } of SETTINGS) {
    const value = given[flag];
    if (value === undefined || value === false) continue;
    source.raw[key] = value;
    names.set(key, `flag '--${flag}'`);
    source.problems.push(...checkPart({ value: { [key]: value } }, `flag '--${flag}'`));
  }
  return { ...source, shown: (key) => names.get(key) ?? '' };
};

/** The settings of all sources, and every problem of every source. */
export const configurationOf = async (
  world: World,
  given: Readonly<Record<string, unknown>>,
): Promise<Configuration> => {
  const file = given['values'];
  const sources = [
    await fromFile(typeof file === 'string' ? file : undefined, world),
    fromEnvironment(world.env),
    fromFlags(given),
  ];
  const problems = sources.flatMap((one) => one.problems);
  const merged = Object.assign({}, ...sources.map((one) => one.raw)) as Record<string, unknown>;
  // What is wrong was told where it stands; the rest goes on to the further checks.
  const fit = Object.entries(merged).filter(([key, value]) => v.is(valuesSchema, { [key]: value }));
  return {
    values: v.parse(valuesSchema, Object.fromEntries(fit)),
    from: (key) => sources.findLast((one) => Object.hasOwn(one.raw, key))?.shown(key),
    problems,
    ...(sources.some((one) => one.unread) ? { unread: true as const } : {}),
  };
};
