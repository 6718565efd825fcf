/** `trials score`: who solves how much of what, from the lines that were collected. */
import { join, resolve } from 'node:path';
import type { Trials } from '../../schemas/trials.ts';
import { prices as pricesSchema, type Prices } from '../../schemas/prices.ts';
import { EXIT } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { check, jsonText, readText } from '../../shared/read.ts';
import { openRun, type RunDirectory } from '../../shared/rundir.ts';
import { painter } from '../../shared/terminal.ts';
import { readStdin, type World } from '../../shared/world.ts';
import { linesOf } from './lines.ts';
import { readTrials, TRIALS_FILE } from './run-trials.ts';
import { type Asked, scoreOf } from './score/score.ts';
import { scoreText } from './score/score-text.ts';
import type { TrialsVerb } from './flags.ts';
import { LINES_FILE } from '../../shared/trials-results.ts';

const SCORE_FILE = 'trials-score.json';

const pricesOf = async (
  given: string | undefined,
  world: World,
): Promise<{ prices: Prices; digest: string } | undefined> => {
  if (given === undefined) return undefined;
  const text = readText(resolve(world.cwd, given), given);
  const { parseYaml } = await import('../../shared/yaml.ts');
  const prices = check(pricesSchema, parseYaml(text, given), given, usage);
  return { prices, digest: sha256(text) };
};

const plannedOf = ({ trials, model }: Trials): Asked['planned'] =>
  trials.map(({ task, arm, attempt }) => ({ task, arm, attempt, model: model.id }));

/** What a run directory holds. */
const ofRun = (run: RunDirectory): Pick<Asked, 'run' | 'lines' | 'planned' | 'inputs' | 'wantOffline'> => {
  const { trials, digest } = readTrials(run);
  const place = join(run.shown, LINES_FILE);
  if (!run.has(LINES_FILE))
    throw failed(
      `'${run.shown}' has no trials.jsonl; 'trials collect' writes it: k8sbench trials collect --run ${run.shown}`,
    );
  const text = readText(run.file(LINES_FILE), place);
  return {
    run: trials.run,
    ...(trials.wantOffline ? { wantOffline: trials.wantOffline } : {}),
    lines: linesOf(text, place),
    planned: plannedOf(trials),
    inputs: { 'trials.json': digest, [LINES_FILE]: sha256(text) },
  };
};

/** Lines that somebody else collected. */
const ofFile = async (given: string, world: World): Promise<Pick<Asked, 'lines' | 'planned' | 'inputs'>> => {
  const place = given === '-' ? 'stdin' : given;
  const text = given === '-' ? await readStdin(world) : readText(resolve(world.cwd, given), given);
  return { lines: linesOf(text, place), planned: [], inputs: { [place]: sha256(text) } };
};

export const score: TrialsVerb = {
  about: 'solve rates, differences between arms, tokens, cost and times of what was collected',
  flags: ['run', 'from', 'prices', 'draws', 'seed', 'out', 'json'],
  async run({ flags, world, talk }) {
    if ((flags.run === undefined) === (flags.from === undefined))
      throw usage(
        flags.run === undefined
          ? "nothing to score: name a run with '--run DIR', or result lines with '--from FILE'"
          : "'--run' and '--from' exclude each other: score one after the other",
      );
    if (flags.out !== undefined && flags.out !== '-')
      throw usage(`'--out': expected '-', found '${flags.out}'; the score stands in the run's directory`);
    const priced = await pricesOf(flags.prices, world);
    const run = flags.run === undefined ? undefined : await openRun(flags.run, world, [TRIALS_FILE]);
    const found = run ? ofRun(run) : await ofFile(flags.from!, world);
    const scored = scoreOf({
      ...found,
      ...(priced ? { prices: priced.prices } : {}),
      inputs: { ...found.inputs, ...(priced ? { prices: priced.digest } : {}) },
      draws: flags.draws!,
      seed: flags.seed!,
    });
    const asData = flags.json || flags.out === '-';
    run?.writeJson(SCORE_FILE, scored);
    const where = run === undefined && !asData ? world.stdout : world.stderr;
    const shown = scoreText(scored, painter(where.isTerminal && !world.env['NO_COLOR']));
    if (asData) {
      await world.stdout.write(jsonText(scored));
      return EXIT.done;
    }
    if (run === undefined) await world.stdout.write(shown);
    else {
      talk.print(shown);
      await world.stdout.write(`${run.shown}\n`);
    }
    return EXIT.done;
  },
};
