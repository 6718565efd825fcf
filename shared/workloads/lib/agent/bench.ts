/** What the scenarios of one sample share: the agent, its home, its model; and what holds after each of them. */
import { lstatSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { AgentFailure, quoted } from './failure.ts';
import { environmentFor, type Home, makeHome, removeHome, valuesFor, writeFiles } from './home.ts';
import type { Script } from '../scripted-model/script.ts';
import { type Model, startModel } from './model.ts';
import { Places } from './outside-writes.ts';
import { fillAll, type Values } from './placeholders.ts';
import type { Settings } from './settings.ts';
import { Started } from './started.ts';

export interface Bench {
  settings: Settings;
  arm: string;
  home: Home;
  values: Values;
  env: Readonly<Record<string, string>>;
  model: Model;
  limit: number;
  /** Starts the agent with these arguments. */
  start(words: readonly string[], more?: Partial<ConstructorParameters<typeof Started>[0]>): Started;
}

/** Arguments of a mode, filled in. */
export const filled = (words: readonly string[], values: Values): string[] => fillAll([...words], values);

const LOGIN = /\blog ?in\b|\bsign in\b|api[ _-]?key|\bauthenticat|unauthorized/i;

/** What an agent says, judged: a login that it asks for is told as one. */
export const asksForLogin = (settings: Settings, said: string): boolean =>
  (settings.login === undefined ? LOGIN : new RegExp(settings.login, 'iu')).test(said);

/** Hosts that serve programs rather than models. */
const SHOPS =
  /registry\.npmjs\.org|registry\.yarnpkg\.com|github\.com|githubusercontent|pypi\.org|(?:^|[./])(?:releases?|downloads?|updates?)\./;

/** Somebody was asked for that isn't the model. */
const refuseForeign = ({ settings, model }: Bench): void => {
  for (const host of model.server.report().foreign) {
    if (settings.mayReach?.some((one) => host.includes(one))) continue;
    const shop = SHOPS.test(host);
    throw new AgentFailure(
      shop ? 'update' : 'network',
      `tries to reach '${quoted(host)}'${shop ? ', where programs and updates come from' : ''}; switch that off in its settings, it is to run offline`,
    );
  }
};

/** Files of an installation, with what tells one from another: a newer version has another size, time or inode. */
const installedIn = (arm: string): Map<string, string> => {
  const found = new Map<string, string>();
  const waiting = [arm];
  for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop())
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else {
        const { size, mtimeMs, ino } = lstatSync(path);
        found.set(path, `${size} ${mtimeMs} ${ino}`);
      }
    }
  return found;
};

/** A file of its own that is another now: it updated itself. */
const refuseUpdate = (arm: string, before: ReadonlyMap<string, string>): void => {
  const after = installedIn(arm);
  const changed = [...new Set([...before.keys(), ...after.keys()])].find(
    (path) => before.get(path) !== after.get(path),
  );
  if (changed !== undefined)
    throw new AgentFailure(
      'update',
      `changed its own installation: '${changed}'; what is measured must stay what it is`,
    );
};

const realHome = (): string[] => {
  try {
    return [userInfo().homedir];
  } catch {
    // A user without an entry has no home that a program could guess.
    return [];
  }
};

export interface OpenBench extends Bench {
  /** Longest time between two looks at any of its processes, ms. */
  longestGap(): number;
  /** CPU time of the harness and its model since this was opened, ms. */
  ownCpu(): number;
  /** Everything that must hold at the end; then the home is removed. */
  close(): Promise<void>;
  /** Removes the home and ends the model whatever happened. */
  drop(): Promise<void>;
}

export interface Wanted {
  settings: Settings;
  arm: string;
  /** Gets a directory of the sample's own. */
  dir: string;
  limit: number;
  /** The model's script for the agent's tool. */
  script(tool: Settings['tool']): Script;
  /** Tokens that the model takes. */
  context?: number;
}

/** Tokens of a model when nothing long is asked of it. */
const CONTEXT = 200_000;

/** Sets up a home and a model for an agent. */
export const openBench = async ({
  settings,
  arm,
  dir,
  limit,
  script,
  context = CONTEXT,
}: Wanted): Promise<OpenBench> => {
  const home = makeHome(dir);
  const installed = installedIn(arm);
  const shared = ['/tmp', '/var/tmp', ...realHome()];
  const places = new Places([dir, home.base, ...shared]);
  const known = { ...valuesFor(home, arm, ''), context };
  const model = await startModel(script(fillAll(settings.tool, known)));
  const values = { ...known, url: model.url };
  writeFiles(settings, home.home, values);
  const env = environmentFor(settings, home, values, model.port);
  const starts: Started[] = [];
  const ownFrom = process.cpuUsage();
  const bench: OpenBench = {
    settings,
    arm,
    home,
    values,
    env,
    model,
    limit,
    start: (words, more = {}) => {
      const started = new Started({
        name: settings.name,
        argv: [...filled(settings.program, values), ...words],
        cwd: home.project,
        env,
        marker: home.marker,
        bounds: { port: model.port, allowed: [home.base], mayWrite: settings.mayWrite ?? [] },
        asksForLogin: (said) => asksForLogin(settings, said),
        limit,
        ...more,
      });
      starts.push(started);
      return started;
    },
    longestGap: () => Math.max(0, ...starts.map((one) => one.watch.longestGap)),
    ownCpu() {
      const { user, system } = process.cpuUsage(ownFrom);
      return (user + system) / 1000;
    },
    async close() {
      refuseForeign(bench);
      refuseUpdate(arm, installed);
      // Others write into shared directories and the user's home too: there only what has the agent's name is its.
      const own = new RegExp(`(?<![a-z])${settings.name}(?![a-z])`, 'i');
      const stray = places
        .appeared()
        .filter((path) => !shared.includes(dirname(path)) || own.test(basename(path)))
        .filter((path) => !settings.mayWrite?.some((one) => new RegExp(one, 'u').test(path)));
      if (stray.length > 0)
        throw new AgentFailure(
          'writes',
          `left '${stray[0]}' outside of its home${stray.length > 1 ? `, and ${stray.length - 1} more` : ''}`,
        );
    },
    async drop() {
      await model.close();
      removeHome(home);
    },
  };
  return bench;
};

/** Nothing but the model was asked for, and the model understood everything. */
export const settle = (bench: Bench): void => {
  refuseForeign(bench);
  const refused = bench.model.seen().find((one) => one.refused !== undefined);
  if (refused)
    throw new AgentFailure(
      'answer',
      `asked the model for what the script does not know: ${quoted(refused.refused!)}`,
    );
};

/** What a sample tells of the harness itself, so that nobody has to believe that it costs nothing. */
export const benchFields = (bench: OpenBench): Record<string, number> => {
  const own = bench.model.server.report().own_s;
  return {
    ...(own ? { modelTime: own.median * 1000, modelTimeMax: own.max * 1000 } : {}),
    lookGapMax: bench.longestGap(),
    harnessCpu: bench.ownCpu(),
  };
};
