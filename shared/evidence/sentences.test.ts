import { expect, test } from 'bun:test';
import type { EvidenceInput, Judged, Metric } from './input.ts';
import { sentenceOf } from './sentences.ts';

const warm: Metric = { key: 'warm', basis: 'wall', better: 'lower', primary: true };
const base: EvidenceInput = {
  reference: 'sqlite',
  candidates: ['candidate'],
  turns: [50],
  metrics: [warm],
  sessions: [],
};
const judged = (more: Partial<Judged>): Judged =>
  ({
    candidate: 'candidate',
    turns: 50,
    metric: 'warm',
    basis: 'wall',
    conclusion: 'faster',
    ratio: 0.959,
    low: 0.95,
    high: 0.968,
    p: 0.000488,
    margin: 0.03,
    rounds: 12,
    scope: 'session',
    family: 1,
    sentence: '',
    ...more,
  }) as Judged;

test.each<[string, Partial<Judged>, Partial<EvidenceInput>, Partial<Metric>]>([
  ['candidate is 4.1 % faster (95 %: 3.2–5.0 %, wall, this session, 12 rounds, p = 0.0005)', {}, {}, {}],
  [
    'candidate is 10.0 % slower (95 %: 8.0–12.0 %, CPU, this session, 12 rounds, p = 0.001)',
    { conclusion: 'slower', basis: 'cpu', ratio: 1.1, low: 1.08, high: 1.12, p: 0.001 },
    {},
    {},
  ],
  [
    'candidate is 2.0× faster (95 %: 1.8–2.2×, wall, 6 sessions, 72 rounds, p < 0.0001)',
    { ratio: 0.5, low: 0.45, high: 0.55, p: 1e-9, scope: 'sessions', sessions: 6, rounds: 72 },
    {},
    {},
  ],
  [
    'candidate is 1.6× faster (95 %: 1.3–2.0×, wall, this session, 12 rounds, p = 0.0005)',
    { ratio: 0.625, low: 0.5, high: 0.75 },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 1.6× slower (95 %: 1.05× faster to 2.5× slower, wall, this session, 12 rounds, p = 0.25); more rounds will hardly settle it",
    { conclusion: 'cant-tell', ratio: 1.6, low: 0.952, high: 2.5, p: 0.25 },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 30.0 % slower (95 %: 10.0 % faster to 90.0 % slower, wall, this session, 12 rounds, p = 0.25); more rounds will hardly settle it",
    { conclusion: 'cant-tell', ratio: 1.3, low: 0.9, high: 1.9, p: 0.25 },
    {},
    {},
  ],
  [
    'candidate is the same as sqlite within 3 %: 0.2 % faster (95 %: 1.0 % faster to 0.6 % slower, wall, this session, 12 rounds, p = 0.47)',
    { conclusion: 'same', ratio: 0.998, low: 0.99, high: 1.006, p: 0.47 },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 5.0 % slower (95 %: 1.0–9.0 %, wall, this session, 12 rounds, p = 0.02); about 1 more round would settle it",
    { conclusion: 'cant-tell', ratio: 1.05, low: 1.01, high: 1.09, p: 0.02, settle: { rounds: 1 } },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 5.0 % slower (95 %: 1.0–9.0 %, wall, 5 sessions, 60 rounds, p = 0.02); about 4 more sessions would settle it",
    {
      conclusion: 'cant-tell',
      ratio: 1.05,
      low: 1.01,
      high: 1.09,
      p: 0.02,
      scope: 'sessions',
      sessions: 5,
      rounds: 60,
      settle: { sessions: 4 },
    },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 3.0 % slower (95 %: 1.0–5.0 %, wall, session 'node-b', 12 rounds, p = 0.02); more rounds will hardly settle it",
    { conclusion: 'cant-tell', ratio: 1.03, low: 1.01, high: 1.05, p: 0.02, session: 'node-b' },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 5.0 % slower (no 95 % interval, wall, this session, 3 rounds, p = 0.25) (underpowered: 3 rounds can't go below p = 0.25)",
    {
      conclusion: 'cant-tell',
      ratio: 1.05,
      low: null,
      high: null,
      p: 0.25,
      rounds: 3,
      underpowered: true,
      smallestP: 0.25,
    },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 4.1 % faster (95 %: 3.2–5.0 %, wall, this session, 12 rounds, p = 0.0005); the control pair, the same program twice, differs in this run",
    {
      conclusion: 'cant-tell',
      control: { ratio: 1.02, low: 1.01, high: 1.03, p: 0.01, differs: true, sentence: '…' },
    },
    {},
    {},
  ],
  [
    'candidate is 4.1 % faster on warm at 50 turns (95 %: 3.2–5.0 %, wall, this session, 12 rounds, p = 0.0005, 4 comparisons)',
    { family: 4 },
    { turns: [50, 500], metrics: [warm, { ...warm, key: 'cold' }] },
    {},
  ],
  [
    'candidate is 4.1 % lower (95 %: 3.2–5.0 %, count, this session, 12 rounds, p = 0.0005)',
    { basis: 'count' },
    {},
    { basis: 'count' },
  ],
  [
    'candidate is 4.1 % slower (95 %: 3.2–5.0 %, count, this session, 12 rounds, p = 0.0005)',
    { basis: 'count', conclusion: 'slower' },
    {},
    { basis: 'count', better: 'higher' },
  ],
  [
    'candidate is 9.5 B higher (95 %: 8.0–11.0 B, count, this session, 12 rounds, p = 0.0005)',
    {
      basis: 'count',
      conclusion: 'slower',
      ratio: null,
      low: null,
      high: null,
      difference: { estimate: 9.5, low: 8, high: 11, unit: 'B' },
    },
    {},
    { basis: 'count', signed: true },
  ],
  [
    "can't tell: candidate looks 3.0 % slower (95 %: 1.0–5.0 %, wall, session 'node-b', 12 rounds, p = 0.02); about 9 more rounds would settle it for this session, about 3 more sessions for the program",
    {
      conclusion: 'cant-tell',
      ratio: 1.03,
      low: 1.01,
      high: 1.05,
      p: 0.02,
      session: 'node-b',
      settle: { rounds: 9, sessions: 3 },
    },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 3.0 % slower (95 %: 1.0–5.0 %, wall, session 'node-b', 12 rounds, p = 0.02); about 3 more sessions would settle it for the program",
    {
      conclusion: 'cant-tell',
      ratio: 1.03,
      low: 1.01,
      high: 1.05,
      p: 0.02,
      session: 'node-b',
      settle: { sessions: 3 },
    },
    {},
    {},
  ],
  [
    'candidate is the same as sqlite within 3 %: 0.0 % slower (95 %: 0.0 % faster to 0.02 % slower, wall, this session, 12 rounds, p = 0.47)',
    { conclusion: 'same', ratio: 1 + 2e-9, low: 1 - 3e-9, high: 1.0002, p: 0.47 },
    {},
    {},
  ],
  [
    "can't tell: candidate looks 5.0 % slower (no 95 % interval, wall, this session, 3 rounds, p = 0.25) (underpowered: 3 rounds can't go below p = 0.25); about 7 more rounds would settle it",
    {
      conclusion: 'cant-tell',
      ratio: 1.05,
      low: null,
      high: null,
      p: 0.25,
      rounds: 3,
      smallestP: 0.25,
      underpowered: true,
      settle: { rounds: 7 },
    },
    {},
    {},
  ],
  [
    'candidate is 4.1 % faster (99 %: 3.2–5.0 %, wall, this session, 12 rounds, p = 0.0005)',
    {},
    { level: 0.01 },
    {},
  ],
])('%s', (sentence, row, input, metric) =>
  expect(
    sentenceOf(judged(row), {
      input: { ...base, ...input },
      metric: { ...warm, ...metric },
      untrusted: row.control?.differs ?? false,
    }),
  ).toBe(sentence),
);
