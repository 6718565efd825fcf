/** From files of another program to a run directory. */
import { existsSync, statSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import { appendUnderLock } from '../../shared/append.ts';
import type { Call } from '../../shared/command-line.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import type { Flag } from '../../shared/flags.ts';
import { readText } from '../../shared/read.ts';
import { createRun } from '../../shared/rundir.ts';
import { readStdin, type World } from '../../shared/world.ts';
import { pairOf, type Read } from './choose.ts';
import { FORMATS } from './formats.ts';
import type { Format } from './found.ts';
import { commonMetrics, importedAnalysis, rowsOf } from './imported.ts';
import { machinesOf } from './machines.ts';
import { ratiosLine } from './ratios-line.ts';
import { inSameUnits } from './same-units.ts';

type Text = Flag<string | undefined>;
type ImportCall = Call<{
  reference: Text;
  candidate: Text;
  benchmark: Text;
  profile: Text;
  commit: Text;
  purpose: Text;
  out: Text;
  margin: Flag<number | undefined>;
  'machines-apart': Flag<boolean>;
}>;

/** A file with its content and when it was written, as near as anything says. */
interface Given extends Read {
  content: string;
  writtenAt: string;
  name: string;
}

const readGiven = async (named: string, format: Format, world: World): Promise<Given> => {
  const path = resolve(world.cwd, named);
  const fromStdin = named === '-';
  const content = fromStdin ? await readStdin(world) : readText(path, named);
  const written = fromStdin ? world.now() : statSync(path).mtimeMs;
  const found = format.read(content, fromStdin ? 'stdin' : named);
  return {
    ...found,
    place: fromStdin ? 'stdin' : named,
    short: fromStdin ? 'stdin' : basename(named, extname(named)),
    content,
    name: fromStdin ? 'stdin' : basename(named),
    writtenAt: new Date(written).toISOString(),
  };
};

/** A name as a rule may be: letters, digits, dots, dashes. */
const word = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 63) || 'imported';

/** 2026-01-02T03:04:05.678Z → 20260102-030405. */
const stamp = (now: number): string =>
  new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');

/** An id that is free: `k8sbench-imp-<word>-<UTC time>`, as long as a DNS label may be. */
const freeId = (directory: string, what: string, now: number): string => {
  const middle = word(what)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 28)
    .replace(/-+$/, '');
  const id = `k8sbench-imp-${middle}-${stamp(now)}`;
  for (let taken = 1; ; taken++) {
    const name = taken === 1 ? id : `${id}-${taken}`;
    if (!existsSync(join(directory, name))) return name;
  }
};

/** The files' names inside the run directory; two of the same name stand apart. */
const keptNames = (files: readonly Given[]): string[] =>
  files.map((one, at) =>
    files.length > 1 ? `imported-${at + 1}-${word(one.name)}` : `imported-${word(one.name)}`,
  );

export const bringIn = async ({ flags, words, world, talk }: ImportCall): Promise<Exit> => {
  const format = FORMATS[words[0]!]!;
  const named = words.slice(1);
  if (named.length > 2)
    throw usage(`one file or two: the reference's and the candidate's, found ${named.length}`);
  if (named.filter((one) => one === '-').length > 1) throw usage("only one of two files can be '-', stdin");
  const files: Given[] = [];
  for (const one of named) files.push(await readGiven(one, format, world));
  const { reference, candidate, benchmark } = flags;
  const pair = inSameUnits(
    pairOf(files, {
      ...(reference === undefined ? {} : { reference }),
      ...(candidate === undefined ? {} : { candidate }),
      ...(benchmark === undefined ? {} : { benchmark }),
    }),
  );
  if (commonMetrics(pair).length === 0)
    throw failed(
      `'${pair.reference.target}' and '${pair.candidate.target}' have no measure that every sample of both has`,
    );
  const machines = machinesOf([files[0]!.machine, files[1]?.machine], pair, flags['machines-apart']);
  const profile = flags.profile ?? pair.what;
  const out = resolve(world.cwd, flags.out!);
  const id = freeId(out, profile, world.now());
  const run = createRun(join(out, id), join(flags.out!, id));
  const kept = keptNames(files);
  for (const [at, { content }] of files.entries()) run.write(kept[at]!, content);
  const last = files.at(-1)!;
  const rows = rowsOf(pair)
    .map((one) => `${JSON.stringify(one)}\n`)
    .join('');
  const analysis: Analysis = {
    ...importedAnalysis(pair, format, {
      run: id,
      profile,
      rule: word(profile),
      commit: flags.commit ?? '',
      measuredAt: last.at ?? last.writtenAt,
      ...machines,
      ...(flags.margin === undefined ? {} : { margin: flags.margin }),
      inputs: Object.fromEntries(files.map(({ content }, at) => [kept[at]!, sha256(content)])),
    }),
    outputs: { 'results.jsonl': sha256(rows) },
  };
  run.write('results.jsonl', rows);
  run.writeJson('analysis.json', analysis);
  appendUnderLock(join(out, 'imported.jsonl'), () => `${ratiosLine(analysis, flags.purpose!)}\n`);
  for (const { sentence } of analysis.conclusions) talk.info(sentence);
  for (const { name, sentence } of analysis.doubts) talk.warn(`doubt '${name}': ${sentence}`);
  await world.stdout.write(`${run.shown}\n`);
  return EXIT.done;
};
