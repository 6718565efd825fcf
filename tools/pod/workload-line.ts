/**
 * What workloads hand over: the sample's one line on stdout, and the seed's JSON file. Checked by hand, because pod.mjs holds
 * no schema library; the tests hold it against schemas/log.ts. Each function gives the fields or says what is wrong.
 */

import type { Metric } from '../../schemas/profile.ts';

/** Fields of a workload, or a sentence that continues "the sample of … ". */
export type Handed = { fields: Record<string, unknown> } | { wrong: string };

/** The session writes these itself; a workload's own move to `bench_*` (spec §5). */
const SESSION_FIELDS = new Set('t seq target turns sample gomaxprocs cpuModel cpuFeatures'.split(' '));

const SEED_FIELDS = new Set([...SESSION_FIELDS, 'from']);

/** As much of a foreign text as helps to recognise it. */
const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

/** As schemas/log.ts has it: a line that is taken here is one that can be analyzed. */
const LARGEST = 1e18;

const isNumber = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= LARGEST;
const isAmount = (value: unknown): boolean => isNumber(value) && value >= 0;
const isNull = (value: unknown): boolean => value === null || value === undefined;
const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !isList(value);

/** Deeper nesting than any measurement needs; a writer of JSON may fail on it. */
const DEEPEST = 64;

/** The path of the first part that can't be written again: a number such as 1e999, nesting without end. */
const unwritable = (line: Record<string, unknown>): [string, string, string] | undefined => {
  const waiting: [unknown, string, number][] = [[line, '', 0]];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const [value, path, depth] = one;
    if (typeof value === 'number' && !Number.isFinite(value))
      return [path, 'a finite number', 'one beyond the range of doubles'];
    if (typeof value !== 'object' || value === null) continue;
    if (depth > DEEPEST) return [path.slice(0, 80), `at most ${DEEPEST} levels`, 'more'];
    for (const [key, inner] of Object.entries(value))
      waiting.push([
        inner,
        isList(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
        depth + 1,
      ]);
  }
  return undefined;
};

const objectOf = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const AMOUNT = 'a finite number ≥ 0, at most 1e18';
const NUMBER = 'a finite number between -1e18 and 1e18';
/** Fields of a sample line that may be missing or null (schemas/log.ts). */
const OPTIONAL = ['openCpu', 'bytes', 'peakRss', 'retained', 'cpuSeconds', 'rss'];

/** The first field that isn't what the log's format wants: its path, what was wanted, what was found. */
const firstWrong = (line: Record<string, unknown>): [string, string, unknown] | undefined => {
  const broken = unwritable(line);
  if (broken) return broken;
  const { open, turn, turnCpu, growthPerTurn, fingerprint } = line;
  if (!isAmount(open)) return ['open', AMOUNT, open];
  if (!isList(turn) || turn.length === 0) return ['turn', 'a list of at least one time', turn];
  for (const [name, list] of [
    ['turn', turn],
    ['turnCpu', isNull(turnCpu) ? [] : turnCpu],
  ] as const) {
    if (!isList(list)) return [name, 'a list of times', list];
    const at = list.findIndex((one) => !isAmount(one));
    if (at !== -1) return [`${name}[${at}]`, AMOUNT, list[at]];
  }
  for (const name of OPTIONAL)
    if (!isNull(line[name]) && !isAmount(line[name])) return [name, AMOUNT, line[name]];
  if (!isNull(growthPerTurn) && !isNumber(growthPerTurn)) return ['growthPerTurn', NUMBER, growthPerTurn];
  if (!isNull(fingerprint) && (typeof fingerprint !== 'string' || fingerprint === ''))
    return ['fingerprint', 'a text that is not empty', fingerprint];
  return undefined;
};

/** The first of the profile's own metrics that analyses could not take. */
const firstWrongMetric = (
  line: Record<string, unknown>,
  metrics: readonly Metric[],
): [string, string, unknown] | undefined => {
  for (const { key, signed, pooled } of metrics) {
    const value = line[key];
    if (isNull(value)) continue;
    const fits = signed ? isNumber : isAmount;
    const wanted = signed ? NUMBER : AMOUNT;
    if (!pooled && !fits(value)) return [key, wanted, value];
    if (pooled && !(isList(value) && value.every(fits))) return [key, `a list, each ${wanted}`, value];
  }
  return undefined;
};

/** The workload's fields, those that the session writes itself moved to `bench_*`. */
const moved = (line: Record<string, unknown>, own: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(line).map(([key, value]) => [own.has(key) ? `bench_${key}` : key, value]),
  );

/** The sample's line: exactly one JSON object with `open` and `turn[]` on stdout, and the profile's own metrics as it declares them. */
export const sampleFields = (stdout: string, metrics: readonly Metric[] = []): Handed => {
  const lines = stdout.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0)
    return { wrong: 'printed nothing to stdout; one JSON line with open and turn is wanted' };
  if (lines.length > 1)
    return {
      wrong: `printed ${lines.length} lines to stdout; exactly one is wanted, and the second is '${shown(lines[1])}'`,
    };
  const line = objectOf(lines[0]!);
  if (!line) return { wrong: `printed no JSON object to stdout, but '${shown(lines[0])}'` };
  const wrong = firstWrong(line) ?? firstWrongMetric(line, metrics);
  if (wrong) return { wrong: `printed ${wrong[0]}: expected ${wrong[1]}, found ${shown(wrong[2])}` };
  return { fields: moved(line, SESSION_FIELDS) };
};

/** ms by which clocks of workload and session may differ over one process. */
const CLOCKS_MS = 0.001;

/** What is wrong with the times of a sample whose process lived `wallMs`: they can't be longer than it. */
export const impossibleTimes = (fields: Record<string, unknown>, wallMs: number): string | undefined => {
  const claimed = [fields['open'] as number, ...(fields['turn'] as number[])].reduce(
    (sum, one) => sum + one,
    0,
  );
  return claimed <= wallMs + CLOCKS_MS
    ? undefined
    : `reported open and turns of ${claimed} ms together, and its process lived only ${wallMs} ms; its clock is wrong`;
};

/** The seed's file: fingerprint, `seedMs`, `bytes`, and whatever else the workload says. */
export const seedFields = (text: string, path: string): Handed => {
  const meta = objectOf(text);
  if (!meta) return { wrong: `wrote no JSON object to '${path}', but '${shown(text.trim())}'` };
  const { fingerprint, seedMs, bytes } = meta;
  const wrong =
    unwritable(meta) ??
    (typeof fingerprint !== 'string' || fingerprint === ''
      ? (['fingerprint', 'a text that is not empty', fingerprint] as const)
      : !isAmount(seedMs)
        ? (['seedMs', AMOUNT, seedMs] as const)
        : isNull(bytes) || isAmount(bytes)
          ? undefined
          : (['bytes', AMOUNT, bytes] as const));
  return wrong
    ? { wrong: `wrote '${path}' with ${wrong[0]}: expected ${wrong[1]}, found ${shown(wrong[2])}` }
    : { fields: moved(meta, SEED_FIELDS) };
};
