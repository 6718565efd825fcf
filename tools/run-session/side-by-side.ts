/** A run spread over nodes: its sessions side by side; the first that does not end well stops the others. */
import type { Spread } from '../../schemas/spread.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import type { Talk } from '../../shared/talk.ts';
import type { World } from '../../shared/world.ts';
import type { Ending } from './ending.ts';
import { readJob } from './job-file.ts';
import { isFinished, measure, readRun } from './measure.ts';
import type { Manner } from './task.ts';

type Child = Spread['children'][number];

/** What several sessions say at once: lines with a name, never one drawn over another. */
const namedTalk = (talk: Talk, name: string): Talk => ({
  info: (message) => talk.info(`${name}: ${message}`),
  warn: (message) => talk.warn(`${name}: ${message}`),
  error: (message) => talk.error(`${name}: ${message}`),
  print: (text) => talk.print(text),
  flushed: () => talk.flushed(),
});

const withoutTerminal = (world: World): World =>
  Object.create(world, {
    stderr: { value: Object.create(world.stderr, { isTerminal: { value: false } }) },
  }) as World;

/** Measures all children that are not finished; `set` is told what becomes of each. */
export const measureSideBySide = async (
  children: readonly RunDirectory[],
  manner: Manner,
  set: (at: number, fields: Partial<Child>) => void,
): Promise<Ending> => {
  const stop = new AbortController();
  const world = withoutTerminal(manner.world);
  let first: { error: unknown } | { ending: Ending } | undefined;
  const fail = (name: string, how: NonNullable<typeof first>): void => {
    first ??= how;
    stop.abort(`the end of '${name}'`);
  };
  const one = async (child: RunDirectory, at: number): Promise<Ending | undefined> => {
    const own = { ...manner, world, talk: namedTalk(manner.talk, child.name), stop: stop.signal };
    try {
      const about = readRun(child);
      if (await isFinished(child, about, own)) {
        set(at, { outcome: 'done' });
        return undefined;
      }
      set(at, { outcome: 'running' });
      const ending = await measure(child, about, own);
      const node = readJob(child)?.pod?.node;
      set(at, { outcome: ending.outcome, ...(node === undefined ? {} : { node }) });
      if (ending.outcome !== 'done' && ending.outcome !== 'running') {
        const { log: _log, ...rest } = ending;
        fail(child.name, { ending: { ...rest, message: `'${child.name}': ${ending.message}` } });
      }
      return ending;
    } catch (error) {
      fail(child.name, { error });
      set(at, { outcome: 'failed' });
      return undefined;
    }
  };
  // All of them to their ends, whatever becomes of one: what is left running here would go on unseen.
  const settled = await Promise.allSettled(children.map(one));
  const endings = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const lost = settled.find((each) => each.status === 'rejected');
  if (lost && !first) throw lost.reason;
  if (first && 'error' in first) throw first.error;
  if (first) return first.ending;
  return endings.find((ending) => ending?.outcome === 'running') ?? { outcome: 'done', exit: 0 };
};
