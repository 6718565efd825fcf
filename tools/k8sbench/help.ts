import { EXIT, EXIT_ABOUT, type Exit } from '../../shared/exit.ts';
import { type Failure, usage } from '../../shared/failure.ts';
import { talkOn } from '../../shared/talk.ts';
import { report } from '../../shared/command-line.ts';
import { nearest } from '../../shared/nearest.ts';
import { table } from '../../shared/terminal.ts';
import { VERSION } from '../../shared/version.ts';
import type { World } from '../../shared/world.ts';
import { ABOUT, TOOLS } from './table.ts';

/** Every tool with its line, under the heading of its group. */
const toolsText = (): string => {
  const rows = table(Object.entries(TOOLS).map(([tool, { about }]) => [`  ${tool}`, about]))
    .trimEnd()
    .split('\n');
  let heading = '';
  return Object.values(TOOLS)
    .map(({ group }, at) => {
      const first = group !== heading;
      heading = group;
      return `${first ? `\n${group.toUpperCase()}\n\n` : ''}${rows[at]}\n`;
    })
    .join('');
};

/** The table of tools. */
export const helpText = (): string => `${ABOUT} (k8sbench v${VERSION})

USAGE k8sbench TOOL [OPTIONS]
${toolsText()}
OPTIONS

  --help     print this text; 'k8sbench TOOL --help', or 'k8sbench help TOOL', what a tool takes
  --version  print the version

EXAMPLES

  k8sbench doctor
  k8sbench compare --local --reference 'sort -n data' --candidate 'sort -n --parallel=2 data'
  k8sbench compare --local --old main --new WORKTREE --build 'make -j2' --sample './bin/app data'
  k8sbench report --run out/RUN --max-cv 10%
  k8sbench tracker show

EXIT STATUS

${Object.entries(EXIT_ABOUT)
  .map(([status, about]) => `  ${status.padEnd(5)}${about}\n`)
  .join('')}
FILES

  out/RUN/            one directory per run, made by 'plan'; every step reads and writes files in it
  out/track.jsonl     the history of comparisons
  out/attempts.jsonl  every run with its outcome, also refused and void ones
  values.local.yaml   settings of a cluster, when there is one; --values names another file

ENVIRONMENT

  TMPDIR               where the fixtures of local sessions lie; best on the disk that is to be measured
  XDG_CACHE_HOME       where a compiled k8sbench unpacks its built-in workloads (default: ~/.cache)
  GITHUB_STEP_SUMMARY  file to which pipelines append a summary in Markdown
  NO_COLOR             no colours on a terminal
  K8SBENCH_VALUES      values file; K8SBENCH_NAMESPACE, K8SBENCH_IMAGE, … are settings of a cluster
  K8SBENCH_NOW         a fixed time (ms since 1970), for runs that are to be reproduced
`;

const refusal = (problem: string): Failure => usage([problem, "'k8sbench help' lists the tools"]);

const unknown = (name: string): Failure => {
  const close = nearest(name, Object.keys(TOOLS));
  return refusal(`unknown tool '${name}'${close ? `; did you mean '${close}'?` : ''}`);
};

const answerTo = async ([first, second, ...rest]: readonly string[], world: World): Promise<Exit> => {
  if (first === undefined) {
    await world.stderr.write(helpText());
    return EXIT.usage;
  }
  if (/^--?version$/.test(first)) {
    await world.stdout.write(`k8sbench ${VERSION}\n`);
    return EXIT.done;
  }
  if (first !== 'help' && !/^--?help$|^-h$/.test(first))
    throw first.startsWith('-') ? refusal(`unknown flag '${first}'; a tool comes first`) : unknown(first);
  if (rest.length > 0) throw refusal(`unexpected argument '${rest[0]}'`);
  if (second !== undefined) {
    if (!Object.hasOwn(TOOLS, second)) throw unknown(second);
    return (await TOOLS[second]!.load()).tool.main(['--help'], world);
  }
  await world.stdout.write(helpText());
  return EXIT.done;
};

/** Answers what is no call of a tool. */
export const answer = async (words: readonly string[], world: World): Promise<Exit> => {
  const talk = talkOn(world, 'k8sbench');
  try {
    return await answerTo(words, world);
  } catch (error) {
    return report(error, talk);
  } finally {
    await talk.flushed();
  }
};
