/** Sessions measured from outside: when each of their lines came. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bed, inTree, tool } from './bed.ts';
import { run } from './process-run.ts';

export interface PlainSession {
  command: string;
  repeat: number;
  rounds: number;
  runtime: 'bun' | 'node';
}

interface Sample {
  /** When its line came, ms. */
  at: number;
  turn: number[];
}

export interface Timed {
  samples: Sample[];
  /** The cores measured processes are pinned to. */
  cpus: string;
}

let bundle: string | undefined;

/** The command line of the session under a runtime; on Node it is the one file that pods get. */
const podOn = async (runtime: PlainSession['runtime'], { directory }: Bed): Promise<string[]> => {
  if (runtime === 'bun') return tool('pod');
  if (bundle === undefined) {
    bundle = join(directory, 'pod.mjs');
    await run([process.execPath, inTree('tools/pod/bundle.ts'), bundle]);
  }
  return ['node', bundle];
};

let plans = 0;

/** A plan of one plain command, alone. */
const planOf = async ({ command, repeat, rounds }: PlainSession, { directory }: Bed): Promise<string> => {
  const name = join(directory, `${plans++}`);
  const profile = await run(
    [...tool('profile'), '--reference', command, '--candidate', command, '--repeat', String(repeat)],
    { keep: true },
  );
  writeFileSync(`${name}-profile.json`, profile.stdout);
  const options = ['--local', '--mode', 'calibrate', '--rounds', String(rounds), '--allow-frequency-scaling'];
  const plan = await run([...tool('plan'), ...options, '--profile', `${name}-profile.json`, '--out', '-'], {
    cwd: directory,
    keep: true,
  });
  writeFileSync(`${name}-plan.json`, plan.stdout);
  return `${name}-plan.json`;
};

/** Runs a session of one plain command; only its samples' lines are looked at while it runs. */
export const plainSession = async (session: PlainSession, bed: Bed): Promise<Timed> => {
  const words = await podOn(session.runtime, bed);
  const child = Bun.spawn(words, {
    cwd: bed.directory,
    stdin: Bun.file(await planOf(session, bed)),
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const parts: { at: number; text: string }[] = [];
  const decoder = new TextDecoder();
  for await (const part of child.stdout) parts.push({ at: performance.now(), text: decoder.decode(part) });
  if ((await child.exited) !== 0) throw new Error(`a session of '${session.command}' failed`);
  const samples: Sample[] = [];
  let cpus = '';
  let rest = '';
  for (const { at, text } of parts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const { t, turn, cpus: pinned } = JSON.parse(line) as { t: string; turn: number[]; cpus: string };
      if (t === 'pin') cpus = pinned;
      if (t === 'sample') samples.push({ at, turn });
    }
  }
  return { samples, cpus };
};
