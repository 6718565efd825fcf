import { EXIT, EXIT_ABOUT, type Exit } from '../../shared/exit.ts';
import { talkOn } from '../../shared/talk.ts';
import { nearest } from '../../shared/command-line.ts';
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

EXIT STATUS

${Object.entries(EXIT_ABOUT)
  .map(([status, about]) => `  ${status.padEnd(5)}${about}\n`)
  .join('')}`;

/** Answers what is no call of a tool. */
export const answer = async ([first, second, ...rest]: readonly string[], world: World): Promise<Exit> => {
  const refuse = async (problem: string): Promise<Exit> => {
    const talk = talkOn(world, 'k8sbench');
    talk.error(problem);
    talk.error("'k8sbench help' lists the tools");
    await talk.flushed();
    return EXIT.usage;
  };
  const unknown = (name: string): Promise<Exit> => {
    const close = nearest(name, Object.keys(TOOLS));
    return refuse(`unknown tool '${name}'${close ? `; did you mean '${close}'?` : ''}`);
  };
  if (first === undefined) {
    await world.stderr.write(helpText());
    return EXIT.usage;
  }
  const plain = first.replace(/^--?/, '');
  if (plain === 'version' && first !== plain) {
    await world.stdout.write(`k8sbench ${VERSION}\n`);
    return EXIT.done;
  }
  if (first !== 'help' && !['-h', '-help', '--help'].includes(first))
    return first.startsWith('-') ? refuse(`unknown flag '${first}'; a tool comes first`) : unknown(first);
  if (rest.length > 0) return refuse(`unexpected argument '${rest[0]}'`);
  if (second === undefined) {
    await world.stdout.write(helpText());
    return EXIT.done;
  }
  return Object.hasOwn(TOOLS, second)
    ? (await TOOLS[second]!.load()).tool.main(['--help'], world)
    : unknown(second);
};
