/** Values written as YAML that every reader takes for the same. Pure. */
import { failed } from './failure.ts';

/** Keys that every YAML reader takes for the text they are. */
const PLAIN_KEY = /^(?!(?:y|n|yes|no|on|off|true|false|null|nan|inf)$)[a-z][a-z./-]*[a-z]$/i;
/** The same for keys and texts of more kinds: what begins like a word or a path, and is neither a word of YAML nor half a number. */
const PLAIN_WORD =
  /^(?!(?:y|n|yes|no|on|off|true|false|null|nan|inf)$)(?!e[-+\d_.]*$)[a-z/](?:[\w./@:+-]*[\w/])?$/i;
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

const formatted = (value: unknown, indent: string, plain: boolean): string => {
  if (typeof value === 'string') {
    if (plain && PLAIN_WORD.test(value)) return ` ${value}\n`;
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
    return `\n${value.map((item: unknown) => `${indent}-${formatted(item, `${indent}  `, plain).replace(/^\n +/, ' ')}`).join('')}`;
  }
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  if (entries.length === 0) return ' {}\n';
  return `\n${entries
    .map(
      ([key, inner]) =>
        `${indent}${(plain ? PLAIN_WORD : PLAIN_KEY).test(key) ? key : quoted(key)}:${formatted(inner, `${indent}  `, plain)}`,
    )
    .join('')}`;
};

/**
 * A value as YAML that every reader takes for the same value: texts in double quotes (long ones of plain lines as a block),
 * keys in the order given. JSON's own quoting is what YAML 1.1 and 1.2 agree on. With `plain`, texts that can be taken for
 * nothing else stand without quotes, as people write them.
 */
export const formatYaml = (value: unknown, { plain = false } = {}): string =>
  formatted(value, '', plain).replace(/^[\n ]/, '');
