/** Creates a session's Job once, and finds it again whatever happened in between. */
import { type Cluster, ConnectionError, isNotFound, isStatus } from '../../../shared/kubernetes.ts';
import { failed } from '../../../shared/failure.ts';
import { SUBMITTED_AT } from '../../../shared/job/manifest.ts';
import type { Job } from '../../../schemas/job.ts';
import type { Talk } from '../../../shared/talk.ts';
import type { World } from '../../../shared/world.ts';
import type { JobFile } from '../job-file.ts';
import type { JobObject } from './objects.ts';
import { isPassing, patiently } from './patience.ts';

/** On the Job: the word that only this run directory knows, so that another run's Job of the same name is never taken for ours. */
const SUBMISSION = 'k8sbench/submission';

/** Whoever is away or broken for longer is told about: a server that restarts takes a minute. */
const PATIENCE = { tries: 30, pause_ms: 1000 };

/** Nobody took the request: there is nothing to look for. */
const reachedNobody = (error: unknown): boolean => error instanceof ConnectionError && !error.sent;

export interface Submission {
  cluster: Cluster;
  namespace: string;
  name: string;
  /** The Job's manifest as `render` wrote it. */
  manifest: Record<string, unknown>;
  job: JobFile;
  talk: Talk;
  world: World;
  /** Another session of the run has failed. */
  stop?: AbortSignal;
}

const find = async ({ cluster, namespace, name, talk }: Submission): Promise<JobObject | undefined> => {
  try {
    return await patiently(talk, () => cluster.get<JobObject>('jobs', { namespace, name }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** Whoever wants to stop meanwhile is told what is waited for. */
const tellingWhy = async <T>({ talk, world }: Submission, work: Promise<T>): Promise<T> => {
  const over = new AbortController();
  const tell = (): void =>
    talk.info('stopping once it is known whether its Job was made; a second ^C leaves at once');
  world.interrupted.addEventListener('abort', tell, { once: true, signal: over.signal });
  try {
    return await work;
  } finally {
    over.abort();
  }
};

type Words = Pick<Job, 'job' | 'submission' | 'earlierSubmissions'>;

/** Whose Job it is: this attempt's, an earlier one's of this run directory, or another run's. */
const ownerOf = ({ metadata }: JobObject, words: Words): 'this' | 'earlier' | 'another' => {
  const word = metadata.annotations?.[SUBMISSION];
  if (word !== undefined && word === words.submission) return 'this';
  return word !== undefined && words.earlierSubmissions?.includes(word) ? 'earlier' : 'another';
};

/** A run's Job, of this attempt or an earlier one, where job.json says that one may be; undefined: there is none. */
export const findSubmitted = async (
  cluster: Cluster,
  at: { namespace: string; name: string },
  words: Words,
): Promise<JobObject | undefined> => {
  try {
    const found = await cluster.get<JobObject>('jobs', at);
    const ours = found.metadata.uid === words.job?.uid || ownerOf(found, words) !== 'another';
    return ours ? found : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const refuse = ({ namespace, name }: Submission): Error =>
  failed(
    `namespace '${namespace}' has a Job '${name}' that this run did not create; it is left alone: plan another run, or remove it with 'k8sbench run-session delete ${name} --namespace ${namespace}'`,
  );

type Fields = Record<string, unknown>;

const annotated = (object: Fields, annotations: Fields): Fields => {
  const metadata = object['metadata'] as Fields | undefined;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...(metadata?.['annotations'] as Fields), ...annotations } },
  };
};

/** The manifest with the submission's word on the Job, and on its pod when that was; the pod's spec stays as rendered. */
const submitted = (manifest: Fields, token: string, at: number): Fields => {
  const spec = manifest['spec'] as Fields;
  const template = annotated(spec['template'] as Fields, { [SUBMITTED_AT]: new Date(at).toISOString() });
  return annotated({ ...manifest, spec: { ...spec, template } }, { [SUBMISSION]: token });
};

/** Removes a Job that an earlier attempt of this very run left. */
const removeEarlier = async (submission: Submission, found: JobObject): Promise<void> => {
  const { cluster, namespace, name, talk } = submission;
  talk.info(`removing the Job '${name}' of an earlier attempt`);
  await patiently(talk, () => cluster.delete('jobs', { namespace, name }, found.metadata.uid));
  while ((await find(submission))?.metadata.uid === found.metadata.uid) await Bun.sleep(300);
};

/**
 * Gives the Job's UID, recorded in job.json before anything else happens. A Job of this name that is not ours is refused.
 * `attaching`: an earlier runner may have created it and been killed before it wrote the UID down. With `create` false only
 * that one is looked for; undefined when it is not there, or when it must stop before anything was made.
 */
export const submit = async (
  submission: Submission,
  attaching: boolean,
  create: boolean,
  { tries: most, pause_ms } = PATIENCE,
): Promise<string | undefined> => {
  const { cluster, namespace, name, manifest, job, talk, world, stop } = submission;
  const words = job.job;
  const token = words.submission!;
  const record = (made: JobObject): string => {
    const { uid } = made.metadata;
    job.set({ job: { namespace, name, uid } }, 'submitted');
    return uid;
  };
  const take = async (): Promise<string | undefined> => {
    const found = await tellingWhy(submission, find(submission));
    const owner = found && ownerOf(found, words);
    if (owner === 'another') throw refuse(submission);
    // An earlier attempt's stands in the way of ours, which was not made then.
    return owner === 'this' ? record(found!) : undefined;
  };
  if (attaching) {
    const uid = await take();
    if (uid !== undefined) return uid;
  }
  if (!create) return undefined;
  // An earlier runner's was looked for and is not there.
  let mayBeThere = false;
  for (let tries = 1; ; tries++)
    try {
      return record(
        await cluster.create<JobObject>('jobs', { namespace }, submitted(manifest, token, world.now())),
      );
    } catch (error) {
      if (isStatus(error, 409)) {
        const found = await find(submission);
        if (!found) continue;
        const owner = ownerOf(found, words);
        if (owner === 'another') throw refuse(submission);
        // This very request, sent before and never answered.
        if (owner === 'this') return record(found);
        await removeEarlier(submission, found);
        continue;
      }
      if (!isPassing(error) || tries > most) throw error;
      mayBeThere ||= !reachedNobody(error);
      if (!mayBeThere) {
        if (world.interrupted.aborted || stop?.aborted) return undefined;
        if (tries === 1) talk.warn(`${(error as Error).message}; nothing was made so far, trying again`);
        await Bun.sleep(pause_ms);
        continue;
      }
      talk.warn(`${(error as Error).message}; looking whether the Job was made`);
      await Bun.sleep(pause_ms);
      const uid = await take();
      if (uid !== undefined) return uid;
    }
};
