/** manifest.yaml as the Job to submit: what `render` writes from the run directory's other files, or knowingly another. */
import type { Job } from '../../../schemas/job.ts';
import { failed } from '../../../shared/failure.ts';
import { sha256 } from '../../../shared/files.ts';
import { MANIFEST_FILE } from '../../../shared/job/manifest-file.ts';
import { literal } from '../../../shared/job/pod-parts.ts';
import { firstFew } from '../../../shared/first-few.ts';
import { editsOf } from '../../../shared/job/manifest-edits.ts';
import { wholeRun } from '../../../shared/job/sessions.ts';
import { readText } from '../../../shared/read.ts';
import { parseForeignYaml } from '../../../shared/yaml.ts';
import { readJob } from '../job-file.ts';
import type { Unclaimed } from '../task.ts';

type Fields = Readonly<Record<string, unknown>>;

const textOf = ({ run }: Unclaimed): string => {
  if (!run.has(MANIFEST_FILE))
    throw failed(
      `'${run.shown}' has no ${MANIFEST_FILE}; 'render' writes it: k8sbench render --run ${run.shown}`,
    );
  return readText(run.file(MANIFEST_FILE), placeOf({ run }));
};

const placeOf = ({ run }: Pick<Unclaimed, 'run'>): string => `${run.shown}/${MANIFEST_FILE}`;

/** The Job, as far as it must be this run's whoever wrote it. */
export const manifestIn = (task: Unclaimed, namespace: string | undefined): Fields => {
  const { run, compact } = task;
  const shown = placeOf(task);
  const read = parseForeignYaml(textOf(task), shown) as any;
  const { metadata, spec } = read ?? {};
  const problems: string[] = [];
  if (read?.kind !== 'Job') problems.push(`${shown}: expected a Job`);
  if (metadata?.name !== run.name)
    problems.push(`${shown}: its name is '${metadata?.name}', not '${run.name}'`);
  if (metadata?.namespace !== namespace)
    problems.push(`${shown}: its namespace is '${metadata?.namespace}', and the run's '${namespace}'`);
  const env: unknown = spec?.template?.spec?.containers?.[0]?.env;
  const plans = (Array.isArray(env) ? env : []).filter((one) => one?.name === 'K8SBENCH_PLAN');
  if (plans.length !== 1 || plans[0].value !== literal(compact))
    problems.push(`${shown}: it does not carry this run's plan`);
  if (problems.length > 0) throw failed([...problems, againOf(task)]);
  return read as Fields;
};

/** What to do when the manifest is not what it should be: `render` leaves that of a session alone which goes on, or is done. */
const againOf = ({ run, about }: Unclaimed): string =>
  ['running', 'done'].includes(readJob(run)?.outcome ?? '')
    ? `put the manifest back that it was measured with, or plan another run`
    : `write it again: k8sbench render --run ${wholeRun(run, about.parent).shown}`;

/**
 * What job.json keeps of the manifest. One that is not what `render` writes is refused unless it was said to be edited; one
 * that a session was begun with must be there unchanged when that is taken up.
 */
export const admitted = async (task: Unclaimed, manifest: Fields): Promise<NonNullable<Job['manifest']>> => {
  const { run, force, world, editedManifest } = task;
  const shown = placeOf(task);
  const digest = sha256(textOf(task));
  const before = force ? undefined : readJob(run);
  const begun = before?.outcome === 'running' ? before.manifest : undefined;
  if (begun?.sha256 === digest) return begun;
  // What is only stopped needs no manifest.
  if (world.interrupted.aborted) return { sha256: digest };
  if (begun)
    throw failed(
      `'${shown}' is not the one that the session was begun with; put that back, or stop it: k8sbench run-session cancel --run ${run.shown}`,
    );
  const edited = await editsOf(run, manifest);
  if (edited.length === 0) return { sha256: digest };
  if (!editedManifest)
    throw failed([
      ...firstFew(edited).map((one) => `${shown}: ${one}`),
      `'${shown}' is not what 'render' writes from the run's other files; ${againOf(task)}; or submit it as it is with --edited-manifest: job.json then tells how it differs`,
    ]);
  return { sha256: digest, edited };
};
