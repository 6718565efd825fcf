/** Every reader of files that people or other programs write: valid files, how it is called, and what counts as a wrong success. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { analysis as analysisSchema } from '../../schemas/analysis.ts';
import { historyLine, trackerLine } from '../../schemas/tracker.ts';
import { tool as analyze } from '../../tools/analyze/main.ts';
import { tool as exportTool } from '../../tools/export/main.ts';
import { tool as plan } from '../../tools/plan/main.ts';
import { tool as pod } from '../../tools/pod/main.ts';
import { tool as profile } from '../../tools/profile/main.ts';
import { tool as runSession } from '../../tools/run-session/main.ts';
import { tool as tracker } from '../../tools/tracker/main.ts';
import { tool as trials } from '../../tools/trials/main.ts';
import { tool as view } from '../../tools/view/main.ts';
import type { Outside } from '../outside.ts';
import { runTool } from '../outside.ts';
import { type Bed, contentOf, RUNS } from './bed.ts';
import { type Input, type Make, largeOf, largeYaml, ofBytes, ofJson, ofLines, ofYaml } from './inputs.ts';
import { halfWritten, type Result } from './oracle.ts';
import { largeLogs, sealedLog } from './sealed-log.ts';
import * as twin from './twins.ts';

export interface Reader {
  make: Make;
  /** Large inputs: deep nesting, long texts. */
  large?: () => Iterable<Input>;
  /** Reads an input; of several calls that read it, this one. */
  read(input: Buffer, call?: number): Promise<Result>;
  /** What is wrong with how it ended, beyond what must hold of every tool. */
  wrong(input: Buffer, result: Result): string[];
}

const fixtures = resolve(import.meta.dir, '../../fixtures');
const text = (path: string): string => readFileSync(join(fixtures, path), 'utf8');
const json = (path: string): unknown => JSON.parse(text(path));
const lines = (written: string): unknown[] =>
  written
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

const call = async (main: typeof plan.main, args: string[], outside: Outside): Promise<Result> => {
  const began = performance.now();
  const ended = await runTool(main, args, outside);
  return { ...ended, ms: performance.now() - began };
};

/** Whether a tool that ended so says that it succeeded. */
const succeeded = ({ exit }: Result): boolean => exit === 0;

/** A reader of one file of a run directory, called on that directory. */
const ofRunFile = (
  bed: Bed,
  file: string,
  valid: readonly unknown[] | Buffer,
  calls: readonly [main: typeof plan.main, ...args: string[]][],
  wrong: (input: Buffer, result: Result, original: Buffer) => string[] = () => [],
): Reader => {
  const original = bed.content.get(file)!;
  return {
    make: Buffer.isBuffer(valid) ? ofBytes([valid]) : ofJson(valid),
    ...(Buffer.isBuffer(valid) ? {} : { large: () => largeOf(valid[0]) }),
    async read(input, which = input.length) {
      bed.reset();
      writeFileSync(join(bed.dir, file), input);
      // Any of the calls may be the one that errs.
      const [main, ...args] = calls[which % calls.length]!;
      return call(main, args, bed.outside());
    },
    wrong: (input, result) => [
      ...halfWritten(bed.dir, [file]),
      ...(input.equals(original) ? [] : wrong(input, result, original)),
    ],
  };
};

/** A file that was changed is not what its digest says: never read as if nothing had happened. */
const refused = (_input: Buffer, result: Result): string[] =>
  succeeded(result) ? ['a file with another digest was taken'] : [];

const inRun = (run: string, file: string): string => join('out', run, file);

/** Readers by name, on a bed of their own. */
export const READERS: Readonly<Record<string, (bed: Bed) => Reader>> = {
  profile: () => ({
    make: ofJson([
      json('schemas/profile/valid-a-store.json'),
      json('schemas/profile/valid-b-commands.json'),
      json('profiles/own-workload.json'),
      json('profiles/plain-commands.json'),
    ]),
    large: () => largeOf(json('schemas/profile/valid-a-store.json')),
    read: (input) => call(profile.main, ['-'], { stdin: input }),
    wrong: (input, result) => (succeeded(result) ? twin.profileProblems(input, result.stdout) : []),
  }),

  values: (bed) => {
    const full = text('values/every-setting.yaml');
    const of_ = { namespace: 'a', image: `r/b@sha256:${'0'.repeat(64)}`, labels: { a: 'b' }, cpus: 2 };
    const run = join(bed.dir, inRun('cmp-values', ''));
    return {
      make: ofYaml(
        [full, text('schemas/values/valid.yaml').replace(/^bundle.*\n/m, `image: ${of_.image}\n`)],
        [of_],
      ),
      large: () => largeYaml(full),
      async read(input) {
        bed.reset();
        writeFileSync(join(bed.dir, 'values.yaml'), input);
        return call(
          plan.main,
          ['--values', 'values.yaml', '--run', run, '--profile', 'profile.json'],
          bed.outside(),
        );
      },
      wrong: (input, result) => [
        ...halfWritten(bed.dir, []),
        ...(succeeded(result)
          ? twin.valuesProblems(input, readFileSync(join(run, 'values.json'), 'utf8'))
          : []),
        ...(!succeeded(result) && existsSync(run) ? ['a run directory, and a plan that failed'] : []),
      ],
    };
  },

  'run.json': (bed) => {
    const file = inRun(RUNS.planned, 'run.json');
    const path = join('out', RUNS.planned);
    return ofRunFile(
      bed,
      file,
      [JSON.parse(bed.content.get(file)!.toString())],
      [
        [runSession.main, '--run', path],
        [analyze.main, '--run', path],
        [plan.main, '--local', '--profile', 'profile.json', '--run', path],
        [tracker.main, 'append', '--run', path],
      ],
    );
  },
  'plan.json': (bed) => planned(bed, 'plan.json'),
  'profile.json': (bed) => planned(bed, 'profile.json'),
  'values.json': (bed) => planned(bed, 'values.json'),

  'compact-plan': (bed) => {
    const compacts = [
      json('schemas/compact-plan/valid-a-local.json'),
      json('schemas/compact-plan/valid-b-cluster.json'),
      JSON.parse(bed.content.get(inRun(RUNS.planned, 'plan.json'))!.toString()),
    ];
    return {
      make: ofJson(compacts),
      large: () => largeOf(compacts[0]),
      async read(input) {
        // A plan that it takes ends at a delivery that there isn't, before anything is started.
        const env = { ...bed.outside().env, K8SBENCH_DELIVERY: 'nowhere' };
        const result = await call(pod.main, [], bed.outside({ stdin: input, env }));
        // Its stdout is the log, also of a session that was refused.
        return { ...result, stdout: '', log: result.stdout } as Result;
      },
      wrong: (input, result) => twin.podProblems(input, (result as Result & { log: string }).log),
    };
  },

  'log-altered': () => {
    const valid = Buffer.from(text('example/pod.log'));
    const foreign = Buffer.from(
      text('example/pod.log').replaceAll('\n{"t":"cpu"', '\nsome noise\n{"t":"cpu"'),
    );
    return {
      make: ofBytes([valid, foreign]),
      read: (input) => call(analyze.main, ['--log', '-', '--json'], { stdin: input }),
      wrong: (input, result) => twin.alteredLogProblems(valid, input, result),
    };
  },
  'log-sealed': () => {
    const whole = lines(text('example/pod.log')).slice(0, -1);
    return {
      make: sealedLog(whole),
      large: () => largeLogs(whole),
      read: (input) => call(analyze.main, ['--log', '-', '--json'], { stdin: input }),
      wrong: (_input, result) =>
        [0, 3, 5].includes(result.exit) ? twin.analysisProblems(result.stdout) : [],
    };
  },

  history: (bed) => {
    const own = bed.content.get('out/track.jsonl')!.toString();
    const file = join(bed.dir, 'history.jsonl');
    return {
      make: ofLines([
        lines(text('example/history.jsonl')),
        lines(own),
        lines(text('schemas/tracker/valid.jsonl')),
      ]),
      large: () => largeOf(lines(own)[0]),
      async read(input) {
        writeFileSync(file, input);
        return call(tracker.main, ['show', '--track', file, '--json'], bed.outside());
      },
      wrong: (input, result) => twin.historyProblems(input, result, (value) => v.is(historyLine, value)),
    };
  },
  'history-shown': (bed) => {
    const own = bed.content.get('out/track.jsonl')!.toString();
    const file = join(bed.dir, 'history.jsonl');
    return {
      make: ofLines([lines(text('example/history.jsonl')), lines(own)]),
      async read(input) {
        writeFileSync(file, input);
        const result = await call(tracker.main, ['show', '--track', file], bed.outside());
        // A table is for people: it must be as harmless as what is said.
        return { ...result, stderr: result.stderr + result.stdout };
      },
      wrong: () => [],
    };
  },
  'history-appended': (bed) => {
    const track = 'out/track.jsonl';
    const own = lines(bed.content.get(track)!.toString());
    const others = own.map((line, at) => ({ ...(line as object), run: `other-${at}` }));
    return {
      make: ofLines([own, [...others, ...own], others]),
      large: () => largeOf(others[0]),
      async read(input) {
        bed.reset();
        writeFileSync(join(bed.dir, track), input);
        return call(tracker.main, ['append', '--run', join('out', RUNS.judged)], bed.outside());
      },
      wrong: (input, result) =>
        twin.appendProblems(input, result, contentOf(bed.dir), (value) => v.is(trackerLine, value)),
    };
  },
  baseline: (bed) => ({
    make: ofJson([
      json('example/baseline.json'),
      json('schemas/baseline/valid.json'),
      { core: 'x', rule: 'pair', warm: 3.5, piWarm: 7, cold: '9' },
    ]),
    large: () => largeOf(json('example/baseline.json')),
    async read(input) {
      bed.reset();
      writeFileSync(join(bed.dir, 'baseline.json'), input);
      return call(
        tracker.main,
        ['append', '--run', join('out', RUNS.judged), '--baseline', 'baseline.json'],
        bed.outside(),
      );
    },
    wrong: (input, result) => (succeeded(result) ? twin.baselineProblems(input, result.stdout) : []),
  }),
  calibration: (bed) => {
    const own = JSON.parse(
      bed.content.get(inRun(RUNS.calibration, 'calibration.json'))!.toString(),
    ) as unknown;
    const calls = [
      {
        main: analyze.main,
        args: ['--log', `${RUNS.judged}.log`, '--calibration', 'calibration.json', '--json'],
      },
      {
        main: plan.main,
        args: ['--local', '--profile', 'profile.json', '--calibration', 'calibration.json', '--dry-run'],
      },
    ];
    return {
      make: ofJson([own, json('schemas/calibration/valid.json')]),
      large: () => largeOf(own),
      async read(input) {
        writeFileSync(join(bed.dir, 'calibration.json'), input);
        const { main, args } = calls[input.length % calls.length]!;
        return call(main, args, bed.outside());
      },
      wrong: (_input, result) =>
        [0, 3].includes(result.exit) && result.stdout.includes('analysis/1')
          ? twin.analysisProblems(result.stdout)
          : [],
    };
  },
  analysis: (bed) => {
    const file = inRun(RUNS.judged, 'analysis.json');
    const path = join('out', RUNS.judged);
    const own = JSON.parse(bed.content.get(file)!.toString()) as unknown;
    return ofRunFile(
      bed,
      file,
      [own],
      [
        [tracker.main, 'append', '--run', path],
        [tracker.main, 'append', '--run', path, '--track', 'own.jsonl'],
        [analyze.main, '--run', path],
      ],
      (_input, result) =>
        succeeded(result) && result.stdout.startsWith('{')
          ? lines(result.stdout).flatMap((line) =>
              v.is(trackerLine, line)
                ? []
                : [`wrote a line that is none: ${JSON.stringify(line).slice(0, 300)}`],
            )
          : [],
    );
  },
  'job.json': (bed) => {
    const file = inRun(RUNS.judged, 'job.json');
    const own = JSON.parse(bed.content.get(file)!.toString()) as object;
    const killed = json('schemas/job/valid-b-running.json') as object;
    const path = join('out', RUNS.judged);
    return ofRunFile(
      bed,
      file,
      [own, { ...own, outcome: 'invalid', message: 'it moved' }, { ...killed, run: RUNS.judged }],
      [
        [runSession.main, '--run', path],
        [runSession.main, '--run', path, '--force'],
        [analyze.main, '--run', path, '--force'],
      ],
      (input, result) => (input.length % 3 === 0 ? refused(input, result) : []),
    );
  },
  'spread.json': (bed) => {
    const file = inRun(RUNS.several, 'spread.json');
    const path = join('out', RUNS.several);
    return ofRunFile(
      bed,
      file,
      [JSON.parse(bed.content.get(file)!.toString())],
      [
        [runSession.main, '--run', path],
        [analyze.main, '--run', path],
        [analyze.main, '--run', path, '--allow-incomplete', '--json'],
        [analyze.main, '--run', join(path, `${RUNS.several}-n1`)],
      ],
      (input, result) => (input.length % 4 === 0 ? refused(input, result) : []),
    );
  },
  'MANIFEST.sha256': (bed) => {
    const file = inRun(RUNS.judged, 'MANIFEST.sha256');
    const path = join('out', RUNS.judged);
    return ofRunFile(
      bed,
      file,
      bed.content.get(file)!,
      [
        [runSession.main, '--run', path],
        [analyze.main, '--run', path, '--force'],
      ],
      twin.manifestProblems,
    );
  },
  'trials.jsonl': () => {
    const own = lines(text('schemas/trial-line/valid.jsonl'));
    return {
      make: ofLines([own, [...own, ...own]]),
      large: () => largeOf(own[0]),
      read: (input) => call(trials.main, ['score', '--from', '-', '--json'], { stdin: input }),
      wrong: (input, result) => (succeeded(result) ? twin.scoreProblems(input, result.stdout) : []),
    };
  },
  'trials-scored': () => ({
    make: ofLines([lines(text('schemas/trial-line/valid.jsonl'))]),
    async read(input) {
      const result = await call(trials.main, ['score', '--from', '-'], { stdin: input });
      // A table is for people.
      return { ...result, stderr: result.stderr + result.stdout.replaceAll('\n', ' ') };
    },
    wrong: () => [],
  }),
  prices: (bed) => {
    const trial = `${JSON.stringify(lines(text('schemas/trial-line/valid.jsonl'))[0])}\n`;
    const written = text('schemas/prices/valid.yaml');
    return {
      make: ofYaml(
        [written],
        [
          {
            format: 'prices/1',
            currency: 'USD',
            models: { m: { perMillionTokens: { input: 1, output: 2 } } },
          },
        ],
      ),
      large: () => largeYaml(written),
      async read(input) {
        writeFileSync(join(bed.dir, 'prices.yaml'), input);
        return call(
          trials.main,
          ['score', '--from', '-', '--json', '--prices', 'prices.yaml'],
          bed.outside({ stdin: trial }),
        );
      },
      wrong: (_input, result) =>
        succeeded(result) ? twin.scoreProblems(Buffer.from(trial), result.stdout) : [],
    };
  },
  'trials-score.json': (bed) => {
    const own = json('schemas/trials-score/valid.json');
    const run = join(bed.dir, 'trials');
    const calls = [
      { main: exportTool.main, args: ['junit', '--run', 'trials'] },
      { main: exportTool.main, args: ['markdown', '--run', 'trials'] },
      { main: view.main, args: ['--run', 'trials', '--out', '-'] },
    ];
    return {
      make: ofJson([own]),
      large: () => largeOf(own),
      async read(input) {
        mkdirSync(run, { recursive: true });
        writeFileSync(join(run, 'trials-score.json'), input);
        const { main, args } = calls[input.length % calls.length]!;
        return call(main, args, bed.outside());
      },
      wrong: () => [],
    };
  },
  'attempts.jsonl': (bed) => {
    const file = 'out/attempts.jsonl';
    const own = lines(bed.content.get(file)!.toString());
    return {
      make: ofLines([own]),
      large: () => largeOf(own[0]),
      async read(input) {
        bed.reset();
        writeFileSync(join(bed.dir, file), input);
        return call(analyze.main, ['--run', join('out', RUNS.measured)], bed.outside());
      },
      wrong: (input, result) => [
        ...halfWritten(bed.dir, []),
        ...twin.attemptsProblems(input, result, contentOf(bed.dir)),
      ],
    };
  },
};

/** What `plan` wrote is held to its digest in run.json. */
const planned = (bed: Bed, name: string): Reader => {
  const file = inRun(RUNS.planned, name);
  const path = join('out', RUNS.planned);
  return ofRunFile(
    bed,
    file,
    [JSON.parse(bed.content.get(file)!.toString())],
    [
      [runSession.main, '--run', path],
      [runSession.main, '--run', path, '--json'],
      [plan.main, '--local', '--profile', 'profile.json', '--rounds', '13', '--run', path],
    ],
    (input, result) => refused(input, result),
  );
};

export type { Input };
export { analysisSchema };
