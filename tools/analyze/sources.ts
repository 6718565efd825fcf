/** Which logs a run has, and their sessions once they are read. */
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { analysis as analysisSchema } from '../../schemas/analysis.ts';
import type { Facts, Pin } from '../../schemas/log.ts';
import { job } from '../../schemas/job.ts';
import { insidePath, parseManifest } from '../../schemas/manifest.ts';
import { run as runSchema } from '../../schemas/run.ts';
import { spread as spreadSchema } from '../../schemas/spread.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';
import { partsOfFile } from '../../shared/input-file.ts';
import { readText } from '../../shared/read.ts';
import { invalidity } from '../../shared/run-results.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import type { World } from '../../shared/world.ts';
import type { MeasuredProfile } from './measured-profile.ts';
import type { Session } from './session.ts';

/** One log to read. */
export interface Source {
  /** As messages name it. */
  place: string;
  /** Its name among the analysis's inputs: a path inside the run directory. */
  input: string;
  /** A file's path; absent for stdin. */
  path?: string;
  open(): AsyncIterable<Uint8Array>;
  /** The run that the log must be of. */
  run?: string;
  /** The digest that the finished session's manifest gives it. */
  sha256?: string;
  /** What job.json says against the session: it must not be judged. */
  invalid?: string;
  /** Where the manifest of its Job was edited, as job.json says. */
  edited?: readonly string[];
}

/** A session whose log has what everything needs. */
export interface ReadSession {
  source: Source;
  data: Session;
  facts: Facts;
  pin: Pin;
  profile: MeasuredProfile;
}

/** A run's logs, and what its directory says of it. */
export interface Run {
  /** Absent when only a log was given. */
  directory?: RunDirectory;
  /** The run's id where the directory tells; else the log's. */
  id?: string;
  plan?: ReturnType<typeof planOf>;
  sources: Source[];
  /** Whether it is of several sessions. */
  ofSeveral: boolean;
  /** Whether it is a session of such a run. */
  isChild: boolean;
  /** Sessions that forensics goes without, one sentence each. */
  missing: string[];
}

const planOf = (directory: RunDirectory) =>
  directory.has('run.json') ? directory.json('run.json', runSchema) : undefined;

/** A log without any directory: a file, or `-` for stdin. */
export const runOfLog = (given: string, world: World): Run => {
  const source =
    given === '-'
      ? { place: 'stdin', input: 'pod.log', open: () => world.stdin }
      : (() => {
          const path = resolve(world.cwd, given);
          return { place: given, input: 'pod.log', path, open: () => partsOfFile(path, undefined, given) };
        })();
  return { sources: [source], ofSeveral: false, isChild: false, missing: [] };
};

const isImported = (directory: RunDirectory): boolean =>
  directory.has('analysis.json') && directory.json('analysis.json', analysisSchema).origin === 'imported';

const mustNotBeJudged = ({ shown }: RunDirectory, why: string): Failure =>
  new Failure(EXIT.invalid, `'${shown}' must not be judged: ${why}`);

/** The log of a session's directory. A log that is not whole yet is taken for forensics only. */
const sourceIn = (
  directory: RunDirectory,
  inside: string,
  allowIncomplete: boolean,
  run: string | undefined,
): Source => {
  const partial = !directory.has('pod.log') && directory.has('pod.log.partial');
  const name = partial && allowIncomplete ? 'pod.log.partial' : 'pod.log';
  if (!directory.has(name) && isImported(directory))
    throw failed(
      `'${directory.shown}' was imported, and 'k8sbench import' judged it: import its file again to ask something else`,
    );
  const invalid = invalidity(directory);
  if (!directory.has(name) && invalid !== undefined) throw mustNotBeJudged(directory, invalid);
  if (!directory.has(name))
    throw failed(
      partial
        ? `'${directory.shown}' has no pod.log yet, only pod.log.partial; 'k8sbench run-session --run ${directory.shown}' takes the session up again, and --allow-incomplete reads what is there`
        : `'${directory.shown}' has no pod.log; 'run-session' writes it: k8sbench run-session --run ${directory.shown}`,
    );
  const edited = directory.has('job.json') ? directory.json('job.json', job).manifest?.edited : undefined;
  const listed = directory.has('MANIFEST.sha256')
    ? parseManifest(readText(directory.file('MANIFEST.sha256'), join(directory.shown, 'MANIFEST.sha256')))
    : [];
  const sha256 = listed.find((one) => one.path === name)?.sha256;
  return {
    place: join(directory.shown, name),
    input: join(inside, name),
    path: directory.file(name),
    open: () => partsOfFile(directory.file(name), undefined, join(directory.shown, name)),
    ...(run === undefined ? {} : { run }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(invalid === undefined ? {} : { invalid }),
    ...(edited === undefined ? {} : { edited }),
  };
};

/** A run directory's logs: its own, or those of its children. */
export const runOfDirectory = (directory: RunDirectory, allowIncomplete: boolean): Run => {
  const plan = planOf(directory);
  const about = { directory, ...(plan ? { plan } : {}) };
  if (!directory.has('spread.json')) {
    if ((plan?.children?.length ?? 0) > 0)
      throw failed(
        `'${directory.shown}' has no spread.json; 'run-session' writes it: k8sbench run-session --run ${directory.shown}`,
      );
    const isChild = plan?.parent !== undefined || isListedAbove(directory);
    const id = plan?.run;
    const source = sourceIn(directory, '', allowIncomplete, id);
    return {
      ...about,
      ...(id === undefined ? {} : { id }),
      sources: [source],
      ofSeveral: false,
      isChild,
      missing: [],
    };
  }
  const spread = directory.json('spread.json', spreadSchema);
  const children = spread.children.map((one) => ({
    ...one,
    directory: runDirectory(join(directory.path, one.dir), join(directory.shown, one.dir)),
  }));
  const outside = children.filter((one) => !v.is(insidePath, one.dir));
  if (children.length === 0 || outside.length > 0)
    throw failed([
      ...outside.map(
        (one) => `'${directory.shown}': spread.json names '${one.dir}', outside the run directory`,
      ),
      ...(children.length === 0 ? [`'${directory.shown}': spread.json lists no session`] : []),
    ]);
  const unfinished = children.filter((one) => !['done', 'invalid'].includes(one.outcome));
  const why = unfinished.map(
    (one) =>
      `session '${one.run}' of '${directory.shown}' is ${one.outcome}; a run of several sessions counts when all are done`,
  );
  // One that is invalid stopped the others.
  const invalid = invalidity(directory);
  if (why.length > 0 && !allowIncomplete && invalid !== undefined) throw mustNotBeJudged(directory, invalid);
  if (why.length > 0 && !allowIncomplete)
    throw failed([...why, `'k8sbench run-session --run ${directory.shown}' takes the run up again`]);
  const readable = children.filter(
    (one) => !allowIncomplete || one.directory.has('pod.log') || one.directory.has('pod.log.partial'),
  );
  if (readable.length === 0) throw failed(`'${directory.shown}': no session has a log`);
  return {
    ...about,
    id: plan?.run ?? spread.run,
    sources: readable.map((one) => sourceIn(one.directory, one.dir, allowIncomplete, one.run)),
    ofSeveral: true,
    isChild: false,
    missing: why,
  };
};

const isListedAbove = (directory: RunDirectory): boolean => {
  const above = runDirectory(dirname(directory.path));
  return (
    above.has('spread.json') &&
    above.json('spread.json', spreadSchema).children.some((one) => one.dir === directory.name)
  );
};
