import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { podBundle } from './bundle.ts';

const here = dirname(fileURLToPath(import.meta.url));
const top = resolve(here, '../..');

/** What the session's modules import at run time, followed from its entry: our own modules, and everything else. */
const importsFrom = (entry: string): { own: Set<string>; others: Set<string> } => {
  const own = new Set<string>();
  const others = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (own.has(path)) continue;
    own.add(path);
    for (const [, clause, name] of readFileSync(path, 'utf8').matchAll(
      /^(?:import|export) ([^'";]*?from )?'([^']+)';/gm,
    ))
      if (!clause?.startsWith('type ')) {
        if (name!.startsWith('.')) waiting.push(resolve(dirname(path), name!));
        else others.add(name!);
      }
  }
  return { own, others };
};

describe('pod.mjs', () => {
  test('is made of the session, a few modules of shared/, and nothing but what the runtime brings', () => {
    const { own, others } = importsFrom(resolve(here, 'in-pod.ts'));
    expect([...others].filter((name) => !name.startsWith('node:'))).toEqual([]);
    const outside = [...own]
      .map((path) => relative(top, path))
      // The code that judges a session is also what may end it early.
      .filter((path) => !path.startsWith('tools/pod/') && !path.startsWith('shared/evidence/'));
    expect(outside.toSorted()).toEqual([
      'schemas/placeholders.ts',
      ...[
        'bundle/versions',
        'cgroup',
        'commit-name',
        'cpu-list',
        'cpuinfo',
        'exit',
        'failure',
        'file-kinds',
        'governors',
        'json-text',
        'machine',
        'mounts',
        'p-value',
        'percent',
        'process-stat',
        'sample-values',
        'sequence',
        'sizes',
        'statistics',
        'time-limit',
        'topology',
      ].map((name) => `shared/${name}.ts`),
    ]);
    expect(own.size).toBeGreaterThan(20);
  });

  test('is one file, the same each time, that imports only what the runtime brings', async () => {
    const text = await podBundle();
    expect(text).toBe(await podBundle());
    const imported = [...text.matchAll(/^import [^;]*? from "([^"]+)"/gm)].map((found) => found[1]!);
    expect(imported.length).toBeGreaterThan(5);
    expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([]);
    expect(text).not.toContain(here);
    expect(text).toContain('\n// tools/pod/in-pod.ts\n');
  });

  test('is the same from whatever directory it is made', async () => {
    const text = await podBundle();
    for (const cwd of ['/', tmpdir(), here]) {
      const program = `process.stdout.write(await (await import('${here}/bundle.ts')).podBundle())`;
      const made = Bun.spawnSync([process.execPath, '-e', program], { cwd });
      expect(made.stdout.toString() === text ? '' : cwd).toBe('');
    }
  });
});
