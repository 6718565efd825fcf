#!/usr/bin/env bun
/** Appends lines to a history or to attempts.jsonl, as the tools do, and says of each that it is written: `writer.ts track|attempts PATH NAME COUNT`. */
import { writeSync } from 'node:fs';
import { appendUnderLock } from '../../shared/append.ts';
import { recordAttempt } from '../../shared/attempts.ts';
import { runDirectory } from '../../shared/rundir.ts';

const [kind, path = '', name = '', count = '0'] = process.argv.slice(2);
for (let number = 0; number < Number(count); number++) {
  const run = `${name}-${number}`;
  if (kind === 'track')
    appendUnderLock(
      path,
      () => `${JSON.stringify({ run, summary: run.repeat(100 + (number % 7) * 300) })}\n`,
    );
  else
    recordAttempt(runDirectory(`${path}/${name}`), {
      at: '2026-01-02T03:04:05.000Z',
      run,
      profile: 'p',
      rule: 'r',
      commit: '',
      outcome: 'refused',
      exit: 3,
      reasons: [run.repeat(100)],
    });
  writeSync(1, `${run}\n`);
}
