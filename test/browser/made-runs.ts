/** Run directories made to be looked at, analyzed by the program itself. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generator } from '../../shared/evidence/random.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText } from '../../shared/read.ts';
import { main as analyze } from '../../tools/analyze/main.ts';
import { type Made, madeLog, type MadeTarget, TARGETS } from '../made-log.ts';
import { runTool } from '../outside.ts';

/** What a workload, a profile or a node may be called. */
export const HOSTILE = '</script><img src=x onerror="window.hostile=1">\u001b[31m\u202e';

export const FOUR: MadeTarget[] = [
  ...TARGETS,
  { name: 'sqlite-control', role: 'control' },
  { name: 'memory', role: 'floor' },
];

/** A session whose samples have noise, and whose machine has something to tell. */
export const noisy = (asked: Partial<Made> = {}, sd = 0.02, ratio = 0.9): string => {
  const random = generator(7);
  const around = (value: number): number =>
    value * Math.exp(sd * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
  return madeLog({
    rounds: 12,
    ...asked,
    sample: (target, turns) => {
      const role = (asked.targets ?? TARGETS).find((one) => one.name === target)!.role;
      const base = (turns / 5) * (role === 'floor' ? 0.05 : role === 'candidate' ? ratio : 1);
      const turn = Array.from({ length: 8 }, () => around(base));
      return { open: around(base), turn, openCpu: base / 2, turnCpu: turn.map((one) => 0.8 * one) };
    },
    cpu: (_, turns, round) => ({
      wallMs: turns + 5 * round,
      throttledUsec: round === 3 ? 900 : 0,
      nrThrottled: round === 3 ? 1 : 0,
      stealUsec: round === 5 ? 1500 : 0,
      psiCpuSomeUsec: 300 * (round % 4),
      probeUsec: 40 + (round % 3),
      mhz: 3000 + 10 * (round % 5),
    }),
  });
};

/** A run directory with this log, analyzed. */
export const runOf = async (directory: string, log: string, ...flags: string[]): Promise<string> => {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'pod.log'), log);
  await analyzed(directory, flags);
  return directory;
};

/** The same run as if its targets had such names: `analyze` refuses them, but it is not the only writer of files. */
export const renamed = (directory: string, names: Readonly<Record<string, string>>): string => {
  const change = (file: string): string => {
    let text = readFileSync(join(directory, file), 'utf8');
    for (const [from, to] of Object.entries(names))
      text = text.replaceAll(from, JSON.stringify(to).slice(1, -1));
    writeFileSync(join(directory, file), text);
    return sha256(text);
  };
  change('pod.log');
  const rows = change('results.jsonl');
  change('analysis.json');
  const analysis = JSON.parse(readFileSync(join(directory, 'analysis.json'), 'utf8'));
  writeFileSync(
    join(directory, 'analysis.json'),
    jsonText({ ...analysis, outputs: { ...analysis.outputs, 'results.jsonl': rows } }),
  );
  return directory;
};

/** A run of several sessions, analyzed. */
export const sessionsOf = async (directory: string, count: number): Promise<string> => {
  const names = Array.from({ length: count }, (_, at) => `k8sbench-cmp-made-n${at + 1}`);
  for (const [at, run] of names.entries()) {
    mkdirSync(join(directory, run), { recursive: true });
    writeFileSync(
      join(directory, run, 'pod.log'),
      noisy({ run, facts: { node: `node-${at}` } }, 0.02, 0.9 + at / 50),
    );
  }
  const spread = {
    format: 'spread/1',
    run: 'k8sbench-cmp-made',
    over: 'sessions',
    children: names.map((run) => ({ run, dir: run, outcome: 'done' })),
  };
  writeFileSync(join(directory, 'spread.json'), jsonText(spread));
  await analyzed(directory, []);
  return directory;
};

const analyzed = async (directory: string, flags: readonly string[]): Promise<void> => {
  const { exit, stderr } = await runTool(analyze, ['--run', directory, ...flags]);
  if (exit !== 0 && exit !== 3) throw new Error(`analyze ended with ${exit}: ${stderr}`);
};

/** The kind of machine that the lines of a history name. */
export const NODE_TYPE = 'Synthetic CPU [] GOMAXPROCS 2';

/** Lines of a history whose candidate becomes slower at the 20th run. */
export const historyOf = (runs: number, name = 'store'): string =>
  Array.from({ length: runs }, (_, at) => {
    const own = (at < 20 ? 8 : 9) + (at % 3) / 20;
    const values = { warm: own, cold: 3 * own, piWarm: 10 + (at % 5) / 20, piCold: 30 };
    const line = {
      at: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
      rule: name,
      warmTurns: 84,
      core: (4096 + at).toString(16).padStart(10, '0'),
      turns: 50,
      run: `k8sbench-cmp-made-${at}`,
      values,
      more: {
        values,
        nodeType: { cpuModel: 'Synthetic CPU', cpuFeatures: '', gomaxprocs: 2 },
        purpose: 'main',
      },
    };
    return `${JSON.stringify(line)}\n`;
  }).join('');
