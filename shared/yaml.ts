import {
  CST,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parse,
  parseAllDocuments,
  type Node,
  type Pair,
  type Scalar,
} from 'yaml';
import { failed, usage } from './failure.ts';
import type { Placed } from './read.ts';
import { scalarProblem, strangeIn } from './yaml-differences.ts';

/** Problems told of one file: the first ones say what is wrong with it. */
const TOLD = 20;

/** A tab outside of quotes and comments, which kubectl takes for an error or for text. */
function* tabsIn(written: string): Generator<[offset: number, problem: string]> {
  if (!written.includes('\t')) return;
  let offset = 0;
  for (const token of new Lexer().lex(written)) {
    const kind = CST.tokenType(token);
    if (
      token.includes('\t') &&
      kind !== 'comment' &&
      kind !== 'single-quoted-scalar' &&
      kind !== 'double-quoted-scalar'
    )
      yield [offset + token.indexOf('\t'), 'a tab is read differently by kubectl; use blanks'];
    // The lexer's own marks before scalars, documents and flow errors are no characters of the text.
    if (!/^[\u0002\u0018\u001f]$/.test(token)) offset += token.length;
  }
}

const isJson = (written: string): boolean => {
  if (!/^\s*\{/.test(written)) return false;
  try {
    JSON.parse(written);
    return true;
  } catch {
    return false;
  }
};

/** Every part of a document with the line it stands on, by its path; and what is not read. */
class Walk {
  readonly problems: string[] = [];
  readonly lines = new Map<string, number>();
  readonly #written: string;
  readonly #inJson: boolean;
  readonly #place: (offset: number) => { line: number; shown: string };

  constructor(written: string, place: (offset: number) => { line: number; shown: string }) {
    this.#written = written;
    this.#inJson = isJson(written);
    this.#place = place;
  }

  problem(offset: number, what: string): void {
    this.problems.push(`${this.#place(offset).shown}: ${what}`);
  }

  visit(node: unknown, path: string, inFlow: boolean): void {
    const one = node as Node | null;
    if (!one) return;
    const offset = one.range?.[0] ?? 0;
    if (one.range) this.lines.set(path, this.#place(offset).line);
    if ('anchor' in one && one.anchor) this.problem(offset, 'anchors are not read; write the value out');
    if ('source' in one && !isScalar(one)) this.problem(offset, 'aliases are not read; write the value out');
    if (one.tag) this.problem(offset, `tags such as '${one.tag}' are not read; remove it`);
    if (isScalar(one)) this.#scalar(one, inFlow, false);
    if (isSeq(one))
      for (const [index, item] of one.items.entries())
        this.visit(item, `${path}/${index}`, inFlow || one.flow === true);
    if (isMap(one)) {
      const keys = new Set<string>();
      for (const pair of one.items as Pair<Node, Node | null>[])
        this.#pair(pair, keys, path, inFlow || one.flow === true, offset);
    }
  }

  #scalar(one: Scalar, inFlow: boolean, isKey: boolean): void {
    const [from = 0, to = 0] = one.range ?? [];
    const problem = scalarProblem({
      plain: one.type === 'PLAIN',
      source: String(one.source),
      raw: this.#written.slice(from, to),
      value: one.value,
      isKey,
      inFlow,
      inJson: this.#inJson,
    });
    if (problem !== undefined) this.problem(from, problem);
  }

  #pair(
    { key, value }: Pair<Node, Node | null>,
    keys: Set<string>,
    path: string,
    inFlow: boolean,
    offset: number,
  ): void {
    const at = key.range?.[0] ?? offset;
    if (!isScalar(key) || typeof key.value !== 'string')
      return this.problem(at, 'expected a text as key; quote it');
    if (keys.has(key.value)) this.problem(at, `the key '${key.value}' stands twice; leave one out`);
    keys.add(key.value);
    // Every object has a property of that name, so no check of unknown keys would see it.
    if (key.value === '__proto__') this.problem(at, '__proto__: unknown key');
    if (this.#written.slice(at, key.range?.[1]).includes('\n'))
      this.problem(at, 'expected a key on one line; is a comma or a quote missing?');
    this.#scalar(key, inFlow, true);
    const inner = `${path}/${key.value}`;
    this.visit(value, inner, inFlow);
    if (key.range) this.lines.set(inner, this.#place(at).line);
  }
}

/**
 * One YAML document with the line of each value. Refuses what kubectl reads otherwise, several documents, duplicate keys,
 * keys that aren't texts, anchors, aliases and tags (their expansion is a way to exhaust memory).
 */
export const parseYaml = (written: string, file: string): Placed => {
  try {
    return read(written, file);
  } catch (error) {
    // Of our parser's recursion; no values file nests a thousandth of it.
    if (error instanceof RangeError) throw usage(`${file}: nested too deeply`);
    throw error;
  }
};

/** Refuses a text for what it holds before any value is read. */
const refuseStrange = (written: string, file: string): void => {
  const problems = new Set<string>();
  for (const found of [strangeIn, tabsIn])
    for (const [offset, problem] of found(written)) {
      problems.add(`${file}:${written.slice(0, offset).split('\n').length}: ${problem}`);
      if (problems.size === TOLD) throw usage([...problems]);
    }
  if (problems.size > 0) throw usage([...problems]);
};

const read = (written: string, file: string): Placed => {
  refuseStrange(written, file);
  const counter = new LineCounter();
  const place = (offset: number): { line: number; shown: string } => {
    const { line } = counter.linePos(offset);
    return { line, shown: `${file}:${line}` };
  };
  const documents = parseAllDocuments(written, {
    lineCounter: counter,
    // Looked for by the walk below: the parser compares each key with every other.
    uniqueKeys: false,
    schema: 'core',
    merge: false,
    logLevel: 'silent',
  });
  const walk = new Walk(written, place);
  if ('empty' in documents || documents.length === 0) return { value: undefined, lineOf: () => 1 };
  if (documents.length > 1)
    walk.problem(
      documents[1]!.range[0],
      `expected one document, found ${documents.length}; remove the '---'`,
    );
  const document = documents[0]!;
  for (const { message, pos } of [...document.errors, ...document.warnings]) {
    if (message.startsWith('Maximum call stack')) throw new RangeError(message);
    walk.problem(pos[0], message.split('\n')[0]!.replace(IN_TEXT, ''));
  }
  walk.visit(document.contents, '', false);
  if (walk.problems.length > 0) throw usage(walk.problems.slice(0, TOLD));
  return {
    value: document.toJS({ maxAliasCount: 0 }) as unknown,
    lineOf: (path) => {
      for (let depth = path.length; depth >= 0; depth--) {
        const line = walk.lines.get(
          path
            .slice(0, depth)
            .map((part) => `/${part}`)
            .join(''),
        );
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
};

/** How the library says the place in its sentences. */
const IN_TEXT = / at line (\d+), column \d+:?$/;

/** A YAML document that another program wrote (a kubeconfig), anchors and all, as a value; what is no YAML is refused. */
export const parseForeignYaml = (written: string, file: string): unknown => {
  try {
    return parse(written, { logLevel: 'error', maxAliasCount: 100 }) as unknown;
  } catch (error) {
    const [said = ''] = String((error as Error).message).split('\n');
    const line = IN_TEXT.exec(said)?.[1];
    throw failed(`${file}${line ? `:${line}` : ''}: expected YAML: ${said.replace(IN_TEXT, '')}`);
  }
};
