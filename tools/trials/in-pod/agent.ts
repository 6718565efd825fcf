/** The agent: its home with the provider's file, whether it starts here at all, its work on the task. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import type { ArmSettings } from '../../../schemas/arm-settings.ts';
import { type Ending, runCommand } from './command.ts';
import { cpuMs } from './cpu-time.ts';
import { NOTHING, type Report } from './line.ts';
import { Transcript } from './transcript.ts';

export interface Work {
  arm: ArmSettings;
  model: { url: string; name: string; contextTokens?: number };
  runtime: string;
  home: string;
  workdir: string;
  agent_s: number;
  processes: number;
  env: Record<string, string>;
  /** What stands before the agent's commands. */
  fewer: readonly string[];
}

const VERSION_S = 120;
/** The longest argument that Linux takes, bytes. */
const LONGEST_WORD = 128 << 10;

const CPUS: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/** Replaces `{name}`; `{{` and `}}` are braces. */
const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{|\}\}|\{(\w+)\}/g, (all, name: string | undefined) =>
    name === undefined ? all[0]! : Object.hasOwn(values, name) ? values[name]! : all,
  );

/** The same in every text of a value. */
const filledIn = (value: unknown, values: Readonly<Record<string, string>>): unknown => {
  if (typeof value === 'string') {
    // A number of the model's, such as its context, stays one.
    return value === '{context}' ? Number(values['context']) : filled(value, values);
  }
  if (Array.isArray(value)) return value.map((one: unknown) => filledIn(one, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [filled(key, values), filledIn(one, values)]),
  );
};

const valuesOf = ({ runtime, home, model }: Work): Record<string, string> => ({
  node: join(runtime, 'bin/node'),
  arm: join(runtime, 'arm'),
  home,
  url: model.url,
  model: model.name,
  context: String(model.contextTokens ?? 32768),
  // Words for the machine as packages use them in their names.
  arch: process.arch,
  cpu: CPUS[process.arch] ?? process.arch,
  instruction: readFileSync(join(runtime, 'instruction.md'), 'utf8'),
});

/**
 * What stands before the agent's command so that it lacks capabilities of the trial's: the kernel lets no process trace or
 * read another that has more than itself. Only root has any; others can't read the trial's program, which protects it as well.
 */
export const fewerRights = (env: Readonly<Record<string, string>>): string[] => {
  if (process.getuid?.() !== 0) return [];
  const less = ['--bounding-set=-setpcap,-audit_write', '--inh-caps=-setpcap,-audit_write'];
  const program = (env['PATH'] ?? '')
    .split(':')
    .map((one) => join(one, 'setpriv'))
    .find((one) => existsSync(one));
  if (program === undefined) return [];
  return spawnSync(program, [...less, '/bin/sh', '-c', ':'], { stdio: 'ignore' }).status === 0
    ? [program, ...less]
    : [];
};

/** Whether what starts behind `fewer` could read the trial's memory, and with it the key. */
export const isOpenToAgent = (fewer: readonly string[]): boolean => {
  const [program = '', ...args] = [...fewer, '/bin/sh', '-c', 'exec 3</proc/1/mem'];
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
};

const commandOf = (work: Work, words: readonly string[]): string[] => {
  const values = valuesOf(work);
  return words.map((one) => filled(one, values));
};

/** Writes the arm's files below its home; a path that leaves it is an error. */
const writeFiles = (work: Work): void => {
  const values = valuesOf(work);
  for (const [path, content] of Object.entries(work.arm.files)) {
    const inside = normalize(path);
    if (isAbsolute(inside) || inside.startsWith('..'))
      throw new Error(`the arm's file '${path}' leaves its home`);
    const full = join(work.home, inside);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(
      full,
      typeof content === 'string'
        ? filled(content, values)
        : `${JSON.stringify(filledIn(content, values), null, 2)}\n`,
    );
  }
};

const running = (work: Work, words: readonly string[], limit_s: number) => {
  const values = valuesOf(work);
  const more = Object.entries(work.arm.env ?? {}).map(
    ([name, text]) => [name, filled(text, values)] as const,
  );
  const env = { ...work.env, ...Object.fromEntries(more) };
  return {
    command: [...work.fewer, ...commandOf(work, words)],
    env,
    cwd: work.workdir,
    limit_s,
    processes: work.processes,
  };
};

/** Why the arm does not start on this image; undefined: it does. */
export const startsHere = async (work: Work): Promise<string | undefined> => {
  writeFiles(work);
  const ending = await runCommand({ ...running(work, work.arm.version, VERSION_S), out: () => undefined });
  if (ending.exit === 0) return undefined;
  const how =
    ending.why === 'time'
      ? `gave no answer within ${VERSION_S} s`
      : `ended with ${ending.exit ?? ending.why}`;
  return `the arm '${work.arm.arm}' does not start on the task's image: '${work.arm.version.at(-1)}' ${how}${ending.said === '' ? '' : `: ${ending.said.slice(-300)}`}`;
};

const agentErrorOf = (ending: Ending, work: Work): string | undefined => {
  if (ending.why === 'processes') return `it started more than ${work.processes} processes, and was ended`;
  return ending.exit === 0 || ending.said === '' ? undefined : ending.said;
};

/** The agent's work; its report lacks the verdict. `refused`: the gate has seen what it may not see. */
export const runAgent = async (work: Work, refused: () => boolean): Promise<Report> => {
  const transcript = new Transcript(work.arm.transcript);
  const values = valuesOf(work);
  const before = cpuMs();
  const command = running(work, work.arm.command, work.agent_s);
  const long = command.command.find((one) => Buffer.byteLength(one) >= LONGEST_WORD);
  if (long !== undefined)
    return {
      ...NOTHING,
      error: 'the instruction is longer than a command may be; give it on stdin',
      fault: 'arm',
    };
  const { stdin } = work.arm;
  const ending = await runCommand({
    ...command,
    ...(stdin === undefined ? {} : { stdin: filled(stdin, values) }),
    out: (part) => transcript.take(part),
    stop: refused,
  });
  const after = cpuMs();
  const agentError = agentErrorOf(ending, work);
  const report: Report = {
    ...NOTHING,
    agentExit: ending.exit,
    agentWallMs: ending.wallMs,
    agentCpuMs: before === null || after === null ? null : Math.round(after - before),
    ...transcript.counted,
    ...(agentError === undefined ? {} : { agentError }),
    ...(ending.why === 'time' ? { agentTimedOut: true } : {}),
  };
  if (ending.why === 'told')
    return { ...report, error: 'the agent asked the gate for the tests', fault: 'agent' };
  if (ending.why === 'not started')
    return { ...report, error: `the arm can't be started: ${ending.said}`, fault: 'arm' };
  return report;
};
