/**
 * A command string split as a POSIX shell splits it into words, with nothing expanded: quotes and backslashes are read, and
 * whatever a shell would do beyond that is a problem, because no shell runs here (POSIX.1-2024, Shell Command Language §2.2,
 * §2.3). The npm library for this, shell-quote, reads `a#b` as a comment and an open quote as a closed one.
 */
export type Words = { words: string[] } | { problems: string[] };

/** What a shell does at a character outside quotes, and why it can't be done here. */
const SPECIAL: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'|&;<>()'].map((one) => [one, 'is an operator of a shell'])),
  '*': 'would be matched against file names by a shell',
  '?': 'would be matched against file names by a shell',
  '`': 'would run a command in a shell',
};

const EXPANDED = 'would be expanded by a shell';
/**
 * `$` and what it would expand to; a `$` before anything else is itself. `$'` is more than a quote only outside quotes; a
 * joined line may complete an expansion.
 */
const EXPANSION = /\$(?:\w+|[@*#?$!({-]|(?=['"]|\\\n))/y;
const EXPANSION_IN_QUOTES = /\$(?:\w+|[@*#?$!({-]|(?=\\\n))/y;

class Splitter {
  readonly words: string[] = [];
  /** By what a shell would do: one problem of a kind is enough. */
  readonly problems = new Map<string, string>();
  /** The word being read; undefined between words, so that `''` is a word and blanks are none. */
  #word: string | undefined;
  /** Nothing of the word was quoted so far: a shell looks for assignments only there. */
  #bare = true;
  #bracket = false;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  run(): this {
    for (let at = 0; at < this.#text.length;) at = this.#step(at);
    this.#endWord();
    return this;
  }

  #refuse(what: string, why: string): void {
    if (!this.problems.has(why)) this.problems.set(why, `${what} ${why}`);
  }

  /** A new line before the first word or after the last one separates nothing. */
  #isEdge(at: number): boolean {
    return (this.words.length === 0 && this.#word === undefined) || this.#text.slice(at).trim() === '';
  }

  #add(part: string): void {
    this.#word = (this.#word ?? '') + part;
  }

  #endWord(): void {
    if (this.#word !== undefined) this.words.push(this.#word);
    this.#word = undefined;
    this.#bare = true;
    this.#bracket = false;
  }

  /** Takes what stands at a place outside quotes; gives the place after it. */
  #step(at: number): number {
    const one = this.#text[at]!;
    const blank = one === ' ' || one === '\t' || (one === '\n' && this.#isEdge(at));
    if (blank) this.#endWord();
    else if (one === '\\' || one === "'" || one === '"') {
      this.#bare = false;
      if (one === '\\') return this.#escaped(at + 1);
      return one === "'" ? this.#single(at + 1) : this.#double(at + 1);
    } else if (one === '#' && this.#word === undefined) {
      this.#refuse("'#'", 'would start a comment in a shell');
      return this.#text.length;
    } else if (one === '\n') this.#refuse('a new line', 'would start another command in a shell');
    else if (SPECIAL[one]) this.#refuse(`'${one}'`, SPECIAL[one]);
    else if (one === '$') return this.#dollar(at, EXPANSION);
    else this.#plain(one);
    return at + 1;
  }

  #plain(one: string): void {
    const word = this.#word ?? '';
    if (one === '~' && /^(?:[A-Za-z_]\w*=)?$/.test(word)) this.#refuse("'~'", EXPANDED);
    if (one === ']' && this.#bracket) this.#refuse("'[' and ']'", SPECIAL['*']!);
    if (one === '=' && this.words.length === 0 && this.#bare && /^[A-Za-z_]\w*$/.test(word))
      this.#refuse(`'${word}='`, `would set a variable in a shell; start with: env ${word}=…`);
    this.#bracket ||= one === '[';
    this.#add(one);
  }

  #dollar(at: number, pattern: RegExp): number {
    pattern.lastIndex = at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) this.#add('$');
    else this.#refuse(`'${found}'`, EXPANDED);
    // What stands in braces or parentheses has rules of its own; it is refused as a whole.
    return found?.endsWith('{') || found?.endsWith('(') ? this.#text.length : at + (found?.length ?? 1);
  }

  #escaped(at: number): number {
    const one = this.#text[at];
    if (one === undefined) this.#refuse('a backslash', 'stands at the end');
    else if (one !== '\n') this.#add(one);
    return at + 1;
  }

  #single(from: number): number {
    const close = this.#text.indexOf("'", from);
    if (close === -1) this.#refuse('a single quote', 'is not closed');
    this.#add(this.#text.slice(from, close === -1 ? undefined : close));
    return close === -1 ? this.#text.length : close + 1;
  }

  #double(from: number): number {
    this.#add('');
    for (let at = from; at < this.#text.length;) {
      const one = this.#text[at]!;
      if (one === '"') return at + 1;
      if (one === '$') at = this.#dollar(at, EXPANSION_IN_QUOTES);
      else if (one === '\\' && '$`"\\\n'.includes(this.#text[at + 1] ?? ' ')) at = this.#escaped(at + 1);
      else {
        if (one === '`') this.#refuse("'`'", SPECIAL['`']!);
        this.#add(one);
        at++;
      }
    }
    // Past a refused expansion the quote's end was not looked for.
    if (!this.problems.has(EXPANDED)) this.#refuse('a double quote', 'is not closed');
    return this.#text.length;
  }
}

/** The words of a command, or everything in it that needs a shell. */
export const splitWords = (text: string): Words => {
  const { words, problems } = new Splitter(text).run();
  if (problems.size > 0) return { problems: [...problems.values()] };
  if (words.length === 0) return { problems: ['it is empty'] };
  if (words[0] === '') return { problems: ['its program is empty'] };
  return { words };
};

/** A word as a profile's command holds it: `{` and `}` doubled, so that none of it reads as a placeholder but `{root}`; a shell's `${root}` is none. */
export const escapeBraces = (text: string): string =>
  text.replace(/\$?\{root\}|[{}]/g, (found) =>
    found === '{root}' ? found : found.replace('{', '{{').replace('}', '}}'),
  );
