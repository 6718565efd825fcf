/**
 * The session as one file, pod.mjs: what runs in the pod, on Node or Bun. The plan comes in K8SBENCH_PLAN or on stdin, the log
 * goes to stdout (README.md).
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { EXIT } from '../../shared/exit.ts';
import { machineAt } from '../../shared/machine.ts';
import { runSession } from './session.ts';
import { linger, lingerFor, Spool } from './spool.ts';
import { StandardOutput } from './standard-output.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted);
    interrupted.abort(signal);
  });

const standardInput = async (): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts).toString('utf8');
};

const output = new StandardOutput();
const { K8SBENCH_SPOOL, K8SBENCH_ACKNOWLEDGED, K8SBENCH_SUBMITTED_AT } = process.env;
const spool = K8SBENCH_SPOOL ? new Spool(output, K8SBENCH_SPOOL) : undefined;
const { exit } = await runSession({
  plan: async () => process.env['K8SBENCH_PLAN'] || (await standardInput()),
  env: process.env,
  cwd: process.cwd(),
  host: hostname(),
  machine: machineAt('/'),
  output: spool ?? output,
  now: () => Date.now(),
  random: (bytes) => new Uint8Array(randomBytes(bytes)),
  interrupted: interrupted.signal,
});
spool?.close();
output.close();
if (K8SBENCH_ACKNOWLEDGED)
  await linger(
    K8SBENCH_ACKNOWLEDGED,
    interrupted.signal,
    lingerFor(process.env['K8SBENCH_PLAN'], K8SBENCH_SUBMITTED_AT, performance.now(), Date.now()),
  );
// A plan that never came is still waited for.
if (interrupted.signal.aborted) process.stdin.destroy();
process.exitCode = exit;
