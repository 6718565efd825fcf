/** Where a session runs: delivery and nodes, from the settings and the flags (spec §1). Pure. */
import * as v from 'valibot';
import { dnsSubdomain, type Values } from '../schemas/values.ts';
import type { Configuration } from './configuration.ts';
import { isReference } from './registry/reference.ts';

export interface Where {
  delivery: 'image' | 'bundle' | 'local';
  /** Settings without those that the flags replaced. */
  values: Values;
  /** Nodes asked for. */
  nodes?: string[];
  pickNode?: true;
  /** Above 1: sessions side by side on as many nodes. */
  spread?: number;
  /** It is known before the session which nodes, or that picked ones, run it. */
  pinned: boolean;
  problems: string[];
}

/** The flags that say where, as the command line has them; one that a tool does not have is left out. */
export interface WhereFlags {
  local?: boolean;
  image?: string | undefined;
  node?: string | undefined;
  nodes?: string[] | undefined;
  'pick-node'?: boolean;
  spread?: number | undefined;
  sessions?: number | undefined;
}

/** What is wrong with an image as a setting names it. */
export const imageProblems = (image: string, from: string | undefined, unpinned: boolean): string[] => {
  if (!isReference(image))
    return [`${from}: '${image}' is not an image reference such as registry.example/name@sha256:<64 hex>`];
  return image.includes('@sha256:') || unpinned
    ? []
    : [
        `${from}: '${image}' is not pinned: write its digest, @sha256:<64 hex>, or allow a tag with --allow-unpinned-image`,
      ];
};

/** Flags about a cluster's nodes that were given. */
const nodeFlags = (flags: WhereFlags): string[] =>
  (['node', 'nodes', 'pick-node', 'spread'] as const).filter((name) => Boolean(flags[name]));

const localWhere = (flags: WhereFlags, { values }: Configuration): Where => ({
  delivery: 'local',
  values,
  pinned: true,
  problems: [
    ...(flags.image ? ["'--local' and '--image' exclude each other: an image needs a cluster"] : []),
    ...nodeFlags(flags).map(
      (name) => `'--local' and '--${name}' exclude each other: a local session runs on this machine`,
    ),
  ],
});

const deliveryProblems = ({ values, from, unread }: Configuration, flags: WhereFlags): string[] => {
  const problems: string[] = [];
  const [image, bundle] = [from('image'), from('bundle')];
  if (!unread && !image && !bundle)
    problems.push(
      `nothing says what to run and where: --image or --bundle for a cluster${'local' in flags ? ', --local for this machine' : ''}`,
    );
  if (image && bundle)
    problems.push(`image (${image}) and bundle (${bundle}) exclude each other; leave one out`);
  if (!unread && !from('namespace'))
    problems.push('no namespace: set it with --namespace, $K8SBENCH_NAMESPACE or in the values file');
  if (values.image) problems.push(...imageProblems(values.image, image, values.allowUnpinnedImage));
  if (!unread && bundle && !from('baseImage'))
    problems.push(
      'no base image: a bundle needs one, an official Node image by digest; set it with --base-image, $K8SBENCH_BASE_IMAGE or baseImage in the values file',
    );
  if (values.baseImage)
    problems.push(...imageProblems(values.baseImage, from('baseImage'), values.allowUnpinnedImage));
  return problems;
};

interface Nodes {
  nodes?: string[];
  spread?: number;
  problems: string[];
}

const nodesOf = (flags: WhereFlags): Nodes => {
  const { node, nodes, spread } = flags;
  const problems: string[] = [];
  if (node && nodeFlags(flags).length > 1)
    problems.push(
      `'--node' excludes ${nodeFlags(flags)
        .filter((name) => name !== 'node')
        .map((name) => `'--${name}'`)
        .join(', ')}: one node is one node`,
    );
  for (const name of nodes ?? [])
    if (!v.is(dnsSubdomain, name)) problems.push(`flag '--nodes': '${name}' is not a node's name`);
  if (nodes && spread !== undefined && spread > nodes.length)
    problems.push(
      `flag '--spread': ${spread} nodes of ${nodes.length} named with --nodes; name more, or spread less`,
    );
  if (nodes && nodes.length > 99) problems.push(`flag '--nodes': at most 99 nodes, found ${nodes.length}`);
  if (spread !== undefined && spread > 1 && flags.sessions !== undefined && flags.sessions > 1)
    problems.push("'--spread' and '--sessions' exclude each other: side by side or in turn");
  // Names alone are the nodes to run on, all of them.
  const over = spread ?? (nodes && !flags['pick-node'] ? nodes.length : undefined);
  return {
    problems,
    ...(nodes ? { nodes } : node ? { nodes: [node] } : {}),
    ...(over !== undefined && over > 1 ? { spread: over } : {}),
  };
};

export const whereOf = (flags: WhereFlags, configuration: Configuration): Where => {
  if (flags.local) return localWhere(flags, configuration);
  const { problems, nodes, spread } = nodesOf(flags);
  // A flag that chooses nodes replaces a node of the file or the environment: later sources win.
  const { node, ...others } = configuration.values;
  const keeps = node !== undefined && !flags.nodes && !flags['pick-node'] && flags.spread === undefined;
  const only = nodes ?? (keeps ? [node] : undefined);
  const pick = flags['pick-node'] || flags.spread !== undefined;
  return {
    delivery: configuration.values.bundle ? 'bundle' : 'image',
    values: keeps ? { ...others, node } : others,
    ...(only ? { nodes: only } : {}),
    ...(pick ? { pickNode: true as const } : {}),
    ...(spread === undefined ? {} : { spread }),
    pinned: only !== undefined || pick,
    problems: [...deliveryProblems(configuration, flags), ...problems],
  };
};
