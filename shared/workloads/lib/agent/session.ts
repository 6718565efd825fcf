/**
 * A long session, the same on every machine: turns of a question, a file that is read, and an answer, written down in an
 * agent's own format by the templates of its settings.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { fillAll, type Values } from './placeholders.ts';
import type { SessionFormat } from './settings.ts';

/** What a session is made for: `context` and `history` count tokens of long turns, `entries` lines of short ones. */
export type Kind = 'context' | 'entries' | 'history';

/** Characters that count as a token, here and in the agents' own estimates. */
const PER_TOKEN = 4;
/** Entries of one turn: question, call, result, answer. */
const ENTRIES = 4;
/** Tokens of a long turn, and of one entry of a short one. */
const LONG_TURN = 2000;
const SHORT_ENTRY = 20;
/** History tokens up to which nothing is compacted; a longer history is once for each such part of it. */
const COMPACTED_ABOVE = 1_000_000;
/** Turns that a compaction keeps as they are. */
const KEPT = 10;

const WORDS =
  'the agent reads a file and writes what it found so that the next turn knows more than the last "quotes" and\tTabs größer naïve 記録 src/main.ts 42'.split(
    ' ',
  );

/** Numbers from xorshift32 (Marsaglia 2003), seeded with the turn, so that no turn depends on another. */
const dice = (seed: number): ((below: number) => number) => {
  let state = (seed + 1) * 0x9e3779b1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
};

/** Words up to about so many characters, in lines of about eighty. */
const prose = (next: (below: number) => number, characters: number): string => {
  const parts: string[] = [];
  for (let length = 0, line = 0; length < characters;) {
    const word = WORDS[next(WORDS.length)]!;
    line += word.length + 1;
    parts.push(word, line > 80 ? '\n' : ' ');
    if (line > 80) line = 0;
    length += word.length + 1;
  }
  return parts.slice(0, -1).join('');
};

export type Entry =
  | { kind: 'user' | 'answer'; text: string }
  | { kind: 'call'; call: string }
  | { kind: 'result'; call: string; text: string }
  | { kind: 'compaction'; text: string; tokens: number; kept: number };

/** Shown at the end of the last answer. */
export const LAST_WORDS = 'HISTORY-ENDS-HERE';

/** After which turns a history is compacted: in parts of about the same length. */
const compactions = (kind: Kind, size: number, turns: number): Set<number> => {
  const count = kind === 'history' && size > COMPACTED_ABOVE ? Math.floor(size / COMPACTED_ABOVE) : 0;
  return new Set(Array.from({ length: count }, (_, at) => Math.round((turns * (at + 1)) / (count + 1)) - 1));
};

/** Every entry of a session of one size, in order. `kept` of a compaction counts entries back from it. */
export function* entriesOf(kind: Kind, size: number): Generator<Entry> {
  const short = kind === 'entries';
  const perTurn = (short ? SHORT_ENTRY * ENTRIES : LONG_TURN) * PER_TOKEN;
  const turns = Math.max(1, Math.ceil(short ? size / ENTRIES : size / LONG_TURN));
  const compacted = compactions(kind, size, turns);
  let tokens = 0;
  for (let turn = 0; turn < turns; turn++) {
    const next = dice(turn);
    const call = `call_${turn.toString(16).padStart(8, '0')}`;
    const [question, result, answer] = short ? [1 / 4, 1 / 2, 1 / 4] : [0.05, 0.85, 0.1];
    yield { kind: 'user', text: `${turn + 1}. ${prose(next, perTurn * question!)}` };
    yield { kind: 'call', call };
    yield { kind: 'result', call, text: prose(next, perTurn * result!) };
    const last = turn === turns - 1;
    yield { kind: 'answer', text: `${prose(next, perTurn * answer!)}${last ? `\n\n${LAST_WORDS}` : ''}` };
    tokens += perTurn / PER_TOKEN;
    if (compacted.has(turn)) {
      yield { kind: 'compaction', text: prose(next, 8000), tokens, kept: KEPT * ENTRIES };
      tokens = KEPT * LONG_TURN;
    }
  }
}

/** The first 16 hex digits of SHA-256 over what a session says, whatever format it is written in. */
export const contentOf = (kind: Kind, size: number): string => {
  const hash = createHash('sha256');
  for (const entry of entriesOf(kind, size)) hash.update(`${JSON.stringify(entry)}\n`);
  return hash.digest('hex').slice(0, 16);
};

/** Bytes that are written at once. */
const CHUNK = 1 << 20;
/** When the first entry was made, ms; each later one a second after the one before. */
const BEGAN = Date.UTC(2026, 0, 1);
export const SESSION_ID = '0198c0de-0000-7000-8000-00000000beef';

/**
 * Writes a session in an agent's format; `{project}` and `{file}` stay in it, because each sample has its own. Returns the number of lines and
 * bytes and the SHA-256 of the file.
 */
export const writeSession = (
  path: string,
  format: SessionFormat,
  kind: Kind,
  size: number,
): { lines: number; bytes: number; sha256: string } => {
  const file = openSync(path, 'w');
  const hash = createHash('sha256');
  const ids: string[] = [];
  let [text, bytes, lines] = ['', 0, 0];
  const flush = (): void => {
    const part = Buffer.from(text);
    hash.update(part);
    writeSync(file, part);
    bytes += part.length;
    text = '';
  };
  const write = (template: Readonly<Record<string, unknown>>, more: Values): void => {
    const id = ((lines * 0x9e3779b1 + 1) >>> 0).toString(16).padStart(8, '0');
    const ms = BEGAN + lines * 1000;
    const values: Values = {
      id,
      parent: ids.at(-1) ?? null,
      time: new Date(ms).toISOString(),
      ms,
      uuid: SESSION_ID,
      ...more,
    };
    text += `${JSON.stringify(fillAll(template, values))}\n`;
    if (JSON.stringify(template).includes('{id}')) ids.push(id);
    lines++;
    if (text.length > CHUNK) flush();
  };
  try {
    for (const template of format.head) write(template, {});
    for (const { kind: of, ...entry } of entriesOf(kind, size)) {
      const templates = format[of];
      const kept = 'kept' in entry ? (ids.at(-entry.kept) ?? ids[0] ?? '') : '';
      for (const template of templates ?? []) write(template, { ...entry, kept });
    }
    flush();
  } finally {
    closeSync(file);
  }
  return { lines, bytes, sha256: hash.digest('hex') };
};
