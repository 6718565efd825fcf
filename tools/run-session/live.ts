/** What a person sees while a session runs: one line drawn again and again on a terminal, plain dated lines elsewhere. */
import type { Talk } from '../../shared/talk.ts';
import { clipped, plainText } from '../../shared/terminal.ts';
import type { World } from '../../shared/world.ts';
import { type View, viewInWords } from './progress.ts';

/** Draws cost CPU time on the machine that is being measured. */
const DRAW_EVERY_MS = 200;
const LINE_EVERY_MS = 60_000;

export interface Live {
  /** How far it is now; asked for and shown at most every so often. */
  show(view: () => View, now: number): void;
  /** A foreign line, such as one of the pod program. */
  say(line: string): void;
  /** How far it came, once more. */
  end(view: View, now: number): void;
}

export const liveOn = (world: World, talk: Talk): Live => {
  let drawn = false;
  let shownAt: number | undefined;
  let shownText = '';
  const draw = (text: string): void => {
    talk.print(`\r${clipped(plainText(text), world.stderr.columns - 1)}\u001b[K`);
    drawn = true;
  };
  const dated = (text: string, now: number): void => talk.info(`${new Date(now).toISOString()} ${text}`);
  return {
    show(view, now) {
      if (shownAt !== undefined && now - shownAt < (world.stderr.isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS))
        return;
      shownAt = now;
      shownText = viewInWords(view());
      if (world.stderr.isTerminal) draw(shownText);
      else dated(shownText, now);
    },
    say(line) {
      talk.print(`${drawn ? '\r\u001b[K' : ''}${plainText(line)}\n`);
      if (drawn) draw(shownText);
    },
    end(view, now) {
      if (!world.stderr.isTerminal) return dated(viewInWords(view), now);
      draw(viewInWords(view));
      talk.print('\n');
      drawn = false;
    },
  };
};
