/** What YAML 1.1 (kubectl: `sigs.k8s.io/yaml`) and YAML 1.2 (our parser) read differently. Refused, so that nobody's file means two things. Pure. */

/** Plain scalars: booleans by other words, octal, binary, sexagesimal numbers, merge keys. */
const AMBIGUOUS =
  /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|[-+]?0[0-7_]+|[-+]?0[oO][0-7]+|[-+]?0[bB][01_]+|[-+]?0[xX][0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|<<|=)$/;

const NUMBER = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/;

/** YAML 1.1 takes underscores out of whatever begins like a number, and looks again. */
const isUnderscored = (source: string): boolean => {
  const bare = source.replaceAll('_', '');
  return bare !== source && /^[-+.0-9]/.test(source) && (NUMBER.test(bare) || AMBIGUOUS.test(bare));
};

/** A number too large for one, which kubectl takes for a text. */
const isBoundless = (source: string): boolean => NUMBER.test(source) && !Number.isFinite(Number(source));

const isAmbiguous = (source: string): boolean =>
  AMBIGUOUS.test(source) || isUnderscored(source) || isBoundless(source);

/** A scalar as it is written: its style, its text without and with quotes, and what our parser reads. */
export interface Written {
  plain: boolean;
  source: string;
  raw: string;
  value: unknown;
  isKey: boolean;
  /** Inside braces or brackets. */
  inFlow: boolean;
  /** The whole document is JSON, which kubectl reads as JSON. */
  inJson: boolean;
}

/** Why a scalar is not read; undefined: it is. */
export const scalarProblem = ({
  plain,
  source,
  raw,
  value,
  isKey,
  inFlow,
  inJson,
}: Written): string | undefined => {
  const shown = `${isKey ? 'the key ' : ''}'${source}'`;
  if (plain && isAmbiguous(source))
    return `${shown} is read differently by kubectl; quote it${isKey ? '' : ', or write it as a decimal number, true or false'}`;
  if (plain && (/^[?:]/.test(source) || (inFlow && source.includes('?'))))
    return `${shown} is read differently by kubectl; quote it`;
  if (typeof value === 'string' && !value.isWellFormed())
    return `${JSON.stringify(value).slice(0, 80)} holds half a character`;
  const escape = inJson || !raw.startsWith('"') ? undefined : /\\(?:u[dD][89a-fA-F]|\/)/.exec(raw)?.[0];
  return escape === undefined
    ? undefined
    : `kubectl does not read the escape ${escape}; write the character itself`;
};

/**
 * Characters that one reader takes for the end of a line, for a blank or for nothing, and another for text: controls, the
 * line breaks of YAML 1.1, a byte order mark inside, what isn't a character; and what bytes that are no UTF-8 become.
 */
const STRANGE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffd-\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const nameOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Larger, or nested deeper, than anything that people write, and far from where a parser's recursion ends. */
const LARGEST = 1 << 18;
const DEEPEST = 100;

/** Where brackets or list dashes nest too deeply; brackets in texts count as well, as long as they are not closed. */
const tooDeep = (written: string): number | undefined => {
  let open = 0;
  for (const { index, 0: one } of written.matchAll(/[[{]|[\]}]|^[ ]*(?:[-?][ ]+){100}/gm)) {
    if (one.length > 1) return index;
    open += one === '[' || one === '{' ? 1 : open > 0 ? -1 : 0;
    if (open > DEEPEST) return index;
  }
  return undefined;
};

/** What of a text is refused before any value is read: where it stands, and why. */
export function* strangeIn(written: string): Generator<[offset: number, problem: string]> {
  if (written.length > LARGEST) {
    yield [0, `${written.length} characters are more than ${LARGEST}`];
    return;
  }
  const deep = tooDeep(written);
  if (deep !== undefined) yield [deep, 'nested too deeply'];
  for (const { index, 0: one } of written.matchAll(STRANGE))
    if (one === '\ufffd') yield [index, 'bytes that are not UTF-8; write it as UTF-8'];
    else if (index > 0 || one !== '\ufeff')
      yield [
        index,
        `the character ${nameOf(one)} is read differently by kubectl; leave it out, or write it as an escape in double quotes`,
      ];
  // YAML ends a line there, and the parser does not.
  for (const { index } of written.matchAll(/\r(?!\n)/g))
    yield [index, 'a carriage return alone ends a line in YAML; write line feeds'];
  for (const { index } of written.matchAll(/^%/gm)) yield [index, 'directives are not read; remove the line'];
}
