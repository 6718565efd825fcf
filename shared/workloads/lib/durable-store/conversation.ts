/** The conversation that every store keeps: the same messages for the same turn, on every machine and runtime. */
import { createHash } from 'node:crypto';

export interface Message {
  role: string;
  tokens: number;
  text: string;
}

/** One turn of an agent: a question, three tools called and answered, and the reply. */
const ROLES = ['user', 'call', 'result', 'call', 'result', 'call', 'result', 'assistant'];

const WORDS = (
  'the store keeps each turn of a session so that an agent can go on where it stopped; "quotes", newlines\n and ' +
  'letters beyond ASCII (naïve, größer, 記録) are part of it, as are numbers like 42 and paths like src/main.ts'
).split(' ');

/** Messages of one turn. Numbers come from xorshift32 (Marsaglia 2003) seeded with the turn, so no turn depends on another. */
export const turnOf = (turn: number): Message[] => {
  let state = (turn + 1) * 0x9e3779b1;
  const next = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return ROLES.map((role) => {
    const words = Array.from({ length: 10 + next(20) }, () => WORDS[next(WORDS.length)]!);
    return { role, tokens: words.length, text: words.join(' ') };
  });
};

/** Digest of a transcript: the first 16 hex digits of SHA-256 over its messages in order. */
export const fingerprintOf = (messages: Iterable<Message>): string => {
  const hash = createHash('sha256');
  for (const { role, tokens, text } of messages) hash.update(`${role}\t${tokens}\t${text}\0`);
  return hash.digest('hex').slice(0, 16);
};
