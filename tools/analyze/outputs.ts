/** The files an analysis writes: whether they still hold, and how they are written. */
import { type Analysis, analysis as analysisSchema } from '../../schemas/analysis.ts';
import { type Calibration, calibration as calibrationSchema } from '../../schemas/calibration.ts';
import { sha256, sha256File } from '../../shared/files.ts';
import { jsonText } from '../../shared/read.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { VERSION } from '../../shared/version.ts';
import type { Result } from './analysis.ts';
import { OUTPUTS } from './output-files.ts';
import type { Request } from './request.ts';

/** Digests of everything the analysis is computed from, without the logs: those are known when they are read. */
export const inputsBesideLogs = async ({ run, calibration }: Request): Promise<Record<string, string>> => ({
  ...(run.directory ? await run.directory.digests(['run.json', 'spread.json']) : {}),
  ...(calibration ? { [calibration.path]: calibration.sha256 } : {}),
});

const same = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([key, value]) => b[key] === value);

/** The analysis that stands in the directory when it came from the same inputs and settings, and all its files are as written. */
export const previousAnalysis = async (request: Request): Promise<Analysis | undefined> => {
  const { run, settings } = request;
  const directory = run.directory;
  if (!directory?.has('analysis.json')) return undefined;
  let found: Analysis;
  try {
    found = directory.json('analysis.json', analysisSchema);
  } catch {
    // Of another version, or damaged: done again.
    return undefined;
  }
  const asked = JSON.stringify({ ...settings, k8sbench: VERSION });
  if (JSON.stringify(found.settings) !== asked) return undefined;
  const inputs = await inputsBesideLogs(request);
  for (const { input, path } of run.sources) if (path !== undefined) inputs[input] = await sha256File(path);
  if (!same(inputs, found.inputs)) return undefined;
  const present = OUTPUTS.filter((name) => name !== 'analysis.json' && directory.has(name));
  return same(await directory.digests(present), found.outputs) ? found : undefined;
};

/** The calibration that stands in a directory. */
export const calibrationIn = (directory: RunDirectory): Calibration | undefined =>
  directory.has('calibration.json')
    ? (directory.json('calibration.json', calibrationSchema) as Calibration)
    : undefined;

/** Writes what belongs to a result and gives the finished analysis. `rowsSha256` is the digest of results.jsonl, there already. */
export const writeOutputs = (
  directory: RunDirectory | undefined,
  { analysis, noise, calibration }: Result,
  texts: { rowsSha256: string; seeds: string; env: string; earlier?: Analysis['earlierAttempts'] },
): Analysis => {
  const files = {
    'seeds.jsonl': texts.seeds,
    'ENV.txt': texts.env,
    ...(noise ? { 'noise.json': jsonText(noise) } : {}),
    ...(calibration ? { 'calibration.json': jsonText(calibration) } : {}),
  };
  const outputs: Record<string, string> = directory ? { 'results.jsonl': texts.rowsSha256 } : {};
  for (const [name, content] of Object.entries(files)) {
    if (!directory) continue;
    directory.write(name, content);
    outputs[name] = sha256(content);
  }
  const finished: Analysis = {
    ...analysis,
    ...(texts.earlier ? { earlierAttempts: texts.earlier } : {}),
    outputs,
  };
  directory?.writeJson('analysis.json', finished);
  return finished;
};
