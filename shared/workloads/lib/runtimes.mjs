/**
 * runtimes: one program, started by two JavaScript runtimes. A file of orders is opened; each turn asks a few questions of
 * it: filter, group, sort, search, digest.
 *
 *   runtimes.mjs seed   --dir DIR --turns N    writes N × 10 orders and DIR/seed.json
 *   runtimes.mjs sample --dir DIR --turns N    measures one process; prints one JSON line
 *
 * JavaScript and not TypeScript, so that also a runtime that strips no types can be one of the two.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Turns timed by one sample, and the questions of a turn: enough work that a turn takes some ms at the default size. */
const TIMED_TURNS = 24;
const QUESTIONS_PER_TURN = 8;
const ORDERS_PER_TURN = 10;
const CITIES = ['Aarhus', 'Bergen', 'Gdańsk', 'Kraków', 'Lyon', 'Malmö', 'Porto', 'Turku', '京都', '札幌'];
const TAGS = ['new', 'paid', 'late', 'gift', 'bulk', 'back', 'sent', 'void'];

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);
/** @param {number} value */
const round = (value) => Math.round(value * 1e4) / 1e4;

/** Orders in the same order on every machine: xorshift32 (Marsaglia 2003) from a fixed seed. */
const orders = (/** @type {number} */ count) => {
  let state = 0x9e3779b1;
  const next = (/** @type {number} */ below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return Array.from({ length: count }, (_, id) => ({
    id,
    city: CITIES[next(CITIES.length)] ?? '',
    cents: 100 + next(100_000),
    tags: [TAGS[next(TAGS.length)] ?? '', TAGS[next(TAGS.length)] ?? ''],
    note: `order ${id} to shelf ${next(5000)}-${next(5000)}, parcel ${next(1_000_000).toString(36)}`,
  }));
};

/**
 * One question: what a tag sold by city, and the parcels that match a pattern; answered by the digest of the reply.
 * @param {ReturnType<typeof orders>} all @param {number} question
 */
const answer = (all, question) => {
  const tag = TAGS[question % TAGS.length] ?? '';
  const pattern = new RegExp(`shelf \\d*${question % 10}-(\\d+), parcel (\\w*[a-f]\\w*)$`, 'u');
  /** @type {Map<string, number>} */
  const sold = new Map();
  const parcels = [];
  for (const order of all) {
    if (order.tags.includes(tag)) sold.set(order.city, (sold.get(order.city) ?? 0) + order.cents);
    const found = pattern.exec(order.note);
    if (found) parcels.push({ id: order.id, shelf: Number(found[1]), parcel: found[2] });
  }
  parcels.sort((a, b) => a.shelf - b.shelf || a.id - b.id);
  return digest(JSON.stringify({ tag, sold: [...sold].toSorted(([a], [b]) => (a < b ? -1 : 1)), parcels }));
};

/** Wall and CPU time of one piece of work, ms. @template T @param {() => T} work */
const timed = (work) => {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  const result = work();
  const wall = round(performance.now() - before);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { result, wall, cpu: round((user + system) / 1000) };
};

/** @param {string} file @param {number} turns */
const seed = (file, turns) => {
  const { result, wall } = timed(() => JSON.stringify(orders(turns * ORDERS_PER_TURN)));
  writeFileSync(file, result);
  return { seedMs: wall, fingerprint: digest(result), bytes: Buffer.byteLength(result) };
};

/** @param {string} file */
const sample = (file) => {
  const opened = timed(() => JSON.parse(readFileSync(file, 'utf8')));
  const turn = (/** @type {number} */ at) => {
    const from = at * QUESTIONS_PER_TURN;
    return Array.from({ length: QUESTIONS_PER_TURN }, (_, next) => answer(opened.result, from + next)).join();
  };
  const answers = Array.from({ length: TIMED_TURNS }, (_, at) => timed(() => turn(at)));
  const hwm = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return {
    open: opened.wall,
    turn: answers.map(({ wall }) => wall),
    openCpu: opened.cpu,
    turnCpu: answers.map(({ cpu }) => cpu),
    peakRss: round(Number(hwm) / 1024),
    fingerprint: digest(answers.map(({ result }) => result).join()),
  };
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, turns: { type: 'string' } },
});
const [step] = positionals;
if (!values.dir || !/^[1-9]\d*$/.test(values.turns ?? '') || (step !== 'seed' && step !== 'sample')) {
  process.stderr.write('usage: runtimes.mjs seed|sample --dir DIR --turns N\n');
  process.exit(2);
}
mkdirSync(values.dir, { recursive: true });
const file = join(values.dir, 'orders.json');
if (step === 'seed')
  writeFileSync(join(values.dir, 'seed.json'), JSON.stringify(seed(file, Number(values.turns))));
else process.stdout.write(`${JSON.stringify(sample(file))}\n`);
