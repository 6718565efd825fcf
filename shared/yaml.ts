import { isMap, isScalar, isSeq, LineCounter, parse, parseAllDocuments, type Node, type Pair } from 'yaml';
import { failed, usage } from './failure.ts';
import type { Placed } from './read.ts';

/**
 * Plain scalars that YAML 1.1 (kubectl: `sigs.k8s.io/yaml`) and YAML 1.2 (our parser) read differently: booleans by other
 * words, octal, binary, sexagesimal and underscored numbers. Refused, so that nobody's file means two things.
 */
const AMBIGUOUS =
  /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|[-+]?0[0-7_]+|[-+]?0o[0-7]+|[-+]?0[bB][01_]+|[-+]?0[xX][0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|<<|=)$/;

/** A number once its underscores are taken out, as YAML 1.1 reads one. */
const isUnderscored = (source: string): boolean =>
  source.includes('_') &&
  /^[-+]?(?:[0-9]|\.[0-9])/.test(source) &&
  /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(source.replaceAll('_', ''));

const isAmbiguous = (source: string): boolean => AMBIGUOUS.test(source) || isUnderscored(source);

/** Problems told of one file: the first ones say what is wrong with it. */
const TOLD = 20;

/**
 * One YAML document with the line of each value. Refuses what kubectl reads otherwise, several documents, duplicate keys,
 * keys that aren't texts, anchors, aliases and tags (their expansion is a way to exhaust memory).
 */
export const parseYaml = (written: string, file: string): Placed => {
  const lines = new LineCounter();
  const documents = parseAllDocuments(written, {
    lineCounter: lines,
    uniqueKeys: true,
    schema: 'core',
    merge: false,
    logLevel: 'silent',
  });
  if ('empty' in documents || documents.length === 0) return { value: undefined, lineOf: () => 1 };
  const at = (offset: number): string => `${file}:${lines.linePos(offset).line}`;
  const problems: string[] = [];
  if (documents.length > 1)
    problems.push(
      `${at(documents[1]!.range[0])}: expected one document, found ${documents.length}; remove the '---'`,
    );
  const document = documents[0]!;
  for (const error of [...document.errors, ...document.warnings])
    problems.push(
      `${at(error.pos[0])}: ${error.message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '')}`,
    );
  const placed = new Map<string, number>();
  const walk = (node: unknown, path: string): void => {
    const one = node as Node | null;
    if (!one) return;
    if (one.range) placed.set(path, lines.linePos(one.range[0]).line);
    const offset = one.range?.[0] ?? 0;
    if ('anchor' in one && one.anchor)
      problems.push(`${at(offset)}: anchors are not read; write the value out`);
    if ('source' in one && !isScalar(one))
      problems.push(`${at(offset)}: aliases are not read; write the value out`);
    if (one.tag) problems.push(`${at(offset)}: tags such as '${one.tag}' are not read; remove it`);
    if (isScalar(one) && one.type === 'PLAIN' && isAmbiguous(String(one.source)))
      problems.push(
        `${at(offset)}: '${one.source}' is read differently by kubectl; quote it, or write it as a decimal number, true or false`,
      );
    if (isSeq(one)) for (const [index, item] of one.items.entries()) walk(item, `${path}/${index}`);
    if (isMap(one))
      for (const { key, value } of one.items as Pair<Node, Node | null>[]) {
        if (!isScalar(key) || typeof key.value !== 'string') {
          problems.push(`${at(key.range?.[0] ?? offset)}: expected a text as key; quote it`);
          continue;
        }
        // Every object has a property of that name, so no check of unknown keys would see it.
        if (key.value === '__proto__')
          problems.push(`${at(key.range?.[0] ?? offset)}: __proto__: unknown key`);
        if (key.type === 'PLAIN' && isAmbiguous(key.value))
          problems.push(
            `${at(key.range?.[0] ?? offset)}: the key '${key.value}' is read differently by kubectl; quote it`,
          );
        const inner = `${path}/${key.value}`;
        if (key.range) placed.set(inner, lines.linePos(key.range[0]).line);
        const line = placed.get(inner);
        walk(value, inner);
        if (line !== undefined) placed.set(inner, line);
      }
  };
  walk(document.contents, '');
  if (problems.length > 0) throw usage(problems.slice(0, TOLD));
  return {
    value: document.toJS({ maxAliasCount: 0 }) as unknown,
    lineOf: (path) => {
      for (let depth = path.length; depth >= 0; depth--) {
        const line = placed.get(
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

/** A YAML document that another program wrote (a kubeconfig), anchors and all, as a value; what is no YAML is refused. */
export const parseForeignYaml = (written: string, file: string): unknown => {
  try {
    return parse(written, { logLevel: 'error', maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw failed(`${file}: expected YAML: ${String((error as Error).message).split('\n')[0]}`);
  }
};

/** Keys that every YAML reader takes for the text they are. */
const PLAIN_KEY = /^(?!(?:y|n|yes|no|on|off|true|false|null|nan|inf)$)[a-z][a-z./-]*[a-z]$/i;
/** What may stand in a block of lines as it is: printable ASCII; no tab, no blank at a line's end or the first line's start. */
const BLOCK = /^[!-~](?:[ -~]*[!-~])?(?:\n(?:[ -~]*[!-~])?)*$/;

/** A text in double quotes as JSON and YAML both read it; what YAML doesn't take raw is escaped. */
const quoted = (text: string): string => {
  if (!text.isWellFormed())
    throw failed(`can't write ${JSON.stringify(text).slice(0, 80)}: it holds half a character`);
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
};

const formatted = (value: unknown, indent: string): string => {
  if (typeof value === 'string') {
    const lines = value.split('\n');
    if (lines.length < 3 || !BLOCK.test(value) || value.endsWith('\n\n')) return ` ${quoted(value)}\n`;
    const ends = value.endsWith('\n');
    const body = (ends ? lines.slice(0, -1) : lines).map((line) =>
      line === '' ? '\n' : `${indent}${line}\n`,
    );
    return ` ${ends ? '|' : '|-'}\n${body.join('')}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw failed(`can't write the number ${value}`);
  if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)}\n`;
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []\n';
    return `\n${value.map((item: unknown) => `${indent}-${formatted(item, `${indent}  `).replace(/^\n +/, ' ')}`).join('')}`;
  }
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  if (entries.length === 0) return ' {}\n';
  return `\n${entries
    .map(
      ([key, inner]) =>
        `${indent}${PLAIN_KEY.test(key) ? key : quoted(key)}:${formatted(inner, `${indent}  `)}`,
    )
    .join('')}`;
};

/**
 * A value as YAML that every reader takes for the same value: texts in double quotes (long ones of plain lines as a block),
 * keys in the order given. JSON's own quoting is what YAML 1.1 and 1.2 agree on.
 */
export const formatYaml = (value: unknown): string => formatted(value, '').replace(/^[\n ]/, '');
