/** What `JSON.parse` doesn't tell of a text: where it goes wrong, and what two readers may take for different values. Pure. */

const BLANKS = /[ \t\n\r]*/y;
const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?![\w.+-])/y;

/** What may stand next: the kinds of token, by the last one. */
const VALUE = '"{[0';
const AFTER_VALUE: Readonly<Record<string, string>> = { '{': ',}', '[': ',]', '': '' };

/** Where reading ends, and the keys of the objects that are open there. */
interface Walk {
  at: number;
  /** The first key that its object has already. */
  repeated?: string;
}

/** Reads token by token to the first one that can't follow what is before it, or that repeats a key. */
const walk = (written: string): Walk => {
  const open: { bracket: string; keys: Set<string> }[] = [];
  let expected = VALUE;
  let at = 0;
  for (;;) {
    BLANKS.lastIndex = at;
    at += BLANKS.exec(written)![0].length;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(written)?.[0] ?? '';
    const kind = /^[{}[\],:"]/.test(token) ? token[0]! : '0';
    if (token === '' || !expected.includes(kind)) return { at };
    const inside = open.at(-1);
    const inObject = inside?.bracket === '{';
    if (kind === '{' || kind === '[') {
      open.push({ bracket: kind, keys: new Set() });
      expected = kind === '{' ? '"}' : `${VALUE}]`;
    } else if (kind === ',') expected = inObject ? '"' : VALUE;
    else if (kind === ':') expected = VALUE;
    else if (kind === '"' && inObject && expected !== VALUE) {
      const key = JSON.parse(token) as string;
      if (inside!.keys.has(key)) return { at, repeated: key };
      inside!.keys.add(key);
      expected = ':';
    } else {
      if (kind === '}' || kind === ']') open.pop();
      expected = AFTER_VALUE[open.at(-1)?.bracket ?? '']!;
    }
    at += token.length;
  }
};

const lineAt = (written: string, at: number): number => written.slice(0, at).split('\n').length;

/** The line of a syntax error, which the engine's message doesn't always tell. */
export const syntaxLine = (written: string): number => lineAt(written, walk(written).at);

/** How many members all its objects have together, and how deep it nests, of a text that is JSON. */
const shapeOf = (written: string): { members: number; depth: number } => {
  let [members, depth, open] = [0, 0, 0];
  for (let at = 0; at < written.length; at++)
    switch (written.charCodeAt(at)) {
      case 0x22: // "
        for (at++; written.charCodeAt(at) !== 0x22; at++) if (written.charCodeAt(at) === 0x5c) at++;
        break;
      case 0x3a: // :
        members++;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth = Math.max(depth, ++open);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        open--;
        break;
      default:
    }
  return { members, depth };
};

/** The same count of a value; a key that stands twice in the text is one here. */
const membersOf = (value: unknown): number => {
  let members = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const one = rest.pop();
    if (typeof one !== 'object' || one === null) continue;
    const inner: unknown[] = Array.isArray(one) ? one : Object.values(one);
    if (!Array.isArray(one)) members += inner.length;
    for (const each of inner) if (typeof each === 'object') rest.push(each);
  }
  return members;
};

/** Deeper than any file that k8sbench reads, and far from where recursion over a value ends. */
export const DEEPEST = 500;

export interface Unclear {
  line: number;
  what: string;
}

/** Where bytes were lost when the text was read: a decoder makes U+FFFD of those that are no UTF-8. */
export const lostIn = (written: string): Unclear | undefined => {
  const lost = written.indexOf('\ufffd');
  return lost === -1
    ? undefined
    : { line: lineAt(written, lost), what: 'bytes that are not UTF-8; write it as UTF-8' };
};

/** Why a text that is JSON is refused all the same: bytes lost in reading it, a key that stands twice, bottomless nesting. */
export const unclearIn = (written: string, value: unknown): Unclear | undefined => {
  const lost = lostIn(written);
  if (lost) return lost;
  const { members, depth } = shapeOf(written);
  if (depth > DEEPEST) return { line: 1, what: `nested ${depth} levels deep, more than ${DEEPEST}` };
  if (members === membersOf(value)) return undefined;
  const { at, repeated } = walk(written);
  return {
    line: lineAt(written, at),
    what: `the key ${JSON.stringify(repeated).slice(0, 80)} stands twice; leave one out`,
  };
};
