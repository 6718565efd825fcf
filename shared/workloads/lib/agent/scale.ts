/** session-scale: a long session is resumed in the terminal interface, and answers five prompts. */
import { benchFields, openBench, settle } from './bench.ts';
import { LONG_PROMPTS } from './definition.ts';
import { longScript, sayings } from './model.ts';
import { atRest, momentFields } from './memory.ts';
import { placeSession, resumeInTerminal, say, type Seed } from './resumed.ts';
import { roundedAll } from './rounded.ts';
import { LAST_WORDS } from './session.ts';
import type { Settings } from './settings.ts';

/** How long a resumed screen must stay the same, ms: a large session is drawn in parts. */
const RESUMED_QUIET_MS = 1000;

export interface AskedLong {
  settings: Settings;
  arm: string;
  dir: string;
  seed: Seed;
  /** Tokens of the model's context: more than the session has. */
  context: number;
  limit: number;
}

/** The bench of a long session: a model that answers each of its prompts. */
export const openLongBench = ({ settings, arm, dir, limit, context }: AskedLong) =>
  openBench({ settings, arm, dir, limit, context, script: () => longScript(LONG_PROMPTS) });

/** One sample: the fields of its line. */
export const scaleSample = async (asked: AskedLong): Promise<object> => {
  const { dir, seed } = asked;
  const bench = await openLongBench(asked);
  try {
    const values = placeSession(bench, dir, seed);
    const run = resumeInTerminal(bench, values);
    try {
      const first = await run.first();
      await run.shown(LAST_WORDS, 'it showed the end of the session');
      const open = await run.ready(RESUMED_QUIET_MS);
      const openCpu = run.cpu();
      const resumed = atRest(run.started.tree);
      const turn: number[] = [];
      const turnCpu: number[] = [];
      const keys: number[] = [];
      for (const { prompt, answer } of sayings(LONG_PROMPTS)) {
        const said = await say(bench, run, prompt, answer);
        turn.push(said.wall);
        turnCpu.push(said.cpu);
        keys.push(...said.key);
      }
      settle(bench);
      const after = atRest(run.started.tree);
      const [request] = bench.model.seen('long');
      const quit = await run.quit(values);
      await bench.close();
      return roundedAll({
        open,
        openCpu,
        turn,
        turnCpu,
        ...(after.peak > 0 ? { peakRss: after.peak } : {}),
        firstText: first,
        key: keys,
        ...momentFields('resumed', resumed),
        ...momentFields('after', after),
        quit,
        requestBytes: request!.requestBytes,
        requestMessages: request!.messages,
        ...benchFields(bench),
        fingerprint: seed.fingerprint,
      });
    } catch (error) {
      await run.drop();
      throw error;
    }
  } finally {
    await bench.drop();
  }
};
