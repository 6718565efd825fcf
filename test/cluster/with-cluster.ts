#!/usr/bin/env bun
/**
 * Runs a command beside a test cluster: `with-cluster.ts COMMAND …`. K8SBENCH_TEST_KUBECONFIG names one that is there
 * already (kind, k3d, a company's; K8SBENCH_TEST_IMAGE an image with a shell that it can run); else one is started here as
 * root on Linux, and removed afterwards whatever happens.
 */
import { spawn } from 'node:child_process';
import { DEFAULT_DIRECTORY, down } from './down.ts';
import { up } from './up.ts';

/** Runs the command in our place: signals reach it through the terminal's process group, or from us. */
const inPlace = (words: readonly string[], env: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(words[0]!, words.slice(1), { stdio: 'inherit', env: { ...process.env, ...env } });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('close', (status, signal) => resolve(signal ? 130 : (status ?? 1)));
  });

const words = process.argv.slice(2);
if (words.length === 0) {
  console.error('usage: with-cluster.ts COMMAND …');
  process.exit(2);
}
if (process.env['K8SBENCH_TEST_KUBECONFIG']) process.exitCode = await inPlace(words, {});
else
  try {
    const cluster = await up();
    process.exitCode = await inPlace(words, {
      K8SBENCH_TEST_KUBECONFIG: cluster.kubeconfig,
      K8SBENCH_TEST_IMAGE: cluster.image,
      K8SBENCH_TEST_CLUSTER: cluster.directory,
    });
  } finally {
    await down(DEFAULT_DIRECTORY);
  }
