import { expect, test } from 'bun:test';
import { type Evidence, endingOf } from './ending.ts';

const whole = {
  lines: 7,
  bytes: 700,
  foreignLines: 1,
  ended: true,
  sha256: 'd',
  fileSha256: 'f',
  complete: true,
  problems: [],
};
const cut = {
  ...whole,
  ended: false,
  complete: false,
  problems: ['it ends after seq 6, without its end line'],
};
const error = (more: Record<string, unknown> = {}) => ({ t: 'error', seq: 6, message: 'it broke', ...more });
const evidence = (more: Partial<Evidence>): Evidence => ({
  status: 0,
  signal: null,
  log: whole,
  error: undefined,
  stderrTail: '',
  ...more,
});
const log = { lines: 7, bytes: 700, sha256: 'd', foreignLines: 1 };

test.each<[string, Partial<Evidence>, object]>([
  ['done', {}, { outcome: 'done', exit: 0, log }],
  [
    'done, with a log that is cut',
    { log: cut },
    {
      outcome: 'failed',
      exit: 1,
      message: 'its log is not whole: it ends after seq 6, without its end line',
    },
  ],
  ['a failed step', { status: 1, error: error() }, { outcome: 'failed', exit: 1, message: 'it broke', log }],
  ['a bad plan', { status: 2, error: error() }, { outcome: 'failed', exit: 2, message: 'it broke', log }],
  [
    'invalid',
    { status: 5, error: error({ invalid: true }) },
    { outcome: 'invalid', exit: 5, message: 'it broke', log },
  ],
  [
    'invalid, with a log that is cut: nothing to keep',
    { status: 5, error: error({ invalid: true }), log: cut },
    {
      outcome: 'failed',
      exit: 1,
      message: 'it broke; its log is not whole: it ends after seq 6, without its end line',
    },
  ],
  [
    'an invalid session stays invalid under a status that says less',
    { status: 1, error: error({ invalid: true }) },
    { outcome: 'invalid', exit: 5, message: 'it broke', log },
  ],
  [
    'interrupted by us',
    { status: 130, interrupted: 'SIGINT' },
    {
      outcome: 'interrupted',
      exit: 130,
      message: 'stopped by SIGINT before it was done',
      log,
    },
  ],
  [
    'interrupted, and killed in the end',
    { status: null, signal: 'SIGKILL', log: cut, interrupted: 'SIGTERM' },
    {
      outcome: 'interrupted',
      exit: 130,
      message: 'stopped by SIGTERM before it was done',
    },
  ],
  [
    'interrupted by somebody else',
    { status: 130 },
    {
      outcome: 'interrupted',
      exit: 130,
      message: 'stopped by a signal before it was done',
      log,
    },
  ],
  [
    'a SIGTERM that came before the program listened',
    { status: null, signal: 'SIGTERM', log: cut },
    { outcome: 'interrupted', exit: 130, message: 'stopped by SIGTERM before it was done' },
  ],
  [
    'past its limit, before the program listened',
    { status: null, signal: 'SIGTERM', log: cut, overran: 60 },
    { outcome: 'failed', exit: 1, message: 'it ran longer than its limit of 60 s and was stopped' },
  ],
  ['done just before the signal', { interrupted: 'SIGINT' }, { outcome: 'done', exit: 0, log }],
  [
    'past its limit',
    { status: 130, overran: 60 },
    { outcome: 'failed', exit: 1, message: 'it ran longer than its limit of 60 s and was stopped', log },
  ],
  [
    'out of memory',
    { status: null, signal: 'SIGKILL', log: cut },
    { outcome: 'failed', exit: 1, message: 'the pod program was ended by SIGKILL; out of memory?' },
  ],
  [
    'a crash',
    { status: 134, log: cut, stderrTail: 'first\npanic: no\n' },
    { outcome: 'failed', exit: 1, message: 'the pod program ended with status 134: panic: no' },
  ],
  [
    'the start-up failed before a session began',
    { status: 1, log: { ...cut, startupError: 'wrong architecture' } },
    { outcome: 'failed', exit: 1, message: 'wrong architecture' },
  ],
])('%s', (_, more, ending) => expect(endingOf(evidence(more))).toEqual(ending as never));
