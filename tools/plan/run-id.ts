/** A run's id: `k8sbench-cmp|cal-<commit or word>-<UTC time>`, a DNS label that leaves room for a child's `-n<k>`. Pure. */

/** The longest id of a run that has children: 63 characters less `-n99`. */
const LONGEST = 59;

export interface Named {
  mode: 'compare' | 'calibrate';
  commit?: string;
  /** Stands in for a commit; any text. */
  word: string;
  /** ms since the epoch. */
  now: number;
  /** How many runs of this name exist already; the second is `…-2`. */
  taken: number;
}

/** Letters, digits and single dashes; never empty at its ends. */
const label = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** 2026-01-02T03:04:05.678Z → 20260102-030405. */
const stamp = (now: number): string =>
  new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');

export const runId = ({ mode, commit, word, now, taken }: Named): string => {
  const dirty = commit?.endsWith('-dirty') ? '-dirty' : '';
  const what = commit ? label(commit.replace(/-dirty$/, '').slice(0, 10)) + dirty : label(word);
  const [head, tail] = [
    `k8sbench-${mode === 'compare' ? 'cmp' : 'cal'}`,
    stamp(now) + (taken > 0 ? `-${taken + 1}` : ''),
  ];
  const room = LONGEST - head.length - tail.length - 2;
  const middle = what.slice(0, room).replace(/-$/, '');
  return [head, middle, tail].filter((part) => part !== '').join('-');
};

/** The id of the k-th child, from 1. */
export const childId = (run: string, k: number): string => `${run}-n${k}`;

/** Whether a directory's name can be a run's id, with children when it has any. */
export const fitsAsRun = (name: string, children: number): boolean =>
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && childSuffix(children) + name.length <= 63;

const childSuffix = (children: number): number => (children > 1 ? `-n${children}`.length : 0);
