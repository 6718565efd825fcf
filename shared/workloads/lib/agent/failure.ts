/** What an agent did wrong, in one sentence: the sample fails with it, the session ends with it. */

export type Wrong =
  | 'crash'
  | 'hang'
  | 'login'
  | 'update'
  | 'network'
  | 'writes'
  | 'escapes'
  | 'answer'
  | 'settings'
  | 'left-behind';

export class AgentFailure extends Error {
  readonly wrong: Wrong;

  constructor(wrong: Wrong, what: string) {
    super(what);
    this.name = 'AgentFailure';
    this.wrong = wrong;
  }
}

/** Most of a foreign text that a message quotes. */
const QUOTED = 300;

/** A foreign text on one line, without anything that a terminal or a log would obey; of a long one its begin and its end. */
export const quoted = (text: string): string => {
  const line = text
    // Control sequences as a whole, so that their letters don't stay.
    .replace(
      /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b./g,
      '',
    )
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length > QUOTED ? `${line.slice(0, QUOTED / 2)} … ${line.slice(-QUOTED / 2)}` : line;
};
