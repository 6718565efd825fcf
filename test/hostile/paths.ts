#!/usr/bin/env bun
/**
 * Calls every path flag with every kind of path, in a process of its own that can be ended when one of them hangs. Prints a
 * JSON line before and after each.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { TOOLS } from '../../tools/k8sbench/table.ts';
import { runTool } from '../outside.ts';
import { makeBed } from './bed.ts';
import { complaintsOf } from './oracle.ts';
import { PATH_CALLS } from './path-calls.ts';

/** Kinds of path that are no file of any format. */
export const BAD_PATHS = {
  missing: 'not/there',
  directory: 'an-empty-directory',
  'below a file': 'profile.json/below',
  pipe: 'a-pipe',
  device: '/dev/zero',
  terminal: '/dev/tty',
  'null device': '/dev/null',
  socket: 'a-socket',
  loop: 'a-loop',
  'long name': `x/${'y'.repeat(300)}`,
  'escapes in it': '\u001b[2J\u202ename\n',
  stdin: '-',
} as const;

export interface PathResult {
  call: string;
  kind: keyof typeof BAD_PATHS;
  reads: boolean;
  exit: number;
  complaints: string[];
  stderr: string;
}

if (import.meta.main) {
  const bed = await makeBed('paths');
  const prepare = (): void => {
    bed.reset();
    mkdirSync(join(bed.dir, BAD_PATHS.directory));
    symlinkSync(BAD_PATHS.loop, join(bed.dir, BAD_PATHS.loop));
    Bun.spawnSync(['mkfifo', join(bed.dir, BAD_PATHS.pipe)]);
    writeFileSync(join(bed.dir, 'kubeconfig'), '{}');
    writeFileSync(join(bed.dir, 'nodes.json'), '{"kind":"List","items":[]}');
  };
  const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
  for (const [name, calls] of Object.entries(PATH_CALLS)) {
    const { tool } = await TOOLS[name]!.load();
    for (const [flag, { args, reads }] of Object.entries(calls))
      for (const [kind, path] of Object.entries(BAD_PATHS)) {
        const call = `${name} ${args(kind).join(' ')}`;
        say({ at: `${name} --${flag} ${kind}` });
        prepare();
        const server = createServer();
        await new Promise<void>((done) => void server.listen(join(bed.dir, BAD_PATHS.socket), done));
        const began = performance.now();
        const ended = await runTool(tool.main, args(path), bed.outside());
        const complaints = complaintsOf({ ...ended, ms: performance.now() - began });
        server.close();
        say({
          result: { call, kind, reads, exit: ended.exit, complaints, stderr: ended.stderr.slice(0, 1000) },
        });
      }
  }
  bed.remove();
  say({ done: true });
}
