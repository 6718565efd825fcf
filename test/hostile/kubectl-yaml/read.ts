/** YAML as kubectl reads it: the Go program beside this file, built once for each process that asks. Needs Go. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What kubectl makes of a text: its value, or that it is refused. */
export type KubectlRead = { json: unknown } | { error: string };

let program: string | undefined;

const built = (): string => {
  if (program !== undefined) return program;
  const dir = mkdtempSync(join(tmpdir(), 'k8sbench-kubectl-yaml-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const go = Bun.which('go') ?? '/usr/local/go/bin/go';
  const done = Bun.spawnSync([go, 'build', '-o', join(dir, 'read'), '.'], { cwd: import.meta.dir });
  if (!done.success) throw new Error(`can't build the YAML reader of kubectl: ${done.stderr.toString()}`);
  program = join(dir, 'read');
  return program;
};

export const readAsKubectl = (texts: readonly Buffer[]): KubectlRead[] => {
  const stdin = Buffer.from(JSON.stringify(texts.map((one) => one.toString('base64'))));
  const done = Bun.spawnSync([built()], { stdin, maxBuffer: 1 << 30 });
  if (!done.success) throw new Error(`the YAML reader of kubectl failed: ${done.stderr.toString()}`);
  // Go leaves a null out.
  return (JSON.parse(done.stdout.toString()) as Partial<{ json: unknown; error: string }>[]).map((one) =>
    one.error === undefined ? { json: one.json ?? null } : { error: one.error },
  );
};
