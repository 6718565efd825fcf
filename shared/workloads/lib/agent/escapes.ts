/** Sequences that a terminal obeys, and a log that is read in one. */
import { AgentFailure } from './failure.ts';

/** Colours may stand in a pipe; whatever moves a cursor, sets a title or rings may not. */
const ESCAPE =
  /\u001b(?!\[[0-9;:]*m)|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f\u009b\u009d]/;

/** Fails with the first of them in what was printed into a pipe. */
export const refuseEscapes = (text: string): void => {
  const at = text.search(ESCAPE);
  if (at === -1) return;
  const shown = JSON.stringify(text.slice(at, at + 24))
    .replaceAll('\u007f', '\\u007f')
    .replace(/[\u0080-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
  throw new AgentFailure('escapes', `prints escape sequences although its output is no terminal: ${shown}`);
};
