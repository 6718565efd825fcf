/** A generated session in a sample's own home, and the agent's terminal interface that resumes it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { type Bench, filled } from './bench.ts';
import { AgentFailure } from './failure.ts';
import { fill, type Values } from './placeholders.ts';
import { typePrompt } from './pty.ts';
import { SESSION_ID } from './session.ts';
import { TerminalRun } from './terminal.ts';

/** What the seed step writes beside the fingerprint. */
export interface Seed {
  fingerprint: string;
  file: string;
  sha256: string;
  lines: number;
}

/** Copies the seed's session into the home; what it calls by placeholders is named. Gives the placeholders that go with it. */
export const placeSession = (bench: Bench, dir: string, seed: Seed): Values => {
  const text = readFileSync(join(dir, seed.file));
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (sha256 !== seed.sha256)
    throw new AgentFailure(
      'settings',
      `can't be measured: the session '${join(dir, seed.file)}' is not what the seed wrote`,
    );
  const { project, file, model } = bench.values;
  const path = join(
    bench.home.home,
    fill(bench.settings.session!.file, { ...bench.values, uuid: SESSION_ID }),
  );
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    text
      .toString('utf8')
      .replace(/\{(project|file|model)\}/g, (_, name: string) => String({ project, file, model }[name])),
  );
  return { ...bench.values, session: path, uuid: SESSION_ID };
};

/** Starts the terminal interface on a session. */
export const resumeInTerminal = (bench: Bench, values: Values): TerminalRun =>
  new TerminalRun(bench, filled(bench.settings.session!.terminal, values));

export interface Said {
  /** From the key that sends the prompt until the last change of the screen with the answer. */
  wall: number;
  cpu: number;
  /** Latencies of the keys before. */
  key: number[];
  toModel: number;
}

/** Types a prompt, sends it, and waits until the answer is shown and the agent is at rest. */
export const say = async (bench: Bench, run: TerminalRun, prompt: string, answer: string): Promise<Said> => {
  const key = await typePrompt(run, prompt);
  const cpu = run.cpu();
  const asked = new Promise<number>((resolve) =>
    bench.model.on((what, exchange) => {
      if (what === 'arrived' && exchange.scene !== 'side') resolve(exchange.arrived);
    }),
  );
  const from = performance.now();
  run.type(run.settings.submit ?? '\r');
  const arrived = await run.started.until(asked, 'its prompt reached the model');
  const shown = await run.shown(answer, 'it showed the answer');
  const last = await run.rest('it was at rest after the answer');
  return {
    wall: Math.max(shown, last) - from,
    cpu: Math.max(0, run.cpu() - cpu),
    key,
    toModel: arrived - from,
  };
};
