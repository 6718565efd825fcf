/** What must hold of every tool on every input, whatever it is. */
import { existsSync } from 'node:fs';
import { contentOf } from './bed.ts';

export interface Result {
  exit: number;
  stdout: string;
  stderr: string;
  /** How long it took, ms. */
  ms: number;
}

/** The longest that one input of ordinary size may take, ms; it is about a thousand times what it takes. */
export const DEADLINE_MS = 5000;
/** Messages for people: no input makes them longer. */
const LONGEST_STDERR = 50_000;

const EXITS = new Set([0, 1, 2, 3, 4, 5, 130]);
// What a terminal obeys, or hides.
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** What is wrong with how a tool ended, one sentence each. */
export const complaintsOf = ({ exit, stdout, stderr, ms }: Result, deadline = DEADLINE_MS): string[] => [
  ...(EXITS.has(exit) ? [] : [`exit status ${exit}`]),
  ...(/this is a bug in k8sbench|\n\s+at .*[:(]/.test(stderr) ? [`a stack: ${stderr.slice(0, 1500)}`] : []),
  ...((exit === 1 || exit === 2) && stdout !== ''
    ? [`exit ${exit}, and on stdout ${stdout.slice(0, 200)}`]
    : []),
  ...((exit === 1 || exit === 2) && stderr === '' ? [`exit ${exit} without a word`] : []),
  ...(UNSAFE.test(stderr)
    ? [`raw control characters on stderr: ${JSON.stringify(stderr.slice(0, 500))}`]
    : []),
  ...(stderr.length > LONGEST_STDERR
    ? [`${stderr.length} characters on stderr: ${stderr.slice(0, 300)}`]
    : []),
  ...(ms > deadline ? [`took ${Math.round(ms)} ms`] : []),
];

/** What is half-written below a directory: temporary files, and JSON files of ours that aren't JSON; `given` is the input itself. */
export const halfWritten = (dir: string, given: readonly string[]): string[] => {
  if (!existsSync(dir)) return [];
  return [...contentOf(dir)].flatMap(([name, bytes]) => {
    if (given.includes(name)) return [];
    if (name.endsWith('.tmp')) return [`'${name}' was left behind`];
    if (!name.endsWith('.json')) return [];
    try {
      JSON.parse(bytes.toString());
      return [];
    } catch {
      return [`'${name}' is not JSON`];
    }
  });
};
