/** Names of images: `[registry/]repository[:tag][@sha256:…]`, as Docker and the OCI distribution specification write them. */
import { Failure, usage } from '../failure.ts';

export interface ImageReference {
  /** Host, with its port when it has one; Docker's own hub is `docker.io`. */
  registry: string;
  repository: string;
  tag?: string;
  /** `sha256:<64 hex>`; counts before the tag. */
  digest?: string;
}

const REPOSITORY = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const HOST =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$/;
const TAG = /^\w[\w.-]{0,127}$/;
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Whether the part before the first slash names a registry: what has neither dot nor port is a part of a hub's repository. */
const isHost = (word: string): boolean => /[.:]/.test(word) || word === 'localhost';

/** An image's name in its parts; one without tag and digest has the tag `latest`, as everywhere. */
export const parseReference = (text: string): ImageReference => {
  const refuse = (why: string) =>
    usage(
      `image '${text}': ${why}; expected a name such as registry.example/team/image:1.2 or …@sha256:<64 hex>`,
    );
  const [named = '', digest, ...more] = text.split('@');
  if (more.length > 0) throw refuse("it has more than one '@'");
  if (digest !== undefined && !DIGEST.test(digest)) throw refuse(`'${digest}' is not a SHA-256 digest`);
  const slash = named.indexOf('/');
  const first = slash === -1 ? '' : named.slice(0, slash);
  const registry = first !== '' && isHost(first) ? first : 'docker.io';
  const rest = registry === first ? named.slice(slash + 1) : named;
  const colon = rest.lastIndexOf(':');
  const tag = colon === -1 ? undefined : rest.slice(colon + 1);
  const path = colon === -1 ? rest : rest.slice(0, colon);
  const repository = registry === 'docker.io' && !path.includes('/') ? `library/${path}` : path;
  if (!HOST.test(registry)) throw refuse(`'${registry}' is no host`);
  if (!REPOSITORY.test(repository) || repository.length > 255) throw refuse(`'${path}' is no repository`);
  if (tag !== undefined && !TAG.test(tag)) throw refuse(`'${tag}' is no tag`);
  return {
    registry: registry === 'index.docker.io' ? 'docker.io' : registry,
    repository,
    ...(tag === undefined ? (digest === undefined ? { tag: 'latest' } : {}) : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
};

/** The name that everything takes; a digest stands alone, because it says more than a tag. */
export const formatReference = ({ registry, repository, tag, digest }: ImageReference): string =>
  `${registry}/${repository}${digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}`}`;

/** Whether a text is an image's name. */
export const isReference = (text: string): boolean => {
  try {
    parseReference(text);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
};
