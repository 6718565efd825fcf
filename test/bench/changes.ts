/** `tracker changes` on a history of 10,000 runs, against apache-otava on the same ratios. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../shared/statistics.ts';
import { generator } from '../../shared/evidence/random.ts';
import { type Bed, inTree, tool } from './bed.ts';
import { type Figure, figureOf, notMeasured, ratios, shown } from './figure.ts';
import { interleaved, type Ran, run } from './process-run.ts';

const ROW = 'changes';
const RUNS = 10_000;
const OTAVA = 'apache-otava==0.8.0';
const START_S = 1_577_836_800;

/** Ratios that step by 5 % so often, with a spread of 1 %. */
const ratiosOf = (steps: number): number[] => {
  const random = generator(9);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from(
    { length: RUNS },
    (_, at) => 1 + 0.05 * (Math.floor((at * (steps + 1)) / RUNS) % 2) + 0.01 * normal(),
  );
};

const commitOf = (at: number): string => at.toString(16).padStart(10, '0');

const lineOf = (ratio: number, at: number): string => {
  const values = { warm: 10 * ratio, piWarm: 10 };
  const line = {
    at: new Date((START_S + 3600 * at) * 1000).toISOString(),
    rule: 'store',
    core: commitOf(at),
    turns: 50,
    run: `out/run-${at}`,
    values,
    more: {
      values,
      nodeType: { cpuModel: 'Synthetic CPU', cpuFeatures: '', gomaxprocs: 2 },
      purpose: 'main',
    },
  };
  return `${JSON.stringify(line)}\n`;
};

/** An environment of its own with apache-otava in it, or why there is none. */
const otavaIn = async ({ directory, say }: Bed): Promise<{ bin: string } | { why: string }> => {
  const place = join(directory, 'otava');
  say(`${ROW}: installing ${OTAVA}`);
  try {
    await run(['python3', '-m', 'venv', place]);
    await run([join(place, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', OTAVA]);
  } catch (error) {
    return { why: `no apache-otava: ${error instanceof Error ? error.message.split('\n')[0] : error}` };
  }
  return { bin: join(place, 'bin') };
};

const ofSteps = async (bed: Bed, bin: string, steps: number): Promise<Figure[]> => {
  const file = (ending: string): string => join(bed.directory, `steps-${steps}.${ending}`);
  const all = ratiosOf(steps);
  writeFileSync(file('jsonl'), all.map(lineOf).join(''));
  writeFileSync(file('txt'), all.map((one) => `${one}\n`).join(''));
  const rows = all.map((one, at) => `${START_S + 3600 * at},${commitOf(at)},${one}\n`);
  writeFileSync(file('csv'), `time,commit,ratio\n${rows.join('')}`);
  writeFileSync(
    file('yaml'),
    JSON.stringify({
      tests: {
        history: {
          type: 'csv',
          file: file('csv'),
          time_column: 'time',
          attributes: ['commit'],
          metrics: ['ratio'],
          csv_options: { delimiter: ',' },
        },
      },
    }),
  );
  const each = await interleaved<string, Ran>(bed.repetitions, {
    ours: () => run([...tool('tracker'), 'changes', '--track', file('jsonl')], { cwd: bed.directory }),
    bare: () => run([join(bin, 'python3'), inTree('test/bench/otava-changes.py'), file('txt')]),
    otava: () =>
      run([join(bin, 'otava'), 'analyze', 'history', '--since', '2019-01-01'], {
        env: { OTAVA_CONFIG: file('yaml') },
      }),
  });
  const wall = (name: string): number[] => each[name]!.map((one) => one.wallMs);
  const what = `tracker changes on ${RUNS.toLocaleString('en')} runs with ${steps} steps`;
  return [
    { name: 'otava', against: 'otava analyze' },
    { name: 'bare', against: "otava's analysis alone" },
  ].map(({ name, against }) =>
    figureOf(
      {
        row: ROW,
        what: `${what}, against ${against}`,
        goal: { most: 1 },
        unit: '×',
        from: `${shown(wall('ours'), 'ms', 0)}, ${against} ${median(wall(name)).toFixed(0)} ms`,
      },
      ratios(wall('ours'), wall(name)),
    ),
  );
};

export const changes = async (bed: Bed): Promise<Figure[]> => {
  const otava = await otavaIn(bed);
  if ('why' in otava) {
    const asked = { row: ROW, what: 'tracker changes, against otava', goal: { most: 1 }, unit: '×' as const };
    return [notMeasured(asked, otava.why)];
  }
  return [...(await ofSteps(bed, otava.bin, 0)), ...(await ofSteps(bed, otava.bin, 19))];
};
