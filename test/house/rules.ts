/** The house rules (DESIGN §2, STYLE habit 14) as pure functions over the tracked files: each returns its violations in words. */

/** Path from the top level → content. */
export type Tree = ReadonlyMap<string, string>;

const TOP_LEVEL =
  /^(README\.md|Makefile|package\.json|bunfig\.toml|bun\.lock|tsconfig\.json|LICENSE|\.oxlintrc\.json|\.gitignore|\.ci|schemas|shared|tools|fixtures|test)$/;

/** Nothing else at the top level. */
export const topLevel = (tree: Tree): string[] =>
  [...new Set([...tree.keys()].map((path) => path.split('/')[0]!))]
    .filter((name) => !TOP_LEVEL.test(name))
    .map((name) => `${name}: not in the plan of the top level`);

export interface Import {
  from: string;
  /** A path from the top level for our own modules, else the specifier. */
  to: string;
  typeOnly: boolean;
}

const isCode = (path: string): boolean => path.endsWith('.ts') && !path.endsWith('.test.ts');

const resolvePath = (from: string, specifier: string): string => {
  const parts = from.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** Imports of one module. */
export const importsOf = (path: string, code: string): Import[] =>
  [...code.matchAll(IMPORT)].map(([whole, type, fixed, late]) => {
    const specifier = (fixed ?? late)!;
    const named = /\{([^}]*)\}/.exec(whole)?.[1];
    const allTypes =
      named !== undefined &&
      named.trim() !== '' &&
      named.split(',').every((one) => /^\s*(type\s|$)/.test(one));
    return {
      from: path,
      to: specifier.startsWith('.') ? resolvePath(path, specifier) : specifier,
      typeOnly: type !== undefined || allTypes,
    };
  });

const allImports = (tree: Tree, keep: (path: string) => boolean = isCode): Import[] =>
  [...tree].filter(([path]) => keep(path)).flatMap(([path, code]) => importsOf(path, code));

const toolOf = (path: string): string | undefined => /^tools\/([^/]+)\//.exec(path)?.[1];

/** Tools never import each other; only the dispatcher's table imports their mains. shared/ never imports a tool. Schemas are leaves. */
export const walls = (tree: Tree): string[] =>
  allImports(tree).flatMap(({ from, to }) => {
    const [own, other] = [toolOf(from), toolOf(to)];
    if (from.startsWith('schemas/') && !to.startsWith('schemas/') && to !== 'valibot')
      return [`${from}: a schema imports valibot and schemas only, found '${to}'`];
    if (from.startsWith('shared/') && other) return [`${from}: shared/ never imports a tool, found '${to}'`];
    if (own && other && own !== other && !(own === 'k8sbench' && to === `tools/${other}/main.ts`))
      return [`${from}: tools never import each other, found '${to}'`];
    if (/^(schemas|shared|tools)\//.test(from) && /^(test|fixtures)\//.test(to))
      return [`${from}: imports '${to}'`];
    return [];
  });

/** No module imports itself by way of others, not even for a type: each can be read, and changed, without those above it. */
export const circles = (tree: Tree): string[] => {
  const below = Map.groupBy(allImports(tree), (one) => one.from);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, above: readonly string[]): void => {
    if (above.includes(path))
      found.push(`${[...above.slice(above.indexOf(path)), path].join(' -> ')}: imports in a circle`);
    if (above.includes(path) || done.has(path)) return;
    for (const { to } of below.get(path) ?? []) visit(to, [...above, path]);
    done.add(path);
  };
  for (const path of below.keys()) visit(path, []);
  return found;
};

const ONE_IMPORTER: Readonly<Record<string, string>> = {
  '@kubernetes/client-node': 'shared/kubernetes/endpoint.ts',
  yaml: 'shared/yaml.ts',
  consola: 'shared/talk.ts',
  citty: 'shared/command-help.ts',
};

/** Each heavy dependency has one importer. */
export const oneImporter = (tree: Tree): string[] =>
  allImports(tree).flatMap(({ from, to }) => {
    const name = to.startsWith('@') ? to.split('/').slice(0, 2).join('/') : to.split('/')[0]!;
    const wanted = ONE_IMPORTER[name];
    return wanted !== undefined && from !== wanted
      ? [`${from}: '${name}' is imported in ${wanted} alone`]
      : [];
  });

/** What runs in the pod uses `node:` modules and types alone: everything reachable from tools/pod/in-pod.ts. */
export const inPod = (tree: Tree, entry = 'tools/pod/in-pod.ts'): string[] => {
  const problems: string[] = [];
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { to, typeOnly } of importsOf(path, tree.get(path) ?? '')) {
      if (typeOnly) continue;
      if (tree.has(to)) visit(to);
      else if (!to.startsWith('node:')) problems.push(`${path}: runs in the pod, so it can't import '${to}'`);
    }
  };
  visit(entry);
  return tree.has(entry) ? problems : [`${entry}: missing`];
};

export const toolNames = (tree: Tree): string[] =>
  [...new Set([...tree.keys()].map(toolOf).filter((name) => name !== undefined))].toSorted();

/** Each tool folder has an executable main.ts of a page, a README and no folders for nothing; modules stay small. */
export const toolShape = (tree: Tree, executable: (path: string) => boolean): string[] => {
  const problems: string[] = [];
  for (const name of toolNames(tree)) {
    const main = `tools/${name}/main.ts`;
    const code = tree.get(main);
    if (!tree.has(`tools/${name}/README.md`)) problems.push(`tools/${name}: no README.md`);
    if (code === undefined) {
      problems.push(`tools/${name}: no main.ts`);
      continue;
    }
    if (!code.startsWith('#!/usr/bin/env bun\n') || !executable(main))
      problems.push(`${main}: not an executable program`);
    if (!/export const tool\b/.test(code) || !/export const main\b/.test(code))
      problems.push(`${main}: exports no tool and main`);
    const lines = code.split('\n').length - 1;
    if (lines > 100) problems.push(`${main}: a main is a page, found ${lines} lines`);
  }
  for (const [path, code] of tree)
    if (isCode(path) && /^(schemas|shared|tools)\//.test(path) && code.split('\n').length - 1 > 300)
      problems.push(`${path}: ${code.split('\n').length - 1} lines; would two names say more than one?`);
  for (const path of tree.keys())
    if (/(^|\/)(utils?|helpers?|common|manager|misc)(\/|\.[a-z]+$)/.test(path))
      problems.push(`${path}: the name says nothing`);
  return problems;
};

/** Modules that a tool needs: everything its own modules reach, types included. */
const reachedBy = (tree: Tree, tool: string): Set<string> => {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    for (const { to } of importsOf(path, tree.get(path) ?? ''))
      if (tree.has(to) && !reached.has(to)) {
        reached.add(to);
        visit(to);
      }
  };
  for (const path of tree.keys()) if (toolOf(path) === tool && isCode(path)) visit(path);
  return reached;
};

/** The part of shared/ that a module belongs to: itself, or its folder with the module of the same name. */
const roomOf = (path: string): string => path.split('/').slice(0, 2).join('/').replace(/\.ts$/, '');

/** Each part of shared/ is needed by two tools; workloads and the single importers of a dependency excepted. */
export const twoUsers = (tree: Tree): string[] => {
  const needs = toolNames(tree).map(
    (name) => [name, new Set([...reachedBy(tree, name)].map(roomOf))] as const,
  );
  const excepted = new Set(['shared/workloads', ...Object.values(ONE_IMPORTER).map(roomOf)]);
  const rooms = new Set(
    [...tree.keys()].filter((path) => isCode(path) && path.startsWith('shared/')).map(roomOf),
  );
  return [...rooms]
    .filter((room) => !excepted.has(room))
    .map((room) => ({ room, users: needs.filter(([, reached]) => reached.has(room)).map(([name]) => name) }))
    .filter(({ users }) => users.length < 2)
    .map(
      ({ room, users }) =>
        `${room}: needed by ${users.join(', ') || 'nobody'}; a part of shared/ has two users`,
    );
};

/** The README's table of tools lists exactly the folders. */
export const readmeTable = (tree: Tree): string[] => {
  const readme = tree.get('README.md') ?? '';
  const listed = [...readme.matchAll(/^\| \[`?([a-z0-9-]+)`?\]\(tools\/([a-z0-9-]+)\/?[^)]*\)/gm)].map(
    (found) => found[2]!,
  );
  const names = toolNames(tree);
  return [
    ...names
      .filter((name) => !listed.includes(name))
      .map((name) => `README.md: the table of tools lacks '${name}'`),
    ...listed
      .filter((name) => !names.includes(name))
      .map((name) => `README.md: the table of tools lists '${name}', which has no folder`),
    ...listed
      .filter((name, at) => listed.indexOf(name) !== at)
      .map((name) => `README.md: '${name}' is listed twice`),
  ];
};

/** A tool's README opens with its help text. */
export const readmeOpening = (name: string, readme: string, help: string): string[] =>
  readme.startsWith(`# ${name}\n\n\`\`\`\n${help}\`\`\`\n`)
    ? []
    : [`tools/${name}/README.md: does not open with '# ${name}' and the text of --help`];

/** Nothing that only one machine or one workplace has. */
export const nothingLocal = (tree: Tree, forbidden: RegExp): string[] =>
  [...tree].flatMap(([path, content]) => {
    const found = forbidden.exec(content);
    return found ? [`${path}: names '${found[0]}'`] : [];
  });
