/**
 * The README's examples are tests: every ```console block holds commands (`$ …`) and what they print. All blocks of a document run in
 * order in one empty directory, with `k8sbench` on the PATH; `bash -o pipefail`, as in STYLE habit 11. Those of the chapter about
 * clusters run in the cluster suite, those of agents' tasks in test/task-runs.
 */

/** The chapter whose examples need a cluster. */
export const CLUSTER_CHAPTER = 'In a cluster';
/** The chapter whose examples need one with Services, a registry and volumes: test/task-runs. */
export const TASKS_CHAPTER = 'Agents on tasks';

export interface Example {
  /** The heading (`## …`) it stands below. */
  chapter: string;
  /** Index of the block's first and last line after the fence, in lines of the document. */
  from: number;
  to: number;
  commands: { command: string; printed: string[] }[];
}

/** The console blocks of a Markdown text. A command goes on over lines that end in a backslash. */
export const examplesOf = (markdown: string): Example[] => {
  const lines = markdown.split('\n');
  const all: Example[] = [];
  let chapter = '';
  for (let at = 0; at < lines.length; at++) {
    chapter = /^## (.*)/.exec(lines[at]!)?.[1] ?? chapter;
    if (lines[at] !== '```console') continue;
    const block: Example = { chapter, from: at + 1, to: at + 1, commands: [] };
    for (at++; lines[at] !== '```' && at < lines.length; at++) {
      const line = lines[at]!;
      const current = block.commands.at(-1);
      if (line.startsWith('$ ')) block.commands.push({ command: line.slice(2), printed: [] });
      else if (!current) throw new Error(`line ${at + 1}: a console block begins with a command`);
      else if (current.printed.length === 0 && current.command.endsWith('\\')) current.command += `\n${line}`;
      else current.printed.push(line);
      block.to = at + 1;
    }
    all.push(block);
  }
  return all;
};

/**
 * What of an output must be the same in every run: digits, words of the verdict and widths of columns differ from run to
 * run and machine to machine, and so do conclusions, doubts and what is said beside them; everything else is the program's
 * text.
 */
export const shapeOf = (printed: string): string =>
  printed
    .replace(/^(?:can't tell|\S+ is (?:the same as|[\d.]+(?: %|×) (?:faster|slower))).*$/gm, 'CONCLUSION')
    .replace(
      /^(?: {2}the tracker says | {2}\S+ measures |doubt '| {2}.*\bat \d+ (?:turns|processes a sample): \w+ varies ).*\n?/gm,
      '',
    )
    .replace(/^(\S+ +)(?:faster|slower|same|can't tell)(?= +\d)/gm, '$1WORD')
    .replace(/^run-session: (?:\d{4}-|sending the bundle: ).*\n?/gm, '')
    .replace(/ \(p95 [a-z ]+\)$/gm, '')
    .replace(/\b(?:pass|over)\b/g, 'GATE')
    .replace(/\b(?:quiet|unfit)$/gm, 'FIT')
    .replace(/k8sbench-(cmp|cal)-[a-z0-9-]+/g, 'RUN')
    .replace(/\b[0-9a-f]{7,64}\b/g, 'HEX')
    .replace(/[-+]?\d+(?:[.,:]\d+)*/g, '#')
    .replace(/\b(?:lose|win|tie|slightly better)\b/g, 'VERDICT')
    .replace(/[ \t─-]+/g, ' ')
    .trim();

/** Whether noise forbade a judgement, or showed that it would: an honest end on a busy machine, with another text. */
export const isRefused = (printed: string): boolean =>
  /^(?:not judged|calibrated: over the limit)$/m.test(printed);

/** What of two outputs of one command can be compared: all, or, when only one was refused, what was said before the measuring. */
export const comparable = (now: string, written: string): [string, string] => {
  if (isRefused(now) === isRefused(written)) return [shapeOf(now), shapeOf(written)];
  const head = (text: string): string => shapeOf(text.split(/^run-session:/m)[0]!);
  return [head(now), head(written)];
};

/** Markdown with the outputs replaced by what the commands print now; `asked`: those that were run. */
export const withOutputs = (
  markdown: string,
  outputs: readonly (readonly string[][])[],
  asked: (example: Example) => boolean = () => true,
): string => {
  const lines = markdown.split('\n');
  const examples = examplesOf(markdown).filter(asked);
  for (const [at, block] of examples.entries().toArray().toReversed()) {
    const text = block.commands.flatMap(({ command }, index) => [
      ...`$ ${command}`.split('\n'),
      ...outputs[at]![index]!,
    ]);
    lines.splice(block.from, block.to - block.from, ...text);
  }
  return lines.join('\n');
};
