/**
 * Whether the agent harness tells true times: the version scenario of real agents, against hyperfine on the same command in the
 * same environment. The agents are those of test/agents.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, quantile } from '../../shared/statistics.ts';
import { filled, openBench } from '../../shared/workloads/lib/agent/bench.ts';
import { scriptFor } from '../../shared/workloads/lib/agent/model.ts';
import { runVersion } from '../../shared/workloads/lib/agent/print.ts';
import { readSettings, type Settings } from '../../shared/workloads/lib/agent/settings.ts';
import { agentBundle, root } from '../agents/agent-bundle.ts';
import type { Bed } from './bed.ts';
import { type Asked, type Figure, figureOf, notMeasured } from './figure.ts';
import { peer } from './peers.ts';
import { interleaved, run } from './process-run.ts';

const PROCESSES = 10;

const settingsOf = (name: string): Settings => {
  const read = readSettings(
    JSON.parse(readFileSync(join(root, `shared/workloads/lib/agent/settings/${name}.json`), 'utf8')),
  );
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return read.settings;
};

/** Times of the version scenario by both, in turn, ms. */
const timesOf = async (name: string, hyperfine: string, bundle: string, bed: Bed) => {
  const settings = settingsOf(name);
  const program = settings.program.map((word) => (word === '{node}' ? join(bundle, 'bin/node') : word));
  const bench = await openBench({
    settings: { ...settings, program },
    arm: join(bundle, 'arms', name),
    dir: join(bed.directory, name),
    limit: 60_000,
    script: (tool) => scriptFor(tool, 1),
  });
  const words = [...filled(program, bench.values), ...filled(settings.version.arguments, bench.values)];
  const json = join(bed.directory, 'version.json');
  try {
    return await interleaved<'harness' | 'hyperfine', number[]>(bed.repetitions, {
      async harness() {
        const walls: number[] = [];
        for (let at = 0; at < PROCESSES; at++) walls.push((await runVersion(bench)).wall);
        return walls;
      },
      async hyperfine() {
        await run([hyperfine, '-N', '--runs', String(PROCESSES), '--export-json', json, words.join(' ')], {
          cwd: bench.home.project,
          env: { ...bench.env },
        });
        const { results } = JSON.parse(readFileSync(json, 'utf8')) as { results: { times: number[] }[] };
        return results[0]!.times.map((one) => 1000 * one);
      },
    });
  } finally {
    await bench.drop();
  }
};

export const agentVersion = async (bed: Bed): Promise<Figure[]> => {
  const hyperfine = await peer('hyperfine');
  const figures: Figure[] = [];
  for (const name of ['pi', 'codex']) {
    const asked: Omit<Asked, 'from'> = {
      row: 'agent-version',
      what: `the version scenario of ${name}: bias of the harness against hyperfine -N, in spreads of the runs`,
      goal: { most: 1 },
      unit: '×',
    };
    if ('why' in hyperfine) {
      figures.push(notMeasured(asked, hyperfine.why));
      continue;
    }
    const { harness, hyperfine: peers } = await timesOf(name, hyperfine.path, agentBundle(), bed);
    const biases = harness.map((one, at) => median(one) - median(peers[at]!));
    const spreads = harness.map((one) => quantile(one, 0.75) - quantile(one, 0.25));
    figures.push(
      figureOf(
        {
          ...asked,
          from:
            `${median(harness.flat()).toFixed(1)} ms, hyperfine ${median(peers.flat()).toFixed(1)} ms; ` +
            `bias ${median(biases).toFixed(1)} ms, middle half of the runs ${median(spreads).toFixed(1)} ms wide`,
        },
        biases.map((one, at) => Math.abs(one) / spreads[at]!),
      ),
    );
  }
  return figures;
};
