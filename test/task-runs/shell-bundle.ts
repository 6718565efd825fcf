/** A trial bundle whose only arm runs instructions as shell, locked, built and staged by our own programs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { git } from '../bundle/source-tree.ts';
import { NAMESPACE, type RunBed } from './run-bed.ts';

const top = resolve(import.meta.dir, '../..');

/** The arm does what it is told; `$1` is the model's address, `$2` its name. */
const SHELL = `arm: shell
api: chat-completions
version: [/bin/sh, -c, exit 0]
command: [/bin/sh, -c, '{instruction}', sh, '{url}', '{model}']
`;

/** Node alone, and an arm that is no program at all. */
const recipe = (): string => {
  const workloads = readFileSync(join(top, 'fixtures/bundles/workloads/bundle.yaml'), 'utf8');
  const node = workloads.slice(workloads.indexOf('  - kind: node'));
  return `workloads: false\nartifacts:\n  - { kind: files, from: shell, to: arms/shell }\n${node}`;
};

const repository = (directory: string, fill: () => void): void => {
  mkdirSync(directory);
  fill();
  git(directory, 'init', '-q', '-b', 'main');
  git(directory, 'add', '-A');
  git(directory, 'commit', '-qm', 'all');
};

/** Puts a dataset that `fill` writes on the claim; gives the staged bundle's SHA-256. Leaves tasks.lock and shell.yaml. */
export const stageTasks = (bed: RunBed, fill: (tasks: string) => void): string => {
  const at = (path: string): string => join(bed.directory, path);
  repository(at('shell-dataset'), () => fill(at('shell-dataset/tasks')));
  repository(at('shell-recipe'), () => {
    mkdirSync(at('shell-recipe/shell'));
    writeFileSync(at('shell-recipe/shell/README'), 'it runs what it is told\n');
    writeFileSync(at('shell-recipe/bundle.yaml'), recipe());
  });
  writeFileSync(at('shell.yaml'), SHELL);
  const dataset = ['--src', 'shell-dataset/tasks', '--dataset', 'shell'];
  bed.done('trials', 'lock', ...dataset, '--out', 'tasks.lock');
  const built = ['--recipe', 'shell-recipe/bundle.yaml', '--tasks', 'shell-dataset/tasks'];
  bed.done('bundle', 'build', ...built, '--out', 'shell-bundle');
  const { sha256, manifest, commands } = JSON.parse(
    bed.done('stage', '--bundle', 'shell-bundle', '--json'),
  ) as { sha256: string; manifest: object; commands: string[] };
  bed.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
  const staged = bed.shell(commands.join('\n'));
  if (staged.exit !== 0)
    throw new Error(staged.stderr + bed.shell(`kubectl -n ${NAMESPACE} describe pods`).stdout);
  return sha256;
};
