/** What samples of long sessions are made for: their fingerprint, and the context that their model has. */
import { createHash } from 'node:crypto';
import {
  LONG_PROMPTS,
  MODEL,
  STREAM_CHUNKS,
  STREAM_GAP_S,
  STREAM_PROMPT,
  STREAM_TEXT,
} from './definition.ts';
import { sayings } from './model.ts';
import { contentOf, type Kind } from './session.ts';

/** The first 16 hex digits of SHA-256 over the session's content and what is said to it. */
export const longFingerprint = (kind: Kind, size: number): string =>
  createHash('sha256')
    .update(
      JSON.stringify({
        definition: 1,
        kind,
        size,
        content: contentOf(kind, size),
        model: MODEL,
        said: sayings(LONG_PROMPTS),
        ...(kind === 'history' ? { stream: [STREAM_PROMPT, STREAM_TEXT, STREAM_CHUNKS, STREAM_GAP_S] } : {}),
      }),
    )
    .digest('hex')
    .slice(0, 16);

/** Tokens of context: more than any session of this size fills, so that the agent compacts nothing by itself. */
export const contextFor = (kind: Kind, size: number): number =>
  Math.max(1_000_000, (kind === 'entries' ? size * 100 : size) * 4);
