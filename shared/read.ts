import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import { cause, Failure, failed, usage } from './failure.ts';

/** A value with the line each part of it stands on, where the format has lines that people see. */
export interface Placed {
  value: unknown;
  lineOf?: (path: readonly (string | number)[]) => number;
}

/** The largest file read whole, bytes; larger ones are read as streams or not at all. */
const LARGEST = 256 << 20;

/** A file's text. A directory, a missing or an unreadable file is an error that names it. */
export const readText = (path: string, shown = path): string => {
  try {
    const about = statSync(path);
    if (about.isDirectory()) throw failed(`can't read '${shown}': it is a directory; name a file`);
    if (about.size > LARGEST)
      throw failed(`can't read '${shown}': ${about.size} bytes are more than ${LARGEST}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw failed(`can't read '${shown}': ${cause(error)}`);
  }
};

const shown = (value: unknown): string => {
  const text =
    typeof value === 'number' && !Number.isFinite(value)
      ? String(value)
      : (JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

/** One issue in words: where, what was wanted, what was found. */
const sentence = (issue: v.BaseIssue<unknown>): string => {
  const at = (v.getDotPath(issue) ?? '').replace(/^$/, 'the whole');
  const unknownKey = issue.type === 'strict_object' && issue.expected === 'never';
  if (unknownKey) return `${at}: unknown key`;
  const missing =
    issue.input === undefined &&
    (issue.type === 'object' || issue.type === 'strict_object' || issue.type === 'loose_object');
  if (missing) return `${at}: missing`;
  // A rule that spans fields carries its own path and says itself what it found.
  if (issue.type === 'raw_check') return issue.message;
  const wanted = issue.message.startsWith('expected')
    ? issue.message
    : `expected ${issue.expected ?? 'another value'}`;
  return `${at}: ${wanted}, found ${shown(issue.input)}`;
};

/** All problems of a value, each with its place; empty when it fits. */
export const problemsOf = (schema: v.GenericSchema, placed: Placed, file: string): string[] => {
  const result = v.safeParse(schema, placed.value);
  if (result.success) return [];
  return result.issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => part.key as string | number);
    const line = placed.lineOf ? `:${placed.lineOf(path)}` : '';
    return `${file}${line}: ${sentence(issue)}`;
  });
};

/** A value checked by its schema; a violation is a Failure naming file, place, what was wanted and what was found. */
export const check = <S extends v.GenericSchema>(
  schema: S,
  placed: Placed,
  file: string,
  fail: typeof usage = failed,
): v.InferOutput<S> => {
  const result = v.safeParse(schema, placed.value);
  if (result.success) return result.output;
  throw fail(problemsOf(schema, placed, file).slice(0, 20));
};

/** A JSON text as a value; a syntax error names file and line. */
export const parseJson = (written: string, file: string, fail: typeof usage = failed): unknown => {
  try {
    return JSON.parse(written.charCodeAt(0) === 0xfeff ? written.slice(1) : written) as unknown;
  } catch (error) {
    if (written.trim() === '') throw fail(`${file}: expected JSON, found nothing`);
    throw fail(
      `${file}:${syntaxLine(written)}: expected JSON: ${error instanceof Error ? error.message.replace(/^JSON Parse error: /, '') : error}`,
    );
  }
};

/** The line of a JSON syntax error: the first line whose text, together with all before it, no longer continues to JSON. */
const syntaxLine = (written: string): number => {
  const lines = written.split('\n');
  let low = 1;
  let high = lines.length;
  // Engines differ in whether they give a position; a prefix that fails for another reason than its end has the error.
  const broken = (upTo: number): boolean => {
    try {
      JSON.parse(lines.slice(0, upTo).join('\n'));
      return false;
    } catch (error) {
      return !/EOF|end of|Unterminated|Expected '[}\]]'|Property name must/i.test(String(error));
    }
  };
  while (low < high) {
    const middle = (low + high) >> 1;
    if (broken(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** A JSON file checked by its schema. */
export const readJson = <S extends v.GenericSchema>(
  path: string,
  schema: S,
  name = path,
  fail: typeof usage = failed,
): v.InferOutput<S> => check(schema, { value: parseJson(readText(path, name), name, fail) }, name, fail);

/** A JSON value as our files hold it: indented, one newline at the end, keys in the writer's order. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
