#!/usr/bin/env bun
/**
 * A pod program whose lines are known: reads a compact plan from stdin, prints a whole session of made-up readings, and
 * goes wrong where it is told to. It writes `pid` into its data directory, so that a test can look for it.
 */
import { createHash } from 'node:crypto';
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { CompactPlan } from '../../schemas/plan.ts';
import { sequenceOf } from '../../shared/sequence.ts';
import type { Fault } from './run-session-fixture.ts';

const fault = process.argv[2] as Fault | 'none';
const pause = Number(process.argv[3]);
const data = process.env['K8SBENCH_DATA']!;
const plan = JSON.parse(await Bun.stdin.text()) as CompactPlan;
writeFileSync(join(data, 'fixture'), 'x');

const hash = createHash('sha256');
let seq = 0;
const say = (line: Record<string, unknown>): void => {
  const { t, ...rest } = line;
  const text = `${JSON.stringify({ t, seq: seq++, ...rest })}\n`;
  hash.update(text);
  writeSync(1, fault === 'altered' && seq === 4 ? text.replace('"turns":3', '"turns":4') : text);
};
const end = (status: number): never => {
  const digest = hash.digest('hex');
  if (fault !== 'no-end') writeSync(1, `${JSON.stringify({ t: 'end', seq, lines: seq, sha256: digest })}\n`);
  process.exit(status);
};
const stop = (): never => {
  say({ t: 'error', message: 'stopped by a signal' });
  return end(130);
};
process.on('SIGTERM', () => (fault === 'deaf' ? undefined : stop()));

const machine = { gomaxprocs: 1, cpuModel: 'made up', cpuFeatures: '' };
const where = [
  'K8SBENCH_DELIVERY',
  'K8SBENCH_ROOT',
  'K8SBENCH_COMMIT',
  'NODE_NAME',
  'POD_NAME',
  'K8SBENCH_PLAN',
];
say({
  t: 'facts',
  run: plan.run,
  mode: plan.mode,
  cwd: process.cwd(),
  env: Object.fromEntries(where.map((name) => [name, process.env[name] ?? null])),
});
say({ t: 'pin', idle: {}, method: 'none', cpus: '', gomaxprocs: 1, governors: {}, fixedClock: true });
writeSync(2, 'pod: \u001b[31mmeasuring\n');
if (fault === 'foreign') writeSync(1, 'somebody else speaks\n');
if (fault === 'child-stays')
  Bun.spawn(['sleep', '600'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] }).unref();
if (fault === 'bad-plan') {
  say({ t: 'error', message: 'the plan asks for cores that do not exist' });
  end(2);
}
let samples = 0;
for (const step of sequenceOf(plan)) {
  if (step.step === 'sample') {
    await Bun.sleep(pause);
    samples++;
  }
  if (fault === 'hang' && samples === 2) await new Promise(() => setInterval(() => undefined, 1000));
  if (fault === 'crash' && samples === 2) {
    writeSync(2, 'segmentation fault, or so\n');
    process.exit(139);
  }
  if ((fault === 'error' || fault === 'invalid') && samples === 2) {
    say({
      t: 'error',
      message: `target 'new' failed`,
      ...(fault === 'invalid' ? { invalid: true, code: 'affinity' } : {}),
    });
    end(fault === 'invalid' ? 5 : 1);
  }
  const { step: t, ...rest } = step;
  say({
    t: 'cpu',
    step: t,
    ...rest,
    wallMs: 1,
    usageUsec: null,
    nrPeriods: null,
    nrThrottled: null,
    throttledUsec: null,
  });
  if (t === 'seed')
    say({ t, ...rest, fingerprint: 'f', bytes: 1, from: 'empty', synthetic: true, ...machine });
  else say({ t, ...rest, open: 0, turn: [1, 2 + samples / 100, 2], fingerprint: 'f', ...machine });
}
say({ t: 'done', seeds: 2, samples, at: '2026-01-02T03:04:05.000Z' });
end(0);
