/**
 * Slow, obvious second readers: what a tool that says it succeeded must have read. Each gives what is wrong, one sentence
 * each; none uses the tools' own parsing.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { analysis } from '../../schemas/analysis.ts';
import { compactPlan } from '../../schemas/plan.ts';
import { trialsScore } from '../../schemas/trials-score.ts';
import { median, roundTo } from '../../shared/statistics.ts';
import type { Result } from './oracle.ts';

type Fields = Record<string, unknown>;

/** A file as text, as any program reads it: UTF-8, perhaps with a byte order mark. Undefined when it isn't that. */
const textOf = (bytes: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const jsonOf = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
};

/** Members that a JSON text writes: colons outside of strings. */
const membersWritten = (text: string): number =>
  text.replace(/"(?:[^"\\]|\\.)*"/gs, '""').split(':').length - 1;
const membersRead = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>(
        (sum, one) => sum + membersRead(one),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      )
    : 0;

/** A value that two readers of the file may take for different ones. */
const unclear = (bytes: Buffer): string[] => {
  const text = textOf(bytes);
  if (text === undefined) return ['bytes that are no UTF-8 were taken'];
  const found = jsonOf(text);
  if (!found) return ['a text that is no JSON was taken'];
  return membersWritten(text) === membersRead(found.value) ? [] : ['a key that stands twice was taken'];
};

const differs = (what: string, found: unknown, wanted: unknown): string[] =>
  isDeepStrictEqual(found, wanted)
    ? []
    : [
        `${what}: expected ${JSON.stringify(wanted)?.slice(0, 1500)}, found ${JSON.stringify(found)?.slice(0, 1500)}`,
      ];

/** Without what JSON can't tell apart: -0 is written as 0. */
const normal = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

export const profileProblems = (input: Buffer, stdout: string): string[] => {
  const problems = unclear(input);
  if (problems.length > 0) return problems;
  const given = jsonOf(textOf(input)!)!.value as Fields;
  const wanted = {
    fingerprints: {},
    ...given,
    targets: (given['targets'] as Fields[]).map((one) => ({
      ...one,
      role: one['role'] === 'pig' ? 'candidate' : one['role'],
    })),
    metrics: ((given['metrics'] ?? []) as Fields[]).map((one) => ({
      gated: false,
      pooled: false,
      signed: false,
      ...one,
    })),
  };
  return differs('the profile', JSON.parse(stdout), normal(wanted));
};

const VALUES_DEFAULTS = {
  cpus: 2,
  memory: '8Gi',
  deadlineSeconds: 21600,
  allowUnpinnedImage: false,
  scratchSize: '8Gi',
  ttlSecondsAfterFinished: 604800,
};
const GPU_DEFAULTS = { resource: 'nvidia.com/gpu', count: 1 };

/** A number where a quantity stands is the text that it is written as. */
const withQuantities = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      ['memory', 'scratchSize', 'serverMemory'].includes(key) && typeof value === 'number'
        ? String(value)
        : value,
    ]),
  );

/** What values.json must hold for a values file that reads as `given`. */
export const filledValues = (given: Fields): Fields => ({
  ...VALUES_DEFAULTS,
  ...withQuantities(given),
  ...(given['gpu'] === undefined
    ? {}
    : { gpu: { ...GPU_DEFAULTS, ...withQuantities(given['gpu'] as Fields) } }),
});

export const valuesProblems = (input: Buffer, valuesJson: string): string[] => {
  const text = textOf(input);
  if (text === undefined) return ['bytes that are no UTF-8 were taken'];
  const given = Bun.YAML.parse(text) as Fields;
  return differs('the values', JSON.parse(valuesJson), normal(filledValues(given)));
};

/** A log that ends as it must: lines in sequence, a count and a digest that agree (DESIGN §4.6). */
const sealProblems = (log: string): string[] => {
  const lines = log.split('\n').slice(0, -1);
  const end = jsonOf(lines.at(-1) ?? '')?.value as Fields | undefined;
  const before = lines.slice(0, -1);
  const digest = createHash('sha256')
    .update(before.map((one) => `${one}\n`).join(''))
    .digest('hex');
  return end?.['t'] === 'end' && end['lines'] === before.length && end['sha256'] === digest
    ? []
    : [`the log does not end as it must: ${log.slice(-300)}`];
};

/** Parts of a plan that a session only hands on into its log. */
const HANDED_ON =
  /^profile\.(about|metrics|fingerprints|primary|needs|rule|name|targets\.\d+\.(rule|commit))\b|^profile: /;

export const podProblems = (input: Buffer, log: string): string[] => {
  const whole = jsonOf(input.toString('utf8').trim())?.value as Fields | null | undefined;
  const value = whole?.['format'] === 'plan/1' ? whole['compact'] : whole;
  const issues = v.safeParse(compactPlan, value).issues ?? [];
  // Unknown keys are for a reader of profiles to refuse.
  const counted = issues
    .filter((one) => !(one.type === 'strict_object' && one.expected === 'never'))
    .map((one) => `${v.getDotPath(one) ?? ''}: ${one.message}`)
    .filter((one) => !one.includes('at least two targets'))
    .filter((one) => !HANDED_ON.test(one) || /targets\.\d+\.(seed|sample)|one reference/.test(one));
  const taken = log.includes('K8SBENCH_DELIVERY: expected image, bundle or local');
  // The schema leaves the grammar of CPU lists to the readers.
  const overPin = /"message":"(pin: |plan\.json: |the plan, line \d+: )/.test(log);
  return [
    ...sealProblems(log),
    ...(issues.length === 0 && !taken && !overPin
      ? [`the schema takes a plan that pod refuses: ${log.slice(0, 500)}`]
      : []),
    ...(counted.length > 0 && taken
      ? [`pod takes a plan that the schema refuses: ${counted.join('; ').slice(0, 500)}`]
      : []),
    ...(taken ? unclear(input) : []),
  ];
};

/** Lines of a log that are a session's, as their exact bytes. */
const sessionLines = (bytes: Buffer): string[] =>
  bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => {
      const value = line.startsWith('{')
        ? jsonOf(Buffer.from(line, 'latin1').toString('utf8'))?.value
        : undefined;
      const { t, seq } = (value ?? {}) as Fields;
      return typeof t === 'string' && Number.isSafeInteger(seq) && (seq as number) >= 0;
    });

export const alteredLogProblems = (valid: Buffer, input: Buffer, result: Result): string[] => {
  const same = isDeepStrictEqual(sessionLines(valid), sessionLines(input));
  if (same)
    return result.exit === 0
      ? []
      : [`the session's lines are as they were, and exit ${result.exit}: ${result.stderr.slice(0, 300)}`];
  return result.exit === 1 ? [] : [`a session line was altered, and exit ${result.exit}`];
};

export const analysisProblems = (stdout: string): string[] => {
  const value = jsonOf(stdout)?.value;
  const result = v.safeParse(analysis, value);
  return result.success
    ? []
    : [
        `printed an analysis that is none: ${result.issues
          .map((one) => `${v.getDotPath(one)}: ${one.message}`)
          .join('; ')
          .slice(0, 500)}`,
      ];
};

interface HistoryLine {
  at: string;
  rule: string;
  turns: number;
  run: string;
  values: Fields;
}

/** The lines of a tracker file that count, in the file's order. */
const historyOf = (bytes: Buffer, fits: (value: unknown) => boolean): { line: HistoryLine; text: string }[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .flatMap((text) => {
      const value = jsonOf(text)?.value;
      const line = value as HistoryLine;
      return fits(value) && !Number.isNaN(Date.parse(line.at)) ? [{ line, text }] : [];
    });

const baseName = (run: string): string => run.replace(/\/+$/, '').split('/').at(-1)!;

/** Whether some line writes a key twice: which one counts is nobody's to say. */
const repeatsKeys = (bytes: Buffer): boolean =>
  bytes
    .toString('utf8')
    .split('\n')
    .some((line) => {
      const found = jsonOf(line);
      return found !== undefined && membersWritten(line) !== membersRead(found.value);
    });

export const historyProblems = (
  input: Buffer,
  result: Result,
  fits: (value: unknown) => boolean,
): string[] => {
  if (repeatsKeys(input)) return [];
  const all = historyOf(input, fits);
  if (all.length === 0) return result.exit === 0 && result.stdout !== '' ? ['lines out of nothing'] : [];
  const newest = new Map<string, { line: HistoryLine; text: string; at: number; number: number }>();
  for (const [number, { line, text }] of all.entries()) {
    const key = JSON.stringify([line.rule, line.turns, baseName(line.run)]);
    const at = Date.parse(line.at);
    const before = newest.get(key);
    if (!before || at >= before.at) newest.set(key, { line, text, at, number });
  }
  const wanted = [...newest.values()]
    .toSorted((a, b) => a.at - b.at || a.number - b.number)
    .map((one) => one.text);
  return differs('the lines shown', result.stdout.split('\n').slice(0, -1), wanted);
};

interface TrackerLine extends HistoryLine {
  compare: Record<string, { piRun: number; piRolling: number; nRolling: number }>;
  delta: Record<string, string>;
  more: { values: Record<string, number> };
}

const referenceKey = (name: string): string => `pi${name[0]!.toUpperCase()}${name.slice(1)}`;

/** `tracker append` into a history: the line it adds, what is before it, and the rolling medians in it. */
export const appendProblems = (
  input: Buffer,
  result: Result,
  files: ReadonlyMap<string, Buffer>,
  fits: (value: unknown) => boolean,
): string[] => {
  const after = files.get('out/track.jsonl')!;
  // A last line without its newline gets it, or is moved out of the file.
  const moved = files.has('out/track.jsonl.torn') ? input.subarray(0, input.lastIndexOf(10) + 1) : undefined;
  const ended = input.length > 0 && input.at(-1) !== 10 ? Buffer.concat([input, Buffer.from('\n')]) : input;
  const kept = [moved, ended, input].find((one) => one && after.subarray(0, one.length).equals(one));
  if (!kept) return ['the history before the new line was changed'];
  if (result.exit !== 0) return after.length > kept.length ? ['it failed, and the history grew'] : [];
  const added = after.subarray(kept.length).toString('utf8');
  if (added !== result.stdout) return [`printed other than it appended: ${added.slice(-300)}`];
  const line = jsonOf(added)?.value as TrackerLine;
  if (!fits(line)) return [`appended a line that is none: ${added.slice(0, 500)}`];
  if (repeatsKeys(input)) return [];
  const all = historyOf(
    kept,
    (value) => typeof (value as HistoryLine)?.values === 'object' && looksLikeHistory(value),
  );
  return Object.entries(line.compare).flatMap(([name, { piRolling, nRolling }]) => {
    const key = referenceKey(name);
    const newest = new Map<string, { at: number; value: unknown }>();
    for (const { line: one } of all) {
      if (one.rule !== line.rule || one.turns !== line.turns || baseName(one.run) === baseName(line.run))
        continue;
      const at = Date.parse(one.at);
      const earlier = newest.get(baseName(one.run));
      if (!earlier || at >= earlier.at) newest.set(baseName(one.run), { at, value: one.values[key] });
    }
    const last = [...newest.values()]
      .toSorted((a, b) => a.at - b.at)
      .map((one) => one.value)
      .filter((value): value is number => typeof value === 'number' && Number.isFinite(value))
      .slice(-4);
    const own = line.more.values[key]!;
    const wanted = { piRolling: roundTo(median([own, ...last]), 1), nRolling: last.length + 1 };
    return differs(`rolling ${name}`, { piRolling, nRolling }, wanted);
  });
};

const looksLikeHistory = (value: unknown): boolean => {
  const { at, rule, turns, run, values } = value as Record<string, unknown>;
  return (
    typeof at === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(at) &&
    typeof rule === 'string' &&
    rule !== '' &&
    Number.isSafeInteger(turns) &&
    (turns as number) >= 1 &&
    typeof run === 'string' &&
    run !== '' &&
    values !== null &&
    typeof values === 'object'
  );
};

export const baselineProblems = (input: Buffer, stdout: string): string[] => {
  const problems = unclear(input);
  if (problems.length > 0) return problems;
  const given = jsonOf(textOf(input)!)!.value as Fields;
  const base = (
    typeof given['values'] === 'object' && given['values'] !== null ? given['values'] : given
  ) as Fields;
  const line = JSON.parse(stdout) as TrackerLine;
  const wanted = Object.fromEntries(
    Object.entries(line.more.values).map(([name, value]) => {
      const was = Object.hasOwn(base, name) ? base[name] : undefined;
      if (typeof was !== 'number' || was === 0) return [name, 'n/a'];
      const percent = Math.floor(Math.abs((100 * (value - was)) / was) + 0.5);
      return [name, percent < Infinity ? `${value >= was ? '+' : '-'}${percent}%` : 'n/a'];
    }),
  );
  const strange = Object.values(line.delta).filter((one) => !/^(n\/a|[+-]\d+%)$/.test(one));
  return [...differs('the deltas', line.delta, wanted), ...strange.map((one) => `a delta of '${one}'`)];
};

/** A manifest counts as whole when it names the files of the session, each once, with their digests. */
export const manifestProblems = (input: Buffer, { exit, stderr }: Result, original: Buffer): string[] => {
  const lines = (bytes: Buffer): string[] =>
    bytes
      .toString('latin1')
      .split('\n')
      .filter((line) => line !== '')
      .toSorted();
  const same = isDeepStrictEqual(lines(input), lines(original));
  return exit === 0 && !same && stderr.includes('measured already')
    ? ['a manifest that does not name every file was taken']
    : [];
};

/** Earlier attempts as the analysis counts them, and the one line more. */
export const attemptsProblems = (
  input: Buffer,
  result: Result,
  files: ReadonlyMap<string, Buffer>,
): string[] => {
  if (result.exit !== 0) return [];
  const after = files.get('out/attempts.jsonl')!;
  const torn = files.has('out/attempts.jsonl.torn');
  const kept = torn ? input.subarray(0, input.lastIndexOf(10) + 1) : input;
  if (!after.subarray(0, kept.length).equals(kept)) return ['the attempts before were changed'];
  const added = after.subarray(kept.length).toString().trim();
  return jsonOf(added)?.value === undefined ? [`no whole line was added: ${added.slice(0, 200)}`] : [];
};

/** A score holds what the lines say, counted the slow way: each trial once, by a line that has a verdict if any has. */
export const scoreProblems = (input: Buffer, stdout: string): string[] => {
  const parsed = v.safeParse(trialsScore, JSON.parse(stdout));
  if (!parsed.success) return [`wrote a score that is none: ${v.flatten(parsed.issues).root?.[0]}`];
  const { trials, solved, failed, noVerdict } = parsed.output;
  const verdicts = new Map<string, unknown>();
  for (const line of input.toString().split('\n')) {
    if (line.trim() === '') continue;
    const { model, arm, task, attempt, reward } = JSON.parse(line.replace(/^\ufeff/, '')) as Fields;
    const key = JSON.stringify([model, arm, task, attempt]);
    verdicts.set(key, verdicts.get(key) ?? reward);
  }
  const all = [...verdicts.values()];
  const wanted = {
    trials: all.length,
    solved: all.filter((one) => one !== null && Number(one) >= 1).length,
    failed: all.filter((one) => one !== null && Number(one) < 1).length,
    noVerdict: all.filter((one) => one === null).length,
  };
  const found = { trials, solved, failed, noVerdict };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`counted ${JSON.stringify(found)}, and the lines say ${JSON.stringify(wanted)}`];
};
