/** Pipelines: tools of this table called one after another, with the flags of those tools and nothing of their own. */
import { defineTool, type Tool } from '../../shared/command-line.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { type Flag, yes } from '../../shared/flags.ts';
import type { World } from '../../shared/world.ts';
import { type NotJudged, readNotJudged, runPipeline } from './chain.ts';
import { scriptOf } from './explain.ts';
import { flagsOf, type Link, stepsOf } from './links.ts';
import { appendSummary } from './summary-file.ts';

const notJudged: Flag<NotJudged> = {
  kind: 'value',
  about:
    'when what was measured is too noisy to judge: end with 3, end with 0, or plan and measure again up to N times',
  hint: 'fail|pass|retry=N|retry=N,pass',
  default: 'fail',
  read: readNotJudged,
};

type Given = ReadonlyMap<string, readonly string[]>;

export interface Pipeline {
  name: string;
  about: string;
  links: readonly Link[];
  /** For a run that is there already: what it decides. Gives the links that apply to it, and the flags with its name. */
  settle?(given: Given, world: World): Promise<{ links: readonly Link[]; given: Given }>;
  more: string;
  exits: readonly Exit[];
}

/** `--candidate` beside `--profile` names candidates of that profile, which plan is told by `--candidates`; else it is a plain command. */
export const withNamedCandidates = (given: Given): Given => {
  const names = given.get('candidate');
  if (!names || !given.has('profile') || given.has('reference')) return given;
  const rest = [...given].filter(([name]) => name !== 'candidate' && name !== 'candidates');
  return new Map([...rest, ['candidates', [[...(given.get('candidates') ?? []), ...names].join()]]]);
};

/** What can't be asked of a pipeline, all at once. */
const problemsOf = (links: readonly Link[], given: Given, again: boolean): string[] => {
  const problems: string[] = [];
  const steps = stepsOf(links, given);
  for (const [at, { fed }] of links.entries()) {
    const flag = fed?.[0]?.replace(/^--/, '');
    const feeder = links[at - 1]?.tool.name;
    if (flag !== undefined && given.has(flag) && steps.some((one) => one.tool.name === feeder))
      problems.push(`'--${flag}' and flags that make a ${feeder} exclude each other`);
  }
  if (given.get('out')?.[0] === '-')
    problems.push("'--out -' prints the file of one step; call that step: k8sbench plan --out -");
  if (again && !links.some((link) => link.tool.name === 'plan'))
    problems.push("'--not-judged retry' measures again, and this pipeline measures nothing");
  if (again && given.has('run'))
    problems.push("'--run' names one run, and '--not-judged retry' plans a new one each time; leave one out");
  if (again && [...given.values()].some((values) => values.includes('-')))
    problems.push("'-' can be read once; with '--not-judged retry' name a file");
  return problems;
};

export const definePipeline = ({ links, settle, ...about }: Pipeline): Tool =>
  defineTool({
    ...about,
    flags: {
      ...flagsOf(links),
      'not-judged': notJudged,
      explain: yes('print the commands that do the same, as a shell script, and run nothing'),
    },
    async run({ flags, given: written, world, talk }) {
      const given = withNamedCandidates(written);
      const wanted = flags['not-judged'] as NotJudged;
      const problems = problemsOf(links, given, wanted.retries > 0);
      if (problems.length > 0) throw usage(problems);
      const settled = settle ? await settle(given, world) : { links, given };
      const steps = stepsOf(settled.links, settled.given);
      if (flags.explain) {
        await world.stdout.write(scriptOf(steps, wanted));
        return EXIT.done;
      }
      const summary = world.env['GITHUB_STEP_SUMMARY'];
      return runPipeline(steps, wanted, {
        world,
        talk,
        run: settled.given.get('run')?.find((one) => one !== '-'),
        tell: (end) => void (summary && appendSummary(summary, about.name, end, { world, talk })),
      });
    },
  });
