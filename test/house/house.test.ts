import { describe, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Tool } from '../../shared/command-line.ts';
import {
  circles,
  importsOf,
  inPod,
  nothingLocal,
  oneImporter,
  readmeOpening,
  readmeTable,
  toolNames,
  toolShape,
  topLevel,
  type Tree,
  twoUsers,
  walls,
} from './rules.ts';

const root = resolve(import.meta.dir, '../..');
const tracked = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard', '-z'], { cwd: root })
  .stdout.toString()
  .split('\0');
const text =
  /\.(ts|md|json|jsonl|toml|sh|yaml|log|txt)$|Makefile|LICENSE|^\.ci\/run$|^bun\.lock$|^\.gitignore$/;
const house: Tree = new Map(
  tracked
    .filter((path) => path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile())
    .map((path) => [path, text.test(path) ? readFileSync(join(root, path), 'utf8') : '']),
);
/** Every file that is text, whatever it is called. */
const texts: Tree = new Map(
  [...house.keys()]
    .map((path) => [path, readFileSync(join(root, path))] as const)
    .filter(([, bytes]) => !bytes.includes(0))
    .map(([path, bytes]) => [path, bytes.toString('utf8')]),
);
/** Where this checkout stands, and places that somebody's machine has: homes and work directories, but for those of examples. */
const LOCAL = new RegExp(
  `${RegExp.escape(root)}|(?<![\\w.}/-])/(?:(?:home|Users)/(?!(?:me|x)\\b)|(?:work|workspace|builds)/(?!x\\b))[\\w.-]+`,
);
const executable = (path: string): boolean => (statSync(join(root, path)).mode & 0o111) === 0o111;
const tree = (files: Record<string, string>): Tree => new Map(Object.entries(files));
const program = '#!/usr/bin/env bun\nexport const tool = 1;\nexport const main = 2;\n';

describe('the house keeps its rules', () => {
  test.each([
    ['top level', () => topLevel(house)],
    ['walls between tools, shared and schemas', () => walls(house)],
    ['no imports in a circle', () => circles(house)],
    ['one importer per heavy dependency', () => oneImporter(house)],
    ['the pod needs node modules alone', () => inPod(house)],
    ['the pods of trials, too', () => inPod(house, 'tools/trials/in-pod/main.ts')],
    ['one shape per tool', () => toolShape(house, executable)],
    ['shared modules have two users', () => twoUsers(house)],
    ['the table of tools lists the folders', () => readmeTable(house)],
    ['nothing of one machine', () => nothingLocal(texts, LOCAL)],
  ] as const)('%s', (_, problems) => expect(problems()).toEqual([]));

  test.each(toolNames(house))('README of %s opens with its help', async (name) => {
    const { tool } = (await import(join(root, 'tools', name, 'main.ts'))) as { tool: Tool };
    expect(tool.name).toBe(name);
    expect(readmeOpening(name, house.get(`tools/${name}/README.md`) ?? '', await tool.help())).toEqual([]);
  });
});

describe('each rule can fail', () => {
  test.each<[string, string[], number]>([
    ['a stray at the top', topLevel(tree({ 'notes.txt': '', 'README.md': '' })), 1],
    ['a tool that imports a tool', walls(tree({ 'tools/a/main.ts': "import { x } from '../b/x.ts';" })), 1],
    [
      'a tool that imports a tool late',
      walls(tree({ 'tools/a/main.ts': "await import('../b/main.ts');" })),
      1,
    ],
    [
      'the dispatcher may import mains',
      walls(tree({ 'tools/k8sbench/table.ts': "import('../b/main.ts')" })),
      0,
    ],
    [
      'the dispatcher may not import more',
      walls(tree({ 'tools/k8sbench/table.ts': "import('../b/x.ts')" })),
      1,
    ],
    ['shared that imports a tool', walls(tree({ 'shared/a.ts': "import { x } from '../tools/b/x.ts';" })), 1],
    [
      'a schema that imports shared',
      walls(tree({ 'schemas/a.ts': "import { x } from '../shared/x.ts';" })),
      1,
    ],
    ['code that imports a test', walls(tree({ 'shared/a.ts': "import { x } from '../test/x.ts';" })), 1],
    [
      'a circle of three, one of them by type',
      circles(
        tree({
          'tools/a/x.ts': "import { y } from './y.ts';",
          'tools/a/y.ts': "import type { z } from './z.ts';",
          'tools/a/z.ts': "import { x } from './x.ts';",
        }),
      ),
      1,
    ],
    [
      'two ways to one module',
      circles(
        tree({
          'tools/a/x.ts': "import './y.ts'; import './z.ts';",
          'tools/a/y.ts': "import './z.ts';",
          'tools/a/z.ts': '',
        }),
      ),
      0,
    ],
    ['a second importer of yaml', oneImporter(tree({ 'tools/a/x.ts': "import { parse } from 'yaml';" })), 1],
    [
      'a second importer by subpath',
      oneImporter(tree({ 'tools/a/x.ts': "import { x } from '@kubernetes/client-node/dist/x';" })),
      1,
    ],
    [
      'a package in the pod',
      inPod(tree({ 'tools/pod/in-pod.ts': "import './a.ts';", 'tools/pod/a.ts': "import 'valibot';" })),
      1,
    ],
    [
      'a schema in the pod',
      inPod(
        tree({
          'tools/pod/in-pod.ts': "import { x } from '../../schemas/a.ts';",
          'schemas/a.ts': "import * as v from 'valibot';",
        }),
      ),
      1,
    ],
    [
      'types of a schema in the pod',
      inPod(
        tree({ 'tools/pod/in-pod.ts': "import type { x } from '../../schemas/a.ts';", 'schemas/a.ts': '' }),
      ),
      0,
    ],
    ['a tool without README', toolShape(tree({ 'tools/a/main.ts': program }), () => true), 1],
    [
      'a tool that is not executable',
      toolShape(tree({ 'tools/a/main.ts': program, 'tools/a/README.md': '' }), () => false),
      1,
    ],
    [
      'a tool without exports',
      toolShape(tree({ 'tools/a/main.ts': '#!/usr/bin/env bun\n', 'tools/a/README.md': '' }), () => true),
      1,
    ],
    [
      'a long main',
      toolShape(tree({ 'tools/a/main.ts': program + '\n'.repeat(100), 'tools/a/README.md': '' }), () => true),
      1,
    ],
    ['a long module', toolShape(tree({ 'shared/x.ts': '\n'.repeat(301) }), () => true), 1],
    ['a name that says nothing', toolShape(tree({ 'shared/utils.ts': '' }), () => true), 1],
    [
      'a shared module with one user',
      twoUsers(tree({ 'shared/x.ts': '', 'tools/a/main.ts': "import { x } from '../../shared/x.ts';" })),
      1,
    ],
    [
      'a shared module that two tools need through another',
      twoUsers(
        tree({
          'shared/x.ts': '',
          'shared/y.ts': "import './x.ts';",
          'tools/a/m.ts': "import '../../shared/y.ts';",
          'tools/b/m.ts': "import '../../shared/y.ts';",
        }),
      ),
      0,
    ],
    [
      'a shared module with two users',
      twoUsers(
        tree({
          'shared/x.ts': '',
          'tools/a/m.ts': "import '../../shared/x.ts';",
          'tools/b/m.ts': "import '../../shared/x.ts';",
        }),
      ),
      0,
    ],
    ['a tool missing from the table', readmeTable(tree({ 'tools/a/main.ts': '', 'README.md': '' })), 1],
    [
      'a tool in the table without folder',
      readmeTable(tree({ 'README.md': '| [`a`](tools/a/README.md) | x |\n' })),
      1,
    ],
    ['a README with another text', readmeOpening('a', '# a\n\n```\nold\n```\n', 'new\n'), 1],
    ['a README with the text', readmeOpening('a', '# a\n\n```\nnew\n```\n\nmore', 'new\n'), 0],
    ['the place of this checkout', nothingLocal(tree({ 'a.mjs': `see ${root}/x` }), LOCAL), 1],
    ["somebody's home", nothingLocal(tree({ 'a.py': `open('/${'home'}/somebody/x')` }), LOCAL), 1],
    ["somebody's work place", nothingLocal(tree({ 'go.mod': `/${'work'}space/src` }), LOCAL), 1],
    ['an example', nothingLocal(tree({ 'a.md': 'home/a, ./work/b, /home/me/app.js' }), LOCAL), 0],
  ])('%s', (_, problems, count) => expect(problems).toHaveLength(count));

  test('imports are found in every form', () => {
    const code = `import a from 'a';\nimport type { B } from './b.ts';\nimport { type C } from '../c.ts';\nexport { d } from './d.ts';\nimport 'e';\nconst f = await import('./f.ts');\nimport {\n  g,\n  type H,\n} from 'g';`;
    expect(importsOf('x/y/z.ts', code)).toEqual([
      { from: 'x/y/z.ts', to: 'a', typeOnly: false },
      { from: 'x/y/z.ts', to: 'x/y/b.ts', typeOnly: true },
      { from: 'x/y/z.ts', to: 'x/c.ts', typeOnly: true },
      { from: 'x/y/z.ts', to: 'x/y/d.ts', typeOnly: false },
      { from: 'x/y/z.ts', to: 'e', typeOnly: false },
      { from: 'x/y/z.ts', to: 'x/y/f.ts', typeOnly: false },
      { from: 'x/y/z.ts', to: 'g', typeOnly: false },
    ]);
  });
});
