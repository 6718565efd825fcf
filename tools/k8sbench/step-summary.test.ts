import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import type { Exit } from '../../shared/exit.ts';
import { type Ended, stepSummary } from './step-summary.ts';

const fixture = <T>(path: string): T =>
  JSON.parse(readFileSync(join(import.meta.dir, '../../fixtures/schemas', path), 'utf8')) as T;
const comparison = fixture<Analysis>('analysis/valid-a-comparison.json');
const calibrated = fixture<Analysis>('analysis/valid-b-calibration.json');
const calibration = fixture<Calibration>('calibration/valid.json');

const ended = (changes: Partial<Ended>): string =>
  stepSummary({
    pipeline: 'compare',
    exit: 0,
    attempt: 1,
    attempts: 1,
    run: 'out/run',
    host: 'runner',
    problems: [],
    ...changes,
  });

test('a judged comparison: where, a table for each size with its verdicts, the noise, the run directory', () => {
  const page = ended({ analysis: comparison });
  expect(page).toStartWith('## k8sbench compare: judged\n\n');
  expect(page).toContain('node-a, cores 0-1 (exclusive)');
  for (const one of comparison.comparisons) {
    expect(page).toContain(`### <code>${one.rule}</code> at ${one.turns} turns\n`);
    expect(page).toContain(`CV of <code>${one.reference}</code>: warm `);
  }
  expect(page).toContain('| journal p50 | p95 | max | sqlite p50 | p95 | max | ratio | verdict |\n');
  expect(page).toMatch(/^\| warm \| ms \| 11\.0 \|.*\| 0\.580 \| win \|$/m);
  expect(page).toEndWith('\nRun directory: <code>out/run</code> on <code>runner</code>\n\n');
});

test('a refusal: its reasons and what to do; doubts, conclusions and earlier attempts', () => {
  const page = ended({
    exit: 3,
    attempt: 2,
    attempts: 3,
    analysis: {
      ...comparison,
      exit: 3,
      judged: false,
      reasons: ["warm of 'sqlite' varies"],
      advice: ['measure again'],
      doubts: [{ name: 'drift', value: 2, threshold: 1, sentence: 'it drifts' }],
      conclusions: [{ ...({} as Analysis['conclusions'][number]), sentence: "can't tell" }],
      earlierAttempts: { total: 3, refused: 2, void: 1 },
    },
  });
  expect(page).toStartWith('## k8sbench compare: not judged (attempt 2 of 3)\n\n');
  expect(page).toContain("**Why**\n\n- warm of 'sqlite' varies\n\n**What to do**\n\n- measure again\n\n");
  expect(page).toContain("**Conclusions**\n\n- can't tell\n\n**Doubts**\n\n- drift: it drifts\n\n");
  expect(page).toContain('3 earlier attempts at the same commit: 2 refused, 1 void\n');
});

test('a calibration: its noise and its nodes', () => {
  const page = ended({ pipeline: 'calibrate', analysis: calibrated, calibration });
  expect(page).toStartWith('## k8sbench calibrate: judged\n\n');
  for (const turns of Object.keys(calibration.sizes))
    expect(page).toContain(`### ${turns} turns\n\n| turns | metric | n |`);
  expect(page).toContain('| node | runs | gated CVs |');
});

test.each<[Exit, string]>([
  [1, 'failed'],
  [2, 'wrong command line or configuration'],
  [3, 'not judged'],
  [5, 'invalid'],
  [130, 'interrupted'],
])('what came to nothing (%d): what went wrong', (exit, says) => {
  const page = stepSummary({
    pipeline: 'report',
    exit,
    attempt: 1,
    attempts: 1,
    host: 'runner',
    problems: ["'a|b' failed: <see> *this*"],
  });
  expect(page).toBe(
    `## k8sbench report: ${says}\n\n**What went wrong**\n\n- 'a&#124;b' failed: &#60;see&#62; &#42;this&#42;\n\n`,
  );
});

test('names of others are no markup', () => {
  const evil = '<img src=x onerror=alert(1)>|[x](y)';
  const [first] = comparison.comparisons;
  const page = ended({
    run: evil,
    host: evil,
    problems: [evil],
    analysis: {
      ...comparison,
      sessions: [{ ...comparison.sessions[0]!, node: evil }],
      comparisons: [{ ...first!, candidate: evil, reference: evil, rule: evil, floor: evil }],
      reasons: [evil],
    },
  });
  expect(page).not.toContain('<img');
  expect(page).not.toContain('[x]');
  const shown = Bun.markdown.html(page, { autolinks: true });
  expect(shown).not.toMatch(/<(img|a)\b/);
  const columns = [...shown.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => row!.match(/<t[hd]/g)!.length);
  expect(new Set(columns)).toEqual(new Set([10]));
});
