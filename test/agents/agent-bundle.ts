/** A bundle with real agents, as fixtures/bundles/agents pins them: built once into .cache/agents, and then looked up. */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dir, '../..');
const cache = join(root, '.cache/agents');
export const agents = join(cache, 'bundle');

const git = (cwd: string, ...words: string[]): void => {
  const date = '2026-01-02T03:04:05Z';
  const done = Bun.spawnSync(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
    cwd,
    env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    stderr: 'pipe',
  });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
};

/** Runs a tool of this tree. */
export const k8sbench = (cwd: string, words: readonly string[], env: Record<string, string> = {}) => {
  const done = Bun.spawnSync([process.execPath, join(root, 'tools/k8sbench/main.ts'), ...words], {
    cwd,
    stdin: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, NO_COLOR: '1', GITHUB_STEP_SUMMARY: undefined, ...env },
  });
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
};

/** The bundle's directory. Builds it when its recipe, its locks or the workloads are others than the ones it was built from. */
export const agentBundle = (): string => {
  const tree = join(cache, 'tree');
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  cpSync(join(root, 'fixtures/bundles/agents'), tree, { recursive: true });
  git(tree, 'init', '-q', '-b', 'main');
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'agents');
  // The workloads are this tree's: what is assembled once more comes from the cache.
  const built = k8sbench(cache, [
    'bundle',
    'build',
    '--recipe',
    'tree/overhead.yaml',
    '--out',
    'bundle',
    '--force',
  ]);
  if (built.exit !== 0 || !existsSync(join(agents, 'ARTIFACTS.sha256'))) throw new Error(built.stderr);
  return agents;
};
