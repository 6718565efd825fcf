/**
 * A real CPython out of an archive, in the layout of python-build-standalone's install-only builds: it is made of Debian's own
 * packages of it, because no registry carries those builds. It must run wherever the bundle lies.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { bundle, sourceTree } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

let base: string;
let version: string;
let recipe: string;
const run = (
  command: readonly string[],
  how: { cwd?: string; env?: Record<string, string> } = {},
): string => {
  const done = Bun.spawnSync([...command], { ...how, stderr: 'pipe' });
  if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr.toString()}`);
  return done.stdout.toString().trim();
};
const arch = process.arch === 'x64' ? 'amd64' : 'arm64';

/** Debian's CPython, unpacked as python/bin, python/lib; gives its short version. */
const fetchPython = (into: string): string => {
  const minor = /python(3\.\d+)-minimal/.exec(run(['apt-cache', 'depends', 'python3-minimal']))![1]!;
  run(
    [
      'apt-get',
      'download',
      '-qq',
      `python${minor}-minimal`,
      `libpython${minor}-minimal`,
      `libpython${minor}-stdlib`,
    ],
    { cwd: into },
  );
  for (const one of new Bun.Glob('*.deb').scanSync(into)) run(['dpkg', '-x', one, 'unpacked'], { cwd: into });
  renameSync(join(into, 'unpacked/usr'), join(into, 'python'));
  // Debian's own addition, which leads to /etc.
  rmSync(join(into, `python/lib/python${minor}/sitecustomize.py`));
  symlinkSync(`python${minor}`, join(into, 'python/bin/python3'));
  return minor;
};

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-python-'));
  for (const name of ['home', 'made', 'copies']) mkdirSync(join(base, name));
  fetchPython(join(base, 'made'));
  version = run([join(base, 'made/python/bin/python3'), '--version']).replace('Python ', '');
  const name = `cpython-${version}+20260414-${process.arch}-install_only.tar.gz`;
  const path = join(base, 'copies', name);
  run(['tar', '-czf', path, '-C', join(base, 'made'), 'python']);
  const pins = `{ url: "https://example.invalid/20260414/${name}", size: ${statSync(path).size}, sha256: ${sha256(readFileSync(path))} }`;
  recipe = `workloads: false\nartifacts:\n  - { kind: python, release: "20260414", version: ${version}, archives: { ${arch}: ${pins} } }\n  - { kind: files, from: turn.py, to: lib/turn.py }\n`;
}, 240_000);
afterAll(() => rmSync(base, { recursive: true }));

const SCRIPT =
  'import hashlib, json, sys\nprint(json.dumps([sys.prefix, sys.version.split()[0], hashlib.sha256(b"turn").hexdigest(), json.__file__]))\n';

test('the interpreter and its library run out of the bundle, wherever it was unpacked', () => {
  const tree = sourceTree(base, recipe, { 'turn.py': SCRIPT });
  const how = { home: join(base, 'home') };
  const words = ['--recipe', 'bundle.yaml', '--out', join(base, 'out'), '--archives', join(base, 'copies')];
  const built = bundle(tree, how, 'build', ...words);
  expect(built.exit === 0 ? '' : built.stderr).toBe('');
  expect(built.stderr).toContain("the base image must have '/lib");
  expect(readFileSync(join(base, 'out/VERSIONS'), 'utf8')).toContain(`\npython=${version}+20260414\n`);
  expect(bundle(base, how, 'pack', 'out')).toMatchObject({ exit: 0 });
  const root = join(base, 'far/away');
  mkdirSync(root, { recursive: true });
  run(['tar', '-xzf', join(base, 'out.tar.gz'), '-C', root]);
  const said = run([join(root, 'python/bin/python3'), join(root, 'lib/turn.py')], { env: {} });
  expect(JSON.parse(said)).toEqual([
    join(root, 'python'),
    version,
    sha256('turn'),
    join(root, `python/lib/python${version.split('.').slice(0, 2).join('.')}/json/__init__.py`),
  ]);
  expect(existsSync(join(root, 'python/bin/python3'))).toBe(true);
  const target = (name: string, role: string) => ({
    name,
    role,
    command: ['{root}/python/bin/python3', '{root}/lib/turn.py'],
  });
  const targets = [target('a', 'candidate'), target('b', 'reference')];
  writeFileSync(
    join(base, 'profile.json'),
    JSON.stringify({ name: 'p', rule: 'p', about: 'a', repeat: 3, needs: ['python'], targets }),
  );
  expect(bundle(base, how, 'check', 'out', '--profile', 'profile.json')).toMatchObject({ exit: 0 });
});
