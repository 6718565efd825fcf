/**
 * durable-store: a session store with a history of N turns, to which a conversation is appended turn by turn. Each timed turn
 * appends and reads the whole history back.
 *
 *   main.ts seed   --store sqlite|journal        --dir DIR --turns N    builds the history; writes DIR/seed.json
 *   main.ts sample --store sqlite|journal|memory --dir DIR --turns N    measures one process; prints one JSON line
 *
 * Only `node:` modules and plain types, so that Bun and Node ≥ 24 run it as it is. To measure something of your own, copy
 * this folder: keep what `seed` writes and `sample` prints, replace the stores.
 */
import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fingerprintOf, turnOf } from './conversation.ts';
import { openJournal } from './journal.ts';
import { openMemory } from './memory.ts';
import { openSqlite } from './sqlite.ts';
import type { OpenStore, Store } from './store.ts';

const STORES: Readonly<Record<string, OpenStore>> = {
  sqlite: openSqlite,
  journal: openJournal,
  memory: openMemory,
};

/** Turns timed by one sample: enough for a median that one slow sync doesn't move. */
const TIMED_TURNS = 24;
/** Turns per transaction while the history is built: an import syncs less often than a conversation. */
const TURNS_PER_IMPORT = 10;

const MIB = 1 << 20;
const round = (value: number): number => Math.round(value * 1e4) / 1e4;

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(directory, one.name));

const bytesIn = (directory: string): number =>
  filesIn(directory).reduce((sum, file) => sum + statSync(file).size, 0);

const fill = (store: Store, turns: number): void => {
  for (let from = 0; from < turns; from += TURNS_PER_IMPORT) {
    const length = Math.min(TURNS_PER_IMPORT, turns - from);
    store.append(Array.from({ length }, (_, at) => turnOf(from + at)).flat());
  }
};

/** Builds the history from nothing and says how long that took and what is in it. */
const seed = (openStore: OpenStore, dir: string, turns: number): void => {
  const kept = join(dir, 'history');
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const started = performance.now();
  const building = openStore(kept);
  fill(building, turns);
  building.close();
  const seedMs = round(performance.now() - started);
  const built = openStore(kept);
  const fingerprint = fingerprintOf(built.messages());
  built.close();
  writeFileSync(join(dir, 'seed.json'), JSON.stringify({ seedMs, fingerprint, bytes: bytesIn(kept) }));
};

/** Copies the history, so that every sample meets the same one, and syncs the copy: its write-back is nobody's time. */
const copyOf = (dir: string): string => {
  const copy = mkdtempSync(join(dir, 'sample-'));
  for (const file of filesIn(join(dir, 'history'))) {
    const to = join(copy, file.slice(file.lastIndexOf('/') + 1));
    copyFileSync(file, to);
    const handle = openSync(to, 'r+');
    fsyncSync(handle);
    closeSync(handle);
  }
  return copy;
};

const collectGarbage = (): void => {
  const bun = (globalThis as { Bun?: { gc(force: boolean): void } }).Bun;
  if (bun) return bun.gc(true);
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

/** The largest resident memory so far, MiB. `resourceUsage().maxRSS` would count the parent's before exec. */
const peakRss = (): number => {
  const kib = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return round(Number(kib) / 1024);
};

/** Wall and CPU time of one piece of work, ms. */
const timed = <T>(work: () => T): { result: T; wall: number; cpu: number } => {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  const result = work();
  const wall = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { result, wall: round(wall), cpu: round((user + system) / 1000) };
};

/** One sample: opens a copy of the history, appends turns and reads the whole history back after each, timed together; then checks it all. */
const sample = (openStore: OpenStore, dir: string, turns: number, keepsFiles: boolean): void => {
  const directory = keepsFiles ? copyOf(dir) : '';
  const opened = timed(() => openStore(directory));
  const store = opened.result;
  // Memory has no fixture to copy: its history is made here, outside the timed part.
  if (!keepsFiles) fill(store, turns);
  const turn: number[] = [];
  const turnCpu: number[] = [];
  let tokensRead = 0;
  for (let next = turns; next < turns + TIMED_TURNS; next++) {
    const messages = turnOf(next);
    const { wall, cpu } = timed(() => {
      store.append(messages);
      for (const { tokens } of store.messages()) tokensRead += tokens;
    });
    turn.push(wall);
    turnCpu.push(cpu);
  }
  const peak = peakRss();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  let all = store;
  if (keepsFiles) {
    store.close();
    all = openStore(directory);
  }
  const fingerprint = fingerprintOf([...all.messages(), { role: 'read', tokens: tokensRead, text: '' }]);
  const bytes = keepsFiles ? { bytes: bytesIn(directory) } : {};
  all.close();
  if (keepsFiles) rmSync(directory, { recursive: true });
  const line = {
    open: opened.wall,
    turn,
    openCpu: opened.cpu,
    turnCpu,
    ...bytes,
    peakRss: peak,
    retained: round((heapUsed + external) / MIB),
    fingerprint,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { store: { type: 'string' }, dir: { type: 'string' }, turns: { type: 'string' } },
});
const [step] = positionals;
const openStore = STORES[values.store ?? ''];
const keepsFiles = openStore !== openMemory;
const fits = /^[1-9]\d*$/.test(values.turns ?? '') && (values.dir !== undefined || !keepsFiles);
if (!openStore || !fits || (step !== 'sample' && !(step === 'seed' && keepsFiles))) {
  process.stderr.write('usage: main.ts seed|sample --store sqlite|journal|memory --dir DIR --turns N\n');
  process.exit(2);
}
const dir = values.dir ?? '';
if (step === 'seed') seed(openStore, dir, Number(values.turns));
else sample(openStore, dir, Number(values.turns), keepsFiles);
