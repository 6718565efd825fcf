import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Node, type Pair } from 'yaml';
import { usage } from './failure.ts';
import type { Placed } from './read.ts';

/**
 * Plain scalars that YAML 1.1 (kubectl: `sigs.k8s.io/yaml`) and YAML 1.2 (our parser) read differently: booleans by other
 * words, octal, binary, sexagesimal and underscored numbers. Refused, so that nobody's file means two things.
 */
const AMBIGUOUS =
  /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|[-+]?0[0-7_]+|[-+]?0o[0-7]+|[-+]?0[bB][01_]+|[-+]?0[xX][0-9a-fA-F_]+|[-+]?[0-9][0-9_]*_[0-9_.]*|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|<<|=)$/;

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
    if (isScalar(one) && one.type === 'PLAIN' && AMBIGUOUS.test(String(one.source)))
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
        if (key.type === 'PLAIN' && AMBIGUOUS.test(key.value))
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
  if (problems.length > 0) throw usage(problems);
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
