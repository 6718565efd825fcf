/** Whether nodes have the image, or can pull it. Pure. */
import { isHere } from '../../shared/registry/access.ts';
import { parseReference } from '../../shared/registry/reference.ts';
import { isKnown } from './answer.ts';
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';
import { type Holders, holdersOf, isPinned, onNodes } from './holders.ts';
import type { Pull } from './registry.ts';
import type { Seen } from './seen.ts';

const { ok, warn, fail } = area('image');
const NAME = 'image';

const LATER = 'whether a node can pull it is known once one does';
const NO_SECRET = 'the pod names no pull secret: a node pulls only with credentials of its own';
const NAME_SECRET = "name one in the values file: 'imagePullSecrets'";

/** Whether the pod will have pull secrets: its own, or those of its service account. */
const hasSecret = ({ values }: Asked, { pod }: Seen): boolean => {
  const admitted = pod && isKnown(pod) ? pod.value.spec['imagePullSecrets'] : undefined;
  return (values.imagePullSecrets ?? []).length > 0 || (Array.isArray(admitted) && admitted.length > 0);
};

const named = (arches: readonly string[]): string => arches.map((one) => `linux/${one}`).join(', ');

/** What is wrong with architectures; a digest stands for the same ones in every registry. `found` begins what is said. */
const archFinding = (
  { wanted }: Asked,
  { fitting, holding }: Holders,
  arches: readonly string[],
  found: string,
): Finding | undefined => {
  const ofNodes = new Set(fitting.map((one) => one.arch).filter((arch) => arch !== ''));
  const needed = wanted.arch === undefined ? [...ofNodes] : [wanted.arch];
  const missing = needed.filter((one) => !arches.includes(one));
  if (arches.length > 0 && missing.length === 0) return undefined;
  const has = `${found}, ${arches.length === 0 ? 'for no Linux' : `for ${named(arches)} alone`}`;
  return missing.length === needed.length && holding.length === 0
    ? fail(
        NAME,
        has,
        missing.length === 0 ? 'no node runs it' : `it runs on no node of ${named(missing)}`,
        'name an image, or nodes, of the other architecture',
      )
    : warn(
        NAME,
        has,
        `it runs on no node of ${named(missing)}, and some of these fit`,
        "choose among the others by their label 'kubernetes.io/arch', with --node-selector",
      );
};

/** A registry of this machine's own name for itself, which every node has, too. */
const hereFinding = (found: string, pull: Pull): Finding =>
  warn(
    NAME,
    pull.is === 'there' ? `${found} a registry here has it` : `${found} not known`,
    'to a node that name is the node itself: it pulls only where its runtime is told of another address',
    'import it on the nodes, or name a registry that they reach',
  );

const notThereFinding = (found: string, pull: Exclude<Pull, { is: 'there' }>, secret: boolean): Finding => {
  switch (pull.is) {
    case 'missing':
      return warn(
        NAME,
        `${found} there is no such image in its registry`,
        'no pod starts on a node without it, unless that pulls through a mirror that has it',
        'correct its name and digest, push it, or import it on the nodes',
      );
    case 'refused':
      return secret
        ? warn(
            NAME,
            `${found} not known: its registry wants a login (${pull.status})`,
            'nodes have a pull secret; whether it lets them in is known once one pulls',
            "log in here to have it looked at: 'docker login', or 'skopeo login'",
          )
        : warn(NAME, `${found} its registry wants a login (${pull.status})`, NO_SECRET, NAME_SECRET);
    case 'unknown':
      return warn(
        NAME,
        `${found} not known: ${pull.why}`,
        `the registry can't be asked from here; ${LATER}`,
        'ask again from where its registry answers',
      );
  }
};

/** What the registry answered, of an image that some node has to pull. */
const pullFinding = (asked: Asked, seen: Seen, pull: Pull): Finding => {
  const { image } = asked;
  const { registry } = parseReference(image);
  const nodes = holdersOf(asked, seen);
  const found = `${image}:${nodes.holding.length > 0 ? ` ${onNodes(nodes)};` : ''}`;
  const there = `${found} '${registry}' has it`;
  const wrong =
    pull.is === 'there' && pull.arches ? archFinding(asked, nodes, pull.arches, there) : undefined;
  if (wrong) return wrong;
  if (isHere(registry)) return hereFinding(found, pull);
  const secret = hasSecret(asked, seen);
  if (pull.is !== 'there') return notThereFinding(found, pull, secret);
  return pull.login && !secret
    ? warn(NAME, `${there}, after a login`, NO_SECRET, NAME_SECRET)
    : ok(
        NAME,
        `${there}${pull.arches ? `, for ${named(pull.arches)}` : ''}`,
        'pinned; whether a node reaches its registry is known once one pulls',
      );
};

/** The image that the pod runs. */
export const imageFinding = (asked: Asked, seen: Seen): Finding => {
  const { image } = asked;
  if (!isPinned(image))
    return warn(
      NAME,
      image,
      'a tag can mean another image tomorrow, and on another node',
      'write its digest: name@sha256:<64 hex>',
    );
  return seen.pull
    ? pullFinding(asked, seen, seen.pull)
    : ok(NAME, `${image}: ${onNodes(holdersOf(asked, seen))}`, 'pinned, and nothing has to be pulled');
};
