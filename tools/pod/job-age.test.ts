import { expect, test } from 'bun:test';
import { jobAge } from './job-age.ts';

const at = '2026-01-02T03:04:05.000Z';
const later = (seconds: number): number => Date.parse(at) + seconds * 1000;

test.each<[string, string | undefined, number, number]>([
  ['waited for a node', at, later(40.5), 40.5],
  ['waited past its limit, and not past its deadline', at, later(610), 610],
  ['not told', undefined, later(40), 0],
  ['an annotation that is not there', '', later(40), 0],
  ['no time', 'soon', later(40), 0],
  ["the node's clock is behind", at, later(-5), 0],
  ["the node's clock is far ahead", at, later(100_000), 0],
])('%s', (_, submitted, now, age) => expect(jobAge(submitted, now, 600)).toBe(age));
