/** A trial bundle whose only arm runs instructions as shell, locked, built and staged by our own programs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { git } from '../bundle/source-tree.ts';
import { NAMESPACE, type RunBed } from './run-bed.ts';

const top = resolve(import.meta.dir, '../..');

/** Arms: one does what it is told (`$1` is the model's address, `$2` its name); one starts nowhere. */
const ARMS = {
  shell: `arm: shell
api: chat-completions
version: [/bin/sh, -c, exit 0]
command: [/bin/sh, -c, '{instruction}', sh, '{url}', '{model}']
`,
  stranger: `arm: stranger
api: chat-completions
version: [/bin/sh, -c, 'echo no such machine >&2; exit 3']
command: [/bin/sh, -c, '{instruction}']
`,
};

/** Node alone, and arms that are no programs at all. */
const recipe = (): string => {
  const workloads = readFileSync(join(top, 'fixtures/bundles/workloads/bundle.yaml'), 'utf8');
  const node = workloads.slice(workloads.indexOf('  - kind: node'));
  const arms = Object.keys(ARMS).map((arm) => `  - { kind: files, from: ${arm}, to: arms/${arm} }\n`);
  return `workloads: false\nartifacts:\n${arms.join('')}${node}`;
};

const repository = (directory: string, fill: () => void): void => {
  mkdirSync(directory);
  fill();
  git(directory, 'init', '-q', '-b', 'main');
  git(directory, 'add', '-A');
  git(directory, 'commit', '-qm', 'all');
};

/** Puts a dataset that `fill` writes on the claim; gives the staged bundle's SHA-256. Leaves tasks.lock, and each arm's settings. */
export const stageTasks = (bed: RunBed, fill: (tasks: string) => void): string => {
  const at = (path: string): string => join(bed.directory, path);
  repository(at('shell-dataset'), () => fill(at('shell-dataset/tasks')));
  repository(at('shell-recipe'), () => {
    for (const arm of Object.keys(ARMS)) {
      mkdirSync(at(`shell-recipe/${arm}`));
      writeFileSync(at(`shell-recipe/${arm}/README`), 'it is no program\n');
    }
    writeFileSync(at('shell-recipe/bundle.yaml'), recipe());
  });
  for (const [arm, settings] of Object.entries(ARMS)) writeFileSync(at(`${arm}.yaml`), settings);
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
