/** models.lock: models and the engines that serve them, pinned to the last byte. `model lock` writes entries. Spec §9. */
import * as v from 'valibot';
import { insidePath } from './manifest.ts';
import {
  command,
  count,
  formatTag,
  instant,
  pinnedImage,
  positive,
  revision,
  sha256,
  text,
} from './primitives.ts';

/** A name that can stand in a Service's: `k8sbench-model-<id>` is at most 63 characters long. */
export const modelId = v.pipe(
  v.string('expected a name'),
  v.regex(/^[a-z0-9]([-a-z0-9]{0,46}[a-z0-9])?$/, 'expected a name of a-z, 0-9 and -, at most 48 characters'),
);

/** An address that manifests can show: no user, no password. */
const address = v.pipe(
  text,
  v.regex(/^https?:\/\/[^\s@?#]+$/, 'expected an http or https address without a user'),
);

/** A program that serves models with an OpenAI API on port 8000. */
const engine = v.strictObject({
  image: pinnedImage,
  version: text,
  /** When the image was published. */
  published: instant,
  /**
   * How it starts. `{model}` stands for the directory with the model's files, `{name}` for the name it is served by,
   * `{gpus}` for the number of GPUs; `{{` and `}}` are braces. The model's own arguments follow.
   */
  command,
  /** Path that answers 200 once the engine is up. */
  health: v.pipe(text, v.regex(/^\/[^\s?#]*$/, 'expected a path such as /health')),
  env: v.optional(v.record(v.string(), v.string())),
  /** Size of /dev/shm, bytes; tensor parallelism needs more than the usual 64 MiB. Counted in the memory. */
  shm_bytes: v.optional(positive),
  /** The user it runs as, when the image can't run as 65532; 0 is root, which the restricted level refuses. */
  user: v.optional(count),
});

const model = v.strictObject({
  engine: text,
  /** Where files are published: `<hub>/<repository>/resolve/<revision>/<path>`. */
  hub: v.optional(address, 'https://huggingface.co'),
  repository: v.pipe(
    text,
    v.regex(/^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/, 'expected a repository such as owner/name'),
  ),
  revision,
  /** When the revision was published. */
  published: instant,
  /** Added to the engine's command, with the same placeholders. */
  args: v.optional(v.array(v.string('expected a text')), []),
  /** Tokens that the model takes at most, for the agents' settings. */
  contextTokens: v.optional(positive),
  /** Every file that is fetched: path → size in bytes and digest. */
  files: v.pipe(
    v.record(insidePath, v.strictObject({ size: count, sha256 })),
    v.check((files) => Object.keys(files).length > 0, 'expected at least one file'),
  ),
});

export const modelsLock = v.pipe(
  v.strictObject({
    format: formatTag('models-lock/1'),
    engines: v.record(text, engine),
    models: v.record(modelId, model),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { engines, models } = dataset.value;
    for (const [id, one] of Object.entries(models))
      if (!Object.hasOwn(engines, one.engine))
        addIssue({ message: `models.${id}.engine: there is no engine '${one.engine}'` });
  }),
);

export type ModelsLock = v.InferOutput<typeof modelsLock>;
export type Engine = ModelsLock['engines'][string];
export type Model = ModelsLock['models'][string];
