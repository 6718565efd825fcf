import { closeSync } from 'node:fs';
import * as v from 'valibot';
import { cause, Failure, failed, usage } from './failure.ts';
import { openInput, readInput } from './input-file.ts';
import { lostIn, syntaxLine, unclearIn } from './json-text.ts';
import { plainJson } from './terminal.ts';

/** A value with the line each part of it stands on, where the format has lines that people see. */
export interface Placed {
  value: unknown;
  lineOf?: (path: readonly (string | number)[]) => number;
}

/** The largest file read whole, bytes; larger ones are read as streams or not at all. */
const LARGEST = 256 << 20;

/** A file's text, or what comes out of a pipe. A directory, a missing or an unreadable file is an error that names it. */
export const readText = (path: string, shown = path): string => {
  const input = openInput(path, shown);
  try {
    if (input.size > LARGEST)
      throw failed(`can't read '${shown}': ${input.size} bytes are more than ${LARGEST}`);
    return readInput(input, shown, LARGEST).toString('utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw failed(`can't read '${shown}': ${cause(error)}`);
  } finally {
    closeSync(input.fd);
  }
};

/** A value in a few characters, as JSON: what a message says was found. */
export const shownValue = (value: unknown): string => {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  let text: string;
  try {
    text = JSON.stringify(value) ?? 'nothing';
  } catch {
    // Lines of JSONL files come here whatever they hold: writing them down recurses as deep as they nest.
    text = 'something nested too deeply';
  }
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
  return `${at}: ${wanted}, found ${shownValue(issue.input)}`;
};

/** Beyond it a wrong value may hold millions of mistakes, and a thousand bytes for each: the first one is told alone. */
const MANY_PARTS = 50_000;

const hasManyParts = (value: unknown): boolean => {
  const rest: unknown[] = [value];
  for (let parts = 0; rest.length > 0;) {
    const one = rest.pop();
    if (typeof one !== 'object' || one === null) continue;
    const inner: unknown[] = Array.isArray(one) ? one : Object.values(one);
    parts += inner.length;
    if (parts > MANY_PARTS) return true;
    for (const each of inner) rest.push(each);
  }
  return false;
};

const parsed = <S extends v.GenericSchema>(schema: S, { value }: Placed): v.SafeParseResult<S> =>
  v.safeParse(schema, value, { abortEarly: hasManyParts(value) });

interface Misread {
  path: (string | number)[];
  what: string;
}

/** Keys that the schema library leaves out of a map without a word. */
const LEFT_OUT = ['__proto__', 'prototype', 'constructor'];

/** Where a value that fits was taken for another: a list is an object to the schema library, and a few keys are nothing. */
const misread = (input: unknown, output: unknown): Misread | undefined => {
  const rest = [{ input, output, path: [] as Misread['path'] }];
  while (rest.length > 0) {
    const { input: read, output: taken, path } = rest.pop()!;
    if (typeof read !== 'object' || read === null || typeof taken !== 'object' || taken === null) continue;
    if (Array.isArray(read) !== Array.isArray(taken))
      return { path, what: 'expected an object, found a list' };
    const lost = LEFT_OUT.find((key) => Object.hasOwn(read, key) && !Object.hasOwn(taken, key));
    if (lost !== undefined) return { path: [...path, lost], what: 'expected another key' };
    for (const [key, inner] of Object.entries(taken))
      if (typeof inner === 'object')
        rest.push({
          input: (read as Record<string, unknown>)[key],
          output: inner,
          path: [...path, Array.isArray(taken) ? Number(key) : key],
        });
  }
  return undefined;
};

/** All problems of a value, each with its place; empty when it fits. */
export const problemsOf = (schema: v.GenericSchema, placed: Placed, file: string): string[] => {
  const result = parsed(schema, placed);
  if (result.success) {
    const found = misread(placed.value, result.output);
    if (!found) return [];
    const line = placed.lineOf ? `:${placed.lineOf(found.path)}` : '';
    return [`${file}${line}: ${found.path.join('.') || 'the whole'}: ${found.what}`];
  }
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
  const result = parsed(schema, placed);
  if (result.success && !misread(placed.value, result.output)) return result.output;
  throw fail(problemsOf(schema, placed, file).slice(0, 20));
};

/** The message of a syntax error that quotes what it met. */
const SYNTAX_MESSAGE = 200;

/** A JSON text as a value; a syntax error, or what two readers may take for different values, names file and line. */
export const parseJson = (written: string, file: string, fail: typeof usage = failed): unknown => {
  const text = written.charCodeAt(0) === 0xfeff ? written.slice(1) : written;
  if (text.trim() === '') throw fail(`${file}: expected JSON, found nothing`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const lost = lostIn(text);
    if (lost) throw fail(`${file}:${lost.line}: ${lost.what}`);
    const message = (error instanceof Error ? error.message : String(error)).replace(
      /^JSON Parse error: /,
      '',
    );
    throw fail(`${file}:${syntaxLine(text)}: expected JSON: ${message.slice(0, SYNTAX_MESSAGE)}`);
  }
  const unclear = unclearIn(text, value);
  if (unclear) throw fail(`${file}:${unclear.line}: ${unclear.what}`);
  return value;
};

/** A JSON file checked by its schema. */
export const readJson = <S extends v.GenericSchema>(
  path: string,
  schema: S,
  name = path,
  fail: typeof usage = failed,
): v.InferOutput<S> => check(schema, { value: parseJson(readText(path, name), name, fail) }, name, fail);

/** A JSON value as our files hold it: indented, one newline at the end, keys in the writer's order, harmless on a terminal. */
export const jsonText = (value: unknown): string => `${plainJson(JSON.stringify(value, null, 2))}\n`;
