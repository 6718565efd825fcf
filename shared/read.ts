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

const BLANKS = /[ \t\n\r]*/y;
const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?![\w.+-])/y;

/** What may stand next: the kinds of token, by the last one. */
const VALUE = '"{[0';
const AFTER_VALUE: Readonly<Record<string, string>> = { '{': ',}', '[': ',]', '': '' };

/**
 * The line of a JSON syntax error, which the engine's message doesn't always tell: where the first token stands that can't
 * follow what is before it.
 */
const syntaxLine = (written: string): number => {
  const open: string[] = [];
  let expected = VALUE;
  let at = 0;
  for (;;) {
    BLANKS.lastIndex = at;
    at += BLANKS.exec(written)![0].length;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(written)?.[0] ?? '';
    const kind = /^[{}[\],:"]/.test(token) ? token[0]! : '0';
    if (token === '' || !expected.includes(kind)) break;
    at += token.length;
    const inObject = open.at(-1) === '{';
    if (kind === '{' || kind === '[') {
      open.push(kind);
      expected = kind === '{' ? '"}' : `${VALUE}]`;
    } else if (kind === ',') expected = inObject ? '"' : VALUE;
    else if (kind === ':') expected = VALUE;
    else if (kind === '"' && inObject && expected !== VALUE) expected = ':';
    else {
      if (kind === '}' || kind === ']') open.pop();
      expected = AFTER_VALUE[open.at(-1) ?? '']!;
    }
  }
  return written.slice(0, at).split('\n').length;
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
