/**
 * What a verifier runs with beside its tests: the commands of the image, their libraries, what interpreters load by themselves.
 * The agent may write to all of it, so it is looked at before and after. Files are told apart by inode, size and time of change,
 * which a program can't set back.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Path → what tells the file from every other. */
export type Snapshot = ReadonlyMap<string, string>;

export interface Surroundings {
  commands: Snapshot;
  libraries: Snapshot;
  hooks: Snapshot;
}

/** More files than these are not looked at. */
const MOST = 400_000;

const identity = (path: string, about: Stats): string =>
  about.isSymbolicLink()
    ? `l ${readlinkSync(path)}`
    : `${about.isFile() ? 'f' : 'o'} ${about.ino} ${about.size} ${about.mode} ${about.ctimeMs}`;

/** One entry; directories are no entries of their own. */
const note = (into: Map<string, string>, path: string): void => {
  try {
    const about = lstatSync(path);
    if (!about.isDirectory()) into.set(path, identity(path, about));
  } catch {
    // It is not there.
  }
};

const namesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

const walk = (into: Map<string, string>, directory: string): void => {
  for (const name of namesIn(directory)) {
    if (into.size > MOST) return;
    const path = join(directory, name);
    let about: Stats;
    try {
      about = lstatSync(path);
    } catch {
      continue;
    }
    // Compiled again whenever their source is younger; what they hold is checked against it.
    if (about.isDirectory()) {
      if (name !== '__pycache__') walk(into, path);
    } else into.set(path, identity(path, about));
  }
};

const pathOf = (env: Readonly<Record<string, string | undefined>>): string[] => [
  ...new Set(
    (env['PATH'] || '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')
      .split(':')
      .filter((one) => one.startsWith('/')),
  ),
];

/** Names that test runners, interpreters and installers load from where they are started, or from the home directory. */
const LOADED_IN = {
  workdir: [
    'conftest.py',
    'pytest.py',
    '_pytest',
    'pytest',
    'sitecustomize.py',
    'usercustomize.py',
    'pip.conf',
    'uv.toml',
  ],
  root: ['conftest.py', 'pytest.ini', '.pytest.ini', 'tox.ini', 'setup.cfg', 'pyproject.toml', 'uv.toml'],
  home: [
    '.curlrc',
    '.wgetrc',
    '.npmrc',
    '.pip/pip.conf',
    '.config/pip/pip.conf',
    '.config/uv/uv.toml',
    '.config/curlrc',
    '.pydistutils.cfg',
  ],
  etc: [
    'ld.so.preload',
    'ld.so.conf',
    'pip.conf',
    'environment',
    'bash.bashrc',
    'profile',
    'hosts',
    'resolv.conf',
    'nsswitch.conf',
    'uv/uv.toml',
    'npmrc',
    'wgetrc',
  ],
} as const;

/** Directories that are looked through whole. */
const LIBRARIES = [
  'lib',
  'lib64',
  'usr/lib',
  'usr/lib64',
  'usr/libexec',
  'usr/local/lib',
  'usr/share/ca-certificates',
  'etc/apt',
  'etc/ssl',
  'etc/profile.d',
  'etc/ld.so.conf.d',
];

/** `root` is `/` of the container. */
export const lookAround = (
  env: Readonly<Record<string, string | undefined>>,
  workdir: string,
  root = '/',
): Surroundings => {
  const path = pathOf(env);
  const commands = new Map<string, string>();
  for (const directory of path) for (const name of namesIn(directory)) note(commands, join(directory, name));
  const libraries = new Map<string, string>();
  const homes = new Set(LIBRARIES.map((one) => join(root, one)));
  // An environment of its own (/opt/venv/bin) has its libraries beside it.
  for (const one of path)
    if (basename(one) === 'bin' && one.startsWith(root)) homes.add(join(dirname(one), 'lib'));
  // /lib is a link to usr/lib in most images.
  for (const one of homes)
    if (!lstatSync(one, { throwIfNoEntry: false })?.isSymbolicLink()) walk(libraries, one);
  const hooks = new Map<string, string>();
  const home = env['HOME'] || join(root, 'root');
  const places: [string, readonly string[]][] = [
    [workdir, LOADED_IN.workdir],
    [root, LOADED_IN.root],
    [home, LOADED_IN.home],
    [join(root, 'etc'), LOADED_IN.etc],
  ];
  for (const [directory, names] of places)
    for (const name of names) {
      const one = join(directory, name);
      if (lstatSync(one, { throwIfNoEntry: false })?.isDirectory()) walk(hooks, one);
      else note(hooks, one);
    }
  walk(hooks, join(home, '.local/lib'));
  return { commands, libraries, hooks };
};

/** Files that Python and its test runner load because they are there. */
const LOADS_ITSELF = /(^|\/)(site|user)customize(\.py|\/)|\.pth$|(^|\/)ld\.so\.preload$/;
const isPlugin = (path: string): boolean => {
  if (!path.endsWith('/entry_points.txt')) return false;
  try {
    return /^\[pytest11\]/m.test(readFileSync(path, 'latin1'));
  } catch {
    return true;
  }
};

const differing = (before: Snapshot, after: Snapshot): { altered: string[]; added: string[] } => ({
  altered: [...before].filter(([path, one]) => after.get(path) !== one).map(([path]) => path),
  added: [...after.keys()].filter((path) => !before.has(path)),
});

/** Rewritten by every installer, and nothing that a verifier obeys. */
const HARMLESS = /\/etc\/ld\.so\.cache$|\.py[co]$|\/(__pycache__|\.?cache)\//;

/** Every word in the tests that could be a command's name. */
const wordsIn = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => text.match(/[A-Za-z0-9_][\w.+-]*/g) ?? []));

/**
 * What the verifier would meet that the image did not have: one sentence each. A command that is new counts when it hides one
 * that was there, or when the tests name it; a library that is new counts when it is loaded by itself.
 */
export const plantedIn = (before: Surroundings, after: Surroundings, tests: readonly string[]): string[] => {
  const words = wordsIn(tests);
  const found: string[] = [];
  const commands = differing(before.commands, after.commands);
  const known = new Set([...before.commands.keys()].map((path) => basename(path)));
  found.push(...commands.altered.map((path) => `the command '${path}' was changed`));
  for (const path of commands.added)
    if (known.has(basename(path))) found.push(`'${path}' hides a command of the image`);
    else if (words.has(basename(path))) found.push(`'${path}' is new, and the tests name it`);
  const libraries = differing(before.libraries, after.libraries);
  found.push(
    ...libraries.altered
      .filter((path) => !HARMLESS.test(path))
      .map((path) => `the file '${path}' was changed`),
    ...libraries.added
      .filter((path) => LOADS_ITSELF.test(path) || isPlugin(path) || /\/etc\//.test(path))
      .map((path) => `'${path}' is new, and loaded by itself`),
  );
  const hooks = differing(before.hooks, after.hooks);
  found.push(
    ...hooks.altered.map((path) => `'${path}' was changed`),
    ...hooks.added
      .filter((path) => !path.includes('/.local/lib/') || LOADS_ITSELF.test(path) || isPlugin(path))
      .map((path) => `'${path}' is new, and loaded by itself`),
  );
  return found;
};
