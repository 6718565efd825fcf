/** What a person sees while something is under way: one line drawn again on a terminal, plain lines elsewhere. */
import type { Talk } from '../../../shared/talk.ts';
import { clipped, plainText } from '../../../shared/terminal.ts';
import type { World } from '../../../shared/world.ts';

const DRAW_EVERY_MS = 500;
const LINE_EVERY_MS = 30_000;

export interface Progress {
  /** How far it is; shown when it says something else, and not too often. */
  show(text: string): void;
  /** A sentence for good. */
  say(text: string): void;
  end(): void;
}

export const progressOn = (world: World, talk: Talk): Progress => {
  const { isTerminal } = world.stderr;
  let [shown, at, drawn] = ['', -Infinity, false];
  const wipe = (): void => {
    if (drawn) talk.print('\r\u001b[K');
    drawn = false;
  };
  return {
    show(text) {
      const now = performance.now();
      if (text === shown || now - at < (isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS)) return;
      [shown, at] = [text, now];
      if (!isTerminal) return talk.info(text);
      talk.print(`\r${clipped(plainText(text), world.stderr.columns - 1)}\u001b[K`);
      drawn = true;
    },
    say(text) {
      wipe();
      talk.info(text);
    },
    end: wipe,
  };
};
