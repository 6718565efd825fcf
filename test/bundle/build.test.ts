/** Bundles built for real: a Go, a cargo, a Bun program, npm packages; twice, and the same to the last byte. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { peer } from '../bench/peers.ts';
import { bundle, type Builder, cargoHome, git, RECIPE, root, sourceTree, write } from './source-tree.ts';

// Compilers and registries have their own pace.
setDefaultTimeout(120_000);

let base: string;
let tree: string;
let first: ReturnType<typeof bundle>;
let one: Builder;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-build-'));
  mkdirSync(join(base, 'home'));
  one = { home: join(base, 'home'), env: { TZ: 'UTC' } };
  tree = sourceTree(base);
  first = bundle(tree, one, 'build', '--recipe', 'bundle.yaml', '--out', join(base, 'one'));
}, 120_000);
afterAll(() => {
  // Go's module cache is read-only.
  Bun.spawnSync(['chmod', '-R', 'u+w', base]);
  rmSync(base, { recursive: true });
});
const run = (...command: string[]): string => Bun.spawnSync(command).stdout.toString().trim();
const build = (cwd: string, builder: Builder, out: string, ...more: string[]) =>
  bundle(cwd, builder, 'build', '--recipe', 'bundle.yaml', '--out', join(base, out), ...more);
/** What was built, of what it said. */
const builtIn = (stderr: string): string[] =>
  [...stderr.matchAll(/building (.*)/g)].map((found) => found[1]!);

test('a bundle is built, and what is in it runs', () => {
  expect(first).toMatchObject({ exit: 0 });
  const out = join(base, 'one');
  expect(run(join(out, 'bin/hello'))).toBe('go example.com/hello/cmd/hello/main.go');
  expect(run(join(out, 'bin/tool'))).toBe('cargo src/main.rs');
  expect(run(join(out, 'bin/say'))).toBe('bun 2');
  expect(run(join(out, 'share/data/run.sh'))).toBe('run');
  expect(run('node', '-p', `require('${out}/lib/numbers/node_modules/is-number')('5')`)).toBe('true');
  expect(readFileSync(join(out, 'COMMIT'), 'utf8')).toBe(`${git(tree, 'rev-parse', 'HEAD')}\n`);
  expect(readFileSync(join(out, 'VERSIONS'), 'utf8')).toContain('node=v24.22.3\n');
  expect(run('sh', '-c', `cd ${out} && sha256sum -c --quiet ARTIFACTS.sha256 && echo fine`)).toBe('fine');
  expect(run('grep', '-rlF', base, out)).toBe('');
});

test('the built-in workloads find their programs in it', () =>
  expect(bundle(base, one, 'check', 'one', '--profile', 'durable-store')).toMatchObject({ exit: 0 }));

test('another directory, user, home, umask, time zone and clock give the same bytes', async () => {
  const faketime = await peer('faketime');
  if ('why' in faketime) throw new Error(faketime.why);
  const home = join(base, 'another/home');
  mkdirSync(home, { recursive: true });
  // What this user has set for programs of their own, and what lies about in their home.
  write(home, {
    '.config/go/env': 'GOFLAGS=-race\nGOAMD64=v4\nGOEXPERIMENT=jsonv2\n',
    'go.work': 'go 1.26\n\nuse ./nowhere\n',
    'cargo/config.toml': `[build]\nrustflags = ["-Copt-level=0"]\nrustc-wrapper = "/nowhere/wrapper"\n[target.x86_64-unknown-linux-gnu]\nlinker = "/nowhere/linker"\n`,
    '.bunfig.toml': '[define]\nword = "\\"other\\""\n',
    'tsconfig.json': '{"compilerOptions": {"paths": {"./word.ts": ["./other.ts"]}}}',
    'other.ts': 'export const word = "other";\n',
    'package.json': '{"sideEffects": false, "workspaces": ["*"]}',
    '.npmrc': 'bin-links=false\nlegacy-peer-deps=true\nomit[]=optional\nignore-scripts=false\n',
    'node_modules/is-number/index.js': 'module.exports = () => false;\n',
  });
  for (const name of ['registry', 'git']) symlinkSync(join(cargoHome, name), join(home, 'cargo', name));
  const other: Builder = {
    home,
    umask: '077',
    // Another user, as far as any program can tell, and a clock that is a day ahead; certificates are still good then.
    before: [...['unshare', '--user', '--map-user=4711', '--map-group=4711'], ...['faketime', '-f', '+1d']],
    env: {
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      TZ: 'Asia/Kathmandu',
      LANG: 'de_DE.UTF-8',
      USER: 'other',
      CARGO_HOME: join(home, 'cargo'),
      GOFLAGS: '-race',
      GOAMD64: 'v3',
      RUSTFLAGS: '-g',
      TMPDIR: home,
      GOCACHE: join(home, 'go'),
      K8SBENCH_NOW: '1',
    },
  };
  // The words before are what they say.
  const who = Bun.spawnSync([...other.before!, 'sh', '-c', 'id -u; date +%s'], {
    env: { ...process.env, ...other.env },
  });
  const [user, clock] = who.stdout.toString().trim().split('\n').map(Number);
  expect([user, Math.round((clock! - Date.now() / 1000) / 3600)]).toEqual([4711, 24]);
  mkdirSync(join(base, 'deeper/and/deeper'), { recursive: true });
  const twin = sourceTree(join(base, 'deeper/and/deeper'));
  const second = build(twin, other, 'two');
  expect(second.exit === 0 ? '' : second.stderr).toBe('');
  expect(second.stdout.split(' ')[0]).toBe(first.stdout.split(' ')[0]!);
  expect(bundle(base, one, 'diff', 'one', 'two')).toMatchObject({ exit: 0, stdout: '' });
  const packed = ['one', 'two'].map((name, at) => bundle(base, at === 0 ? one : other, 'pack', name));
  expect(packed.map(({ stdout }) => stdout.split(' ')[0])).toEqual(
    [1, 2].map(() => first.stdout.split(' ')[0]),
  );
  expect(readFileSync(join(base, 'one.tar.gz')).equals(readFileSync(join(base, 'two.tar.gz')))).toBe(true);
}, 300_000);

describe('toolchains are those that the tree asks for', () => {
  /** A program that says one version in the tree, and another one elsewhere, as version managers do. */
  const manager = (name: string, inTree: string, elsewhere: string): string => {
    const bin = join(base, `managed-${name}`);
    write(bin, {
      [name]: `#!/bin/sh\nhere=$PWD; while [ "$here" != / ]; do [ -f "$here/.tool-versions" ] && exec ${inTree} "$@"; here=$(dirname "$here"); done\nexec ${elsewhere} "$@"\n`,
    });
    chmodSync(join(bin, name), 0o755);
    return bin;
  };

  test('Go that is another one where it is built is refused', () => {
    write(base, { 'old/go': '#!/bin/sh\necho \'{"GOVERSION": "go1.1"}\'\n' });
    chmodSync(join(base, 'old/go'), 0o755);
    const bin = manager('go', Bun.which('go')!, join(base, 'old/go'));
    const managed = sourceTree(
      base,
      'workloads: false\nartifacts:\n  - { kind: go, name: managed, in: go, package: ./cmd/hello }\n',
    );
    write(managed, { '.tool-versions': 'golang 1.26.8\n' });
    const env = { PATH: `${bin}:${process.env['PATH']}` };
    const { exit, stderr } = build(managed, { ...one, env }, 'managed', '--allow-dirty');
    expect(exit).toBe(1);
    expect(stderr).toContain("'go' is go1.1 where it is built and go1.26.8 in the tree");
  });

  test('a rust-toolchain.toml above what is copied counts, and nothing is installed for it', () => {
    const settled = sourceTree(
      base,
      'workloads: false\nartifacts:\n  - { kind: cargo, name: tool, in: rust }\n',
    );
    write(settled, { 'rust-toolchain.toml': '[toolchain]\nchannel = "1.0.0"\n' });
    const { exit, stderr } = build(settled, one, 'settled-rust', '--allow-dirty');
    expect(exit).toBe(2);
    expect(stderr).toContain("'cargo' and 'rustc' don't both run in 'rust'");
    const name = run('rustup', 'show', 'active-toolchain').split(' ')[0]!;
    write(settled, { 'rust-toolchain.toml': `[toolchain]\nchannel = "${name}"\n` });
    const built = build(settled, one, 'settled-rust', '--allow-dirty');
    expect(built.exit === 0 ? '' : built.stderr).toBe('');
  });
});

test.each<[string, string, Record<string, string>, string, string[]]>([
  [
    'a module of Go that go.mod replaces by a directory',
    '{ kind: go, name: hello, in: go, package: ./cmd/hello }',
    {
      'go/go.mod':
        'module example.com/hello\n\ngo 1.26\n\nrequire example.com/lib v1.0.0\n\nreplace example.com/lib => $OUTSIDE/lib\n',
      'go/cmd/hello/main.go': 'package main\n\nimport "example.com/lib"\n\nfunc main() { lib.Say() }\n',
    },
    "/outside/lib', which is not one of its sources",
    ['go bin/hello'],
  ],
  [
    'a text that Rust includes',
    '{ kind: cargo, name: tool, in: rust }',
    { 'rust/src/main.rs': 'fn main() { print!("{}", include_str!("$OUTSIDE/lib/lib.go")); }\n' },
    "/outside/lib/lib.go', which is not one of its sources",
    ['cargo bin/tool'],
  ],
  [
    'a file that a script imports',
    '{ kind: bun, name: say, in: ts, entry: main.ts }',
    { 'ts/main.ts': 'import { word } from "$OUTSIDE/word.ts";\nconsole.log(word);\n' },
    "/outside/word.ts', which is not one of its sources",
    ['bun bin/say'],
  ],
])('refused once it is built: %s from outside of the tree', (_, artifact, files, says, built) => {
  const outside = join(base, 'outside');
  write(outside, {
    'lib/go.mod': 'module example.com/lib\n\ngo 1.26\n',
    'lib/lib.go': 'package lib\n\nfunc Say() { println("outside") }\n',
    'word.ts': 'export const word = "outside";\n',
  });
  const leaning = sourceTree(base, `workloads: false\nartifacts:\n  - ${artifact}\n`);
  write(
    leaning,
    Object.fromEntries(
      Object.entries(files).map(([path, content]) => [path, content.replaceAll('$OUTSIDE', outside)]),
    ),
  );
  const { exit, stdout, stderr } = build(leaning, one, 'leaning', '--allow-dirty');
  expect({ exit, stdout, stderr: stderr.includes(says) ? '' : stderr }).toEqual({
    exit: 1,
    stdout: '',
    stderr: '',
  });
  expect(builtIn(stderr)).toEqual(built);
});

test('refused before anything is built: packages that lie above the sources, settings of cargo that change a program', () => {
  const home = join(base, 'settled');
  write(home, {
    'cargo/config.toml': '[profile.release]\nopt-level = 0\n',
    'cache/node_modules/stray/index.js': 'export const word = "stray";\n',
  });
  const env = { CARGO_HOME: join(home, 'cargo') };
  const settled = build(tree, { home, env }, 'settled-out');
  expect(settled).toMatchObject({ exit: 2, stdout: '' });
  expect(settled.stderr).toContain(
    "/settled/cargo/config.toml' sets 'profile.release', which would make another program",
  );
  expect(builtIn(settled.stderr)).toEqual([]);
  const stray = sourceTree(
    base,
    'workloads: false\nartifacts:\n  - { kind: bun, name: say, in: ts, entry: main.ts }\n',
  );
  write(stray, { 'ts/main.ts': 'import { word } from "stray";\nconsole.log(word);\n' });
  const leaning = build(stray, { home }, 'stray-out', '--allow-dirty');
  expect(leaning).toMatchObject({ exit: 1, stdout: '' });
  expect(leaning.stderr).toContain(
    "/settled/cache/node_modules/stray/index.js', which is not one of its sources",
  );
});

/** Go's own compiler for WebAssembly behind TinyGo's command line: TinyGo is no package of any registry that a test could use. */
const TINYGO = `#!/bin/sh
if [ "$1" = version ]; then echo "tinygo version 0.39.0 linux/amd64 (using go version go1.26.8 and LLVM version 19.1.2)"; exit; fi
echo "$@" >&2
while [ $# -gt 0 ]; do
  case $1 in -o) out=$2; shift ;; -target=wasip1) target=1 ;; -no-debug) small=1 ;; *) last=$1 ;; esac
  shift
done
[ "$target$small" = 11 ] || exit 3
GOOS=wasip1 GOARCH=wasm exec go build -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o "$out" "$last"
`;

const RECIPE_OF_TINYGO =
  'workloads: false\nartifacts:\n  - { kind: tinygo, name: core, in: go, package: ./cmd/hello }\n';

describe('tinygo', () => {
  let program: string;
  beforeAll(() => {
    program = join(base, 'tinygo-bin/tinygo');
    write(base, { 'tinygo-bin/tinygo': TINYGO });
    chmodSync(program, 0o755);
  });
  const of = (builder: Partial<Builder>, out: string, ...more: string[]) =>
    build(sourceTree(base, RECIPE_OF_TINYGO), { ...one, ...builder }, out, ...more);

  test('a module for WebAssembly, by the flag, the variable or the PATH; its version is told', () => {
    const path = { PATH: `${join(base, 'tinygo-bin')}:${process.env['PATH']}` };
    const built = [
      of({}, 'wasm-flag', '--tinygo', program),
      of({ env: { TINYGO: program } }, 'wasm-variable', '--force'),
      of({ env: path }, 'wasm-path'),
    ];
    for (const { exit, stderr } of built) expect(exit === 0 ? '' : stderr).toBe('');
    expect(new Set(built.map(({ stdout }) => stdout.split(' ')[0])).size).toBe(1);
    const module = join(base, 'wasm-flag/dist/core.wasm');
    const runs = `const { WASI } = require('node:wasi'); const wasi = new WASI({ version: 'preview1' });
      WebAssembly.instantiate(require('fs').readFileSync('${module}'), wasi.getImportObject()).then(({ instance }) => wasi.start(instance));`;
    expect(run('node', '--no-warnings', '-e', runs)).toStartWith('go ');
    expect(readFileSync(join(base, 'wasm-flag/VERSIONS'), 'utf8')).toContain(
      '\ngo=go1.26.8\ntinygo=0.39.0\n',
    );
  });

  test.each<[string, Partial<Builder>, string[], string]>([
    ['none', {}, [], "'tinygo' is not on the PATH; name one with --tinygo or $TINYGO"],
    ['a path that is wrong', {}, ['--tinygo', '/nowhere/tinygo'], "'/nowhere/tinygo' is no TinyGo"],
    ['another program', {}, ['--tinygo', 'true'], "'true' is no TinyGo: 'true version' says otherwise"],
  ])('refused before anything is built: %s', (_, builder, more, says) => {
    const { exit, stdout, stderr } = of(builder, 'no', ...more);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(builtIn(stderr)).toEqual([]);
  });
});

test('a second build does nothing and says so', () => {
  const again = build(tree, one, 'one');
  expect(again).toMatchObject({ exit: 0, stdout: first.stdout });
  expect(again.stderr).toContain('is built already, from the same inputs; nothing to do');
});

test('the cache tells what it holds, and a build keeps it below its limit', () => {
  const home = join(base, 'small');
  mkdirSync(home);
  const env = { K8SBENCH_CACHE_MAX: '15' };
  const of = (text: string, out: string) => {
    const files = { 'data/a.txt': text };
    const small = sourceTree(
      base,
      'workloads: false\nartifacts:\n  - { kind: files, from: data, to: d }\n',
      files,
    );
    return build(small, { home, env }, out);
  };
  const kept = () => {
    const { stdout } = bundle(base, { home }, 'cache', '--json');
    return JSON.parse(stdout).entries.map((entry: { name: string; size_bytes: number }) => [
      entry.name,
      entry.size_bytes,
    ]);
  };
  expect(of('ten bytes\n', 'small-1').stderr).not.toContain('removed');
  expect(kept()).toEqual([['files d', 10]]);
  expect(of('11 bytes..\n', 'small-2').stderr).toContain(
    'the cache was full: removed 1 of its entries, 0.0 MB, those used longest ago',
  );
  expect(kept()).toEqual([['files d', 11]]);
  expect(bundle(base, { home }, 'cache').stdout).toMatch(/used \(UTC\).*\n.* 0\.0 MB {2}files d\n/);
  expect(bundle(base, { home }, 'cache', '--max', '0').exit).toBe(0);
  expect(kept()).toEqual([]);
  expect(bundle(base, { home }, 'cache', '--max', 'all')).toMatchObject({ exit: 2, stdout: '' });
});

test('a bundle that somebody changed is put together again, from the cache', () => {
  write(join(base, 'one'), { 'share/data/a.txt': 'other' });
  const again = build(tree, one, 'one');
  expect(again).toMatchObject({ exit: 0, stdout: first.stdout });
  expect(builtIn(again.stderr)).toEqual([]);
});

test('packed to stdout: the same archive, and nothing of it when the bundle is not as it is listed', () => {
  const file = join(base, 'packed.tar.gz');
  const named = bundle(base, one, 'pack', 'one', '--out', file);
  expect(named.exit === 0 ? '' : named.stderr).toBe('');
  const piped = (directory: string) =>
    Bun.spawnSync([process.execPath, join(root, 'tools/bundle/main.ts'), 'pack', directory, '--out', '-'], {
      cwd: base,
    });
  const { stdout, stderr, exitCode } = piped('one');
  expect([exitCode, Buffer.from(stdout).equals(readFileSync(file))]).toEqual([0, true]);
  expect(stderr.toString()).toContain(`${named.stdout.split(' ')[0]!}  one`);
  expect(existsSync(join(base, '-'))).toBe(false);
  cpSync(join(base, 'one'), join(base, 'altered'), { recursive: true });
  write(base, { 'altered/share/data/a.txt': 'else' });
  const altered = piped('altered');
  expect([altered.exitCode, altered.stdout.length]).toEqual([1, 0]);
  expect(altered.stderr.toString()).toContain("'share/data/a.txt' does not have the digest");
});

test('a bundle that is built into its own tree is no source of the next one', () => {
  const own = sourceTree(base, 'workloads: false\nartifacts:\n  - { kind: files, from: ., to: all }\n');
  const into = () => bundle(own, one, 'build', '--recipe', 'bundle.yaml', '--out', 'made/bundle');
  const before = into();
  expect(before.exit === 0 ? '' : before.stderr).toBe('');
  const again = into();
  expect(again).toMatchObject({ exit: 0, stdout: before.stdout });
  expect(again.stderr).toContain('nothing to do');
  expect(existsSync(join(own, 'made/bundle/all/made'))).toBe(false);
  expect(readFileSync(join(own, 'made/bundle/COMMIT'), 'utf8')).not.toContain('dirty');
  // What a killed build left beside it is none, either; another directory is.
  mkdirSync(join(own, `made/.bundle.${crypto.randomUUID()}.tmp`));
  write(own, { [`made/.bundle.${crypto.randomUUID()}.tmp/x`]: 'x' });
  expect(into()).toMatchObject({ exit: 0, stdout: before.stdout });
  write(own, { 'made/bundles/x': 'x' });
  expect(into().stderr).toContain("'made/bundles/x' is untracked");
});

test('one changed artifact is built alone, and diff names it', () => {
  const changed = sourceTree(base);
  write(changed, { 'data/a.txt': 'some more\n' });
  git(changed, 'commit', '-qam', 'more');
  const next = build(changed, one, 'three');
  expect(next.exit).toBe(0);
  expect(builtIn(next.stderr)).toEqual(['files share/data']);
  const { stdout } = bundle(base, one, 'diff', 'one', 'three');
  expect(stdout).toContain('artifact files share/data: sources ');
  expect(stdout).toContain('file share/data/a.txt (files share/data): differs from byte 5 on, 10 → 10 bytes');
  expect(stdout).not.toContain('bin/');
});

test('arm64: programs for that machine, of each compiler, which check tells from others', () => {
  // Rust's library for the other machine comes from rustup, when it isn't here.
  const target = Bun.spawnSync(['rustup', 'target', 'add', 'aarch64-unknown-linux-musl'], { stderr: 'pipe' });
  expect(target.exitCode === 0 ? '' : target.stderr.toString()).toBe('');
  const arm = sourceTree(base, RECIPE.replace('in: rust }', 'in: rust, libc: musl }'));
  const built = build(arm, one, 'arm', '--arch', 'arm64');
  expect(built.exit === 0 ? '' : built.stderr).toBe('');
  for (const name of ['hello', 'say', 'tool'])
    expect(run('readelf', '-h', join(base, 'arm/bin', name))).toContain('AArch64');
  cpSync(join(base, 'one/bin/tool'), join(base, 'arm/bin/other'));
  const mixed = bundle(base, one, 'check', 'arm');
  expect(mixed).toMatchObject({ exit: 1, stdout: '' });
  expect(mixed.stderr).toContain("'bin/other' is not listed");
  writeFileSync(
    join(base, 'arm/ARTIFACTS.sha256'),
    `${readFileSync(join(base, 'arm/ARTIFACTS.sha256'), 'utf8')}${sha256(readFileSync(join(base, 'arm/bin/other')))}  bin/other\n`,
  );
  expect(bundle(base, one, 'check', 'arm').stderr).toContain(
    'bin/ holds executables of more than one architecture',
  );
});

/** What YAML makes of a text is not always what its writer meant: a name, the recipe's text, what is said of it. */
const HOSTILE_YAML: [string, string, string][] = [
  ['a key twice', 'node: v24.1.0\nnode: v24.2.0\n', 'bundle.yaml:2'],
  ['two documents', 'node: v24.1.0\n---\nnode: v24.2.0\n', 'bundle.yaml:'],
  ['a merge key', 'artifacts:\n  - { <<: { kind: files }, from: data, to: x }\n', 'bundle.yaml:2'],
  ['an alias bomb', 'node: &a [v1]\nartifacts: [*a, *a, *a]\n', 'bundle.yaml:'],
  ['a name that is a number', 'artifacts:\n  - { kind: go, name: 0644, in: go }\n', 'bundle.yaml:2'],
  ['a switch that is a word', 'workloads: no\n', 'bundle.yaml:1'],
  ['a tab for indentation', 'artifacts:\n\t- { kind: files, from: data, to: x }\n', 'bundle.yaml:2'],
  ['a prototype', '__proto__: { workloads: false }\n', 'bundle.yaml:1'],
  ['an unknown key', 'artifacts:\n  - { kind: files, from: data, to: x, mode: 0755 }\n', 'bundle.yaml:2'],
  [
    'a place that YAML splits',
    'artifacts:\n  - { kind: files, from: "da\\nta", to: x }\n',
    'artifacts.0.from',
  ],
  [
    'a place beyond the bundle',
    'artifacts:\n  - { kind: files, from: data, to: "x/../../y" }\n',
    'artifacts.0.to',
  ],
  [
    'a name with a flag of the compiler',
    'artifacts:\n  - { kind: go, name: "-o", in: go }\n',
    'artifacts.0.name',
  ],
];

describe('refused before anything is built', () => {
  test('what is not committed, each file; allowed, it is marked', () => {
    const dirty = sourceTree(base, 'artifacts:\n  - { kind: files, from: data, to: share/data }\n');
    write(dirty, { 'data/a.txt': 'changed', 'data/new': 'x', ignored: 'x' });
    const refused = build(dirty, one, 'dirty');
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(refused.stderr).toContain("'data/a.txt' is not committed");
    expect(refused.stderr).toContain("'data/new' is untracked");
    expect(existsSync(join(base, 'dirty'))).toBe(false);
    const allowed = build(dirty, { ...one, env: { K8SBENCH_ALLOW_DIRTY: '1' } }, 'dirty');
    expect(allowed.exit).toBe(0);
    expect(readFileSync(join(base, 'dirty/COMMIT'), 'utf8')).toBe(
      `${git(dirty, 'rev-parse', 'HEAD')}-dirty\n`,
    );
    expect(readdirSync(join(base, 'dirty/share/data')).toSorted()).toEqual(['a.txt', 'new', 'run.sh']);
  });

  test('a tree that only seems to be what its commit says', () => {
    const small = 'workloads: false\nartifacts:\n  - { kind: files, from: data, to: d }\n';
    const of = (change: (tree: string) => void): string => {
      const other = sourceTree(base, small);
      change(other);
      expect(git(other, 'status', '--porcelain')).toBe('');
      const { exit, stdout, stderr } = build(other, one, 'seeming');
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
      return stderr;
    };
    for (const flag of ['--assume-unchanged', '--skip-worktree'])
      expect(
        of((other) => {
          git(other, 'update-index', flag, 'data/a.txt');
          write(other, { 'data/a.txt': 'other' });
        }),
      ).toContain("'data/a.txt' is hidden from git");
    expect(
      of((other) => {
        git(other, 'config', 'core.fileMode', 'false');
        chmodSync(join(other, 'data/a.txt'), 0o755);
      }),
    ).toContain("'data/a.txt' is not committed");
    expect(
      of((other) => {
        git(other, 'config', 'core.autocrlf', 'true');
        rmSync(join(other, 'data/a.txt'));
        git(other, 'checkout', 'data/a.txt');
      }),
    ).toContain("'data/a.txt' has other line ends than in the commit");
  });

  test('every program that is missing, at once', () => {
    const bin = join(base, 'bin');
    mkdirSync(bin);
    for (const name of ['sh', 'git']) symlinkSync(Bun.which(name)!, join(bin, name));
    const { exit, stdout, stderr } = build(tree, { ...one, env: { PATH: bin } }, 'none');
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    for (const name of ['go', 'cargo', 'bun', 'npm']) expect(stderr).toContain(`'${name}'`);
    expect(builtIn(stderr)).toEqual([]);
  });

  test.each<[string, string, Record<string, string>, string]>([
    [
      'another release of Go',
      '{ kind: go, name: hello, in: go }',
      { '.go-version': '1.25.1\n' },
      "'.go-version' asks for go1.25.1",
    ],
    [
      'a crate of a repository',
      '{ kind: cargo, name: tool, in: rust }',
      {
        'rust/Cargo.lock':
          'version = 4\n\n[[package]]\nname = "a"\nversion = "1.0.0"\nsource = "git+https://x.example/a#abc"\n',
      },
      "rust/Cargo.lock: 'a 1.0.0' comes from 'git+https://x.example/a#abc'",
    ],
    [
      'a package of bun.lock from elsewhere',
      '{ kind: bun, name: say, in: ts, entry: main.ts }',
      { 'ts/bun.lock': '{"lockfileVersion": 1, "packages": {"a": ["a@file:../a", {}]}}' },
      "ts/bun.lock: 'a' comes from 'file:../a'",
    ],
    [
      'packages that no bun.lock pins',
      '{ kind: bun, name: say, in: ts, entry: main.ts }',
      { 'ts/package.json': '{"dependencies": {"a": "1"}}' },
      "'ts/package.json' has dependencies and no bun.lock beside it",
    ],
    ['no lockfile of cargo', '{ kind: cargo, name: tool, in: rust }', {}, 'no committed Cargo.lock'],
    [
      'a source that git does not know',
      '{ kind: files, from: ignored, to: x }',
      { ignored: 'x' },
      "git knows no file below 'ignored'",
    ],
    [
      'an entry that is not there',
      '{ kind: bun, name: say, in: ts, entry: gone.ts }',
      {},
      "'ts/gone.ts' is not a file",
    ],
    [
      'a lockfile from elsewhere',
      '{ kind: npm, in: npm, to: lib/x }',
      {
        'npm/package-lock.json':
          '{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1","resolved":"file:a"}}}',
      },
      "comes from 'file:a'",
    ],
    [
      'an archive for the other machine alone',
      '{ kind: release, name: x, version: "1", archives: {}, keep: { a: bin/a } }',
      {},
      'the recipe pins no archive for',
    ],
    [
      'a place outside',
      '{ kind: files, from: data, to: ../x }',
      {},
      'bundle.yaml:2: artifacts.0.to: expected a path inside the bundle',
    ],
    ...HOSTILE_YAML.map(([what, text, says]): [string, string, Record<string, string>, string] => [
      what,
      text,
      {},
      says,
    ]),
    ['a tag of YAML', '{ kind: files, from: !!binary data, to: x }', {}, 'bundle.yaml:2'],
    ['an alias of YAML', '{ kind: files, from: &a data, to: *a }', {}, 'anchors are not read'],
  ])('%s', (_, artifact, files, says) => {
    const other = sourceTree(base, artifact.startsWith('{') ? `artifacts:\n  - ${artifact}\n` : artifact);
    write(other, files);
    if (says.includes('no committed Cargo.lock')) rmSync(join(other, 'rust/Cargo.lock'));
    const { exit, stdout, stderr } = build(other, { ...one, env: { K8SBENCH_ALLOW_DIRTY: '1' } }, 'no');
    expect({ exit, stdout, stderr: stderr.includes(says) ? '' : stderr }).toEqual({
      exit: 2,
      stdout: '',
      stderr: '',
    });
    expect(builtIn(stderr)).toEqual([]);
  });

  test('a link out of the source tree, and a repository inside of it', () => {
    const other = sourceTree(base, 'artifacts:\n  - { kind: files, from: data, to: x }\n');
    symlinkSync('../../etc/passwd', join(other, 'data/link'));
    const linked = build(other, one, 'no', '--allow-dirty');
    expect(linked).toMatchObject({ exit: 2, stdout: '' });
    expect(linked.stderr).toContain(
      "the link 'data/link' leaves the source tree: it points to '../../etc/passwd'",
    );
    rmSync(join(other, 'data/link'));
    mkdirSync(join(other, 'data/inner'));
    git(join(other, 'data/inner'), 'init', '-q');
    write(other, { 'data/inner/x': 'x' });
    git(join(other, 'data/inner'), 'add', '-A');
    git(join(other, 'data/inner'), 'commit', '-qm', 'inner');
    const nested = build(other, one, 'no', '--allow-dirty');
    expect(nested).toMatchObject({ exit: 2, stdout: '' });
    expect(nested.stderr).toContain('is a repository inside the source tree');
  });

  test('a recipe in no repository, and in one that git can’t read, in its words', () => {
    write(base, { 'loose/bundle.yaml': RECIPE, 'odd/.gitconfig': '[broken\n' });
    expect(build(join(base, 'loose'), one, 'no').stderr).toContain(
      "'bundle.yaml' stands in no git repository",
    );
    const unread = build(tree, { home: join(base, 'odd') }, 'no');
    expect(unread).toMatchObject({ exit: 2, stdout: '' });
    expect(unread.stderr).toContain("recipe 'bundle.yaml': git rev-parse failed: bad config line 1");
  });

  test('a directory of somebody else', () => {
    write(base, { 'full/note': 'mine' });
    expect(build(tree, one, 'full')).toMatchObject({ exit: 2, stdout: '' });
    expect(readFileSync(join(base, 'full/note'), 'utf8')).toBe('mine');
  });
});

test('what a killed build left is removed by the next; a build at work is left alone', async () => {
  const slow = join(base, 'slow/tinygo');
  write(base, { 'slow/tinygo': TINYGO.replace('echo "$@" >&2', 'sleep 6') });
  chmodSync(slow, 0o755);
  const wasm = sourceTree(base, RECIPE_OF_TINYGO.replace('core', 'slow'));
  const home = join(base, 'killed');
  mkdirSync(home);
  const env = { ...process.env, HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
  const start = (out: string) =>
    Bun.spawn(
      [
        process.execPath,
        join(root, 'tools/bundle/main.ts'),
        'build',
        '--recipe',
        join(wasm, 'bundle.yaml'),
        '--out',
        join(home, out),
        '--tinygo',
        slow,
      ],
      { env, stdout: 'ignore', stderr: 'ignore' },
    );
  const left = () =>
    [...readdirSync(home), ...readdirSync(join(home, 'cache/k8sbench/bundle'))].filter((name) =>
      name.endsWith('.tmp'),
    );
  const started = start('out');
  const cache = join(home, 'cache/k8sbench/bundle');
  for (let at = 0; at < 600 && !(existsSync(cache) && left().length === 2); at++) await Bun.sleep(50);
  expect(left()).toHaveLength(2);
  const quick = sourceTree(
    base,
    'workloads: false\nartifacts:\n  - { kind: files, from: data, to: share/data }\n',
  );
  const other = () =>
    bundle(quick, { home }, 'build', '--recipe', 'bundle.yaml', '--out', join(home, 'out'), '--force');
  expect(other()).toMatchObject({ exit: 0 });
  expect(left()).toHaveLength(2);
  started.kill('SIGKILL');
  await started.exited;
  expect(left()).toHaveLength(2);
  rmSync(join(home, 'cache/k8sbench/bundle/artifacts'), { recursive: true });
  expect(other()).toMatchObject({ exit: 0 });
  expect(left()).toEqual([]);
});

test('a build that fails says so with the compiler’s words, and leaves nothing', () => {
  const broken = sourceTree(
    base,
    'artifacts:\n  - { kind: go, name: hello, in: go, package: ./cmd/hello }\n',
  );
  write(broken, { 'go/cmd/hello/main.go': 'package main\n\nfunc main() { nothing() }\n' });
  const { exit, stdout, stderr } = build(broken, one, 'broken', '--allow-dirty');
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toContain('go bin/hello: ');
  expect(stderr).toContain('undefined: nothing');
  expect(readdirSync(base).filter((name) => name.includes('broken'))).toEqual([]);
});
