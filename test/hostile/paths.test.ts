/** Every path flag of every tool: missing, a directory, a pipe nobody writes to, a device, unreadable, `-`. None hangs, none is taken for a file. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tools } from './flag-kinds.ts';
import { allFlags } from './flag-kinds.ts';
import { PATH_CALLS } from './path-calls.ts';
import { BAD_PATHS, type PathResult } from './paths.ts';

const PIPELINES = new Set(['compare', 'calibrate', 'report']);
/** None of it can be a file of a format; a directory may be a calibration's run, the null device an empty file. */
const NEVER_A_FILE = new Set([
  'missing',
  'below a file',
  'pipe',
  'device',
  'terminal',
  'socket',
  'loop',
  'long name',
]);
const SILENCE_MS = 20_000;

const results: PathResult[] = [];
let problem: string | undefined;
beforeAll(async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'paths.ts')], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let at = 'the beginning';
  const end = (): void => {
    problem = `hangs: ${at}`;
    child.kill('SIGKILL');
  };
  let silence = setTimeout(end, SILENCE_MS);
  let rest = '';
  let done = false;
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    clearTimeout(silence);
    silence = setTimeout(end, SILENCE_MS);
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const said = JSON.parse(line) as { at?: string; result?: PathResult; done?: true };
      at = said.at ?? at;
      if (said.result) results.push(said.result);
      done ||= said.done === true;
    }
  }
  clearTimeout(silence);
  if (!done) problem ??= `ended at ${at}: ${(await new Response(child.stderr).text()).slice(-2000)}`;
}, 300_000);

test('each path flag, and each word that is a path, has its call', async () => {
  const own = (await allFlags()).filter(({ tool, kind }) => kind === 'path' && !PIPELINES.has(tool.name));
  const words = (await tools()).flatMap((tool) =>
    tool.words
      .filter((one) => !one.options && one.name !== 'NAME')
      .map((one) => [tool.name, one.name] as const),
  );
  const wanted = [...own.map(({ tool, name }) => [tool.name, name] as const), ...words];
  expect(wanted.filter(([tool, name]) => !PATH_CALLS[tool]?.[name]).map((one) => one.join(' '))).toEqual([]);
});

test('a path flag of a pipeline is one of a tool in it', async () => {
  const all = (await allFlags()).filter(({ kind }) => kind === 'path');
  const own = new Set(all.filter(({ tool }) => !PIPELINES.has(tool.name)).map(({ name }) => name));
  const others = all.filter(({ tool, name }) => PIPELINES.has(tool.name) && !own.has(name));
  expect(others.map(({ tool, name }) => `${tool.name} --${name}`)).toEqual([]);
});

test('nothing hangs, and nothing dies', () => expect(problem).toBeUndefined());

describe.each(Object.keys(BAD_PATHS))('%s', (kind) => {
  test('ends as every tool must', () => {
    const all = results.filter((one) => one.kind === kind);
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter((one) => one.complaints.length > 0)).toEqual([]);
  });

  test('is not read as a file', () => {
    if (!NEVER_A_FILE.has(kind)) return;
    const taken = results.filter((one) => one.kind === kind && one.reads && ![1, 2].includes(one.exit));
    expect(taken).toEqual([]);
  });
});

test('a file that may not be read is named, with the reason', () => {
  const dir = mkdtempSync(join(tmpdir(), 'k8sbench-unreadable-'));
  try {
    const path = join(dir, 'profile.json');
    writeFileSync(path, '{}');
    chmodSync(path, 0o000);
    chmodSync(dir, 0o755);
    // Root may read everything; somebody else may not.
    const somebody =
      process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const main = join(import.meta.dir, '../../tools/profile/main.ts');
    const { exitCode, stdout, stderr } = Bun.spawnSync([...somebody, process.execPath, main, path]);
    expect({ exitCode, stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `profile: error: can't read '${path}': permission denied\n`,
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
