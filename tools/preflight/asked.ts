/** What a run would be: from a run directory, or from values file, environment and flags. */
import { join, resolve } from 'node:path';
import { nodes as nodesSchema } from '../../schemas/nodes.ts';
import { type Run, run as runSchema } from '../../schemas/run.ts';
import { type Values, values as valuesSchema } from '../../schemas/values.ts';
import { withReference } from '../../shared/bundle/named-image.ts';
import { configurationOf } from '../../shared/configuration.ts';
import { usage } from '../../shared/failure.ts';
import { manifestOf } from '../../shared/job/manifest.ts';
import { editsOf } from '../../shared/job/manifest-edits.ts';
import { MANIFEST_FILE } from '../../shared/job/manifest-file.ts';
import type { Wanted } from '../../shared/nodes/ranking.ts';
import { readText } from '../../shared/read.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { whereOf } from '../../shared/where.ts';
import type { World } from '../../shared/world.ts';
import { type PreflightFlags, SETTINGS } from './flags.ts';

export interface Asked {
  values: Values;
  namespace: string;
  delivery: 'image' | 'bundle';
  /** The Job of one session. */
  manifest: Record<string, unknown>;
  /** Where the run directory's manifest is not what `render` writes. */
  edited: readonly string[];
  image: string;
  /** Nodes that fit. */
  wanted: Wanted;
  /** Nodes are to be picked by what is free on them. */
  picks: boolean;
  /** Sessions side by side. */
  pods: number;
}

interface Parts {
  values: Values;
  about: Pick<Run, 'run' | 'mode' | 'delivery' | 'arch' | 'bundleSha256'>;
  nodes: string[] | undefined;
  picks: boolean;
  spread: number;
  manifest?: Record<string, unknown>;
  edited?: readonly string[];
}

const askedOf = ({ values, about, nodes, picks, spread, manifest, edited = [] }: Parts): Asked => {
  const { delivery } = about as { delivery: 'image' | 'bundle' };
  return {
    values,
    delivery,
    picks,
    namespace: values.namespace!,
    pods: spread,
    edited,
    manifest:
      manifest ??
      manifestOf({ about, values, plan: '{}', ...(nodes?.length === 1 ? { node: nodes[0]! } : {}) }),
    image: (delivery === 'bundle' ? values.baseImage : values.image)!,
    wanted: {
      cpus: values.cpus,
      memory: values.memory,
      selector: values.nodeSelector ?? {},
      tolerations: values.tolerations ?? [],
      count: spread,
      deadline_s: values.deadlineSeconds,
      ...(nodes ? { candidates: nodes } : {}),
      ...(about.arch === undefined ? {} : { arch: about.arch }),
    },
  };
};

/** What `render` wrote for the first session, when it has: it may have been changed by hand. */
const renderedIn = async (run: RunDirectory, about: Run): Promise<Pick<Parts, 'manifest' | 'edited'>> => {
  const child = about.children?.[0];
  const part = child === undefined ? run : runDirectory(run.file(child), join(run.shown, child));
  if (!part.has(MANIFEST_FILE)) return {};
  const { parseForeignYaml } = await import('../../shared/yaml.ts');
  const shown = join(part.shown, MANIFEST_FILE);
  const manifest = parseForeignYaml(readText(part.file(MANIFEST_FILE), shown), shown) as Record<
    string,
    unknown
  >;
  return { manifest, edited: await editsOf(part, manifest) };
};

/** From run.json, values.json and, where they are, nodes.json and manifest.yaml. */
export const askedOfRun = async (run: RunDirectory, flags: PreflightFlags): Promise<Asked> => {
  const surplus = SETTINGS.filter((name) => flags[name] !== undefined && flags[name] !== false);
  if (surplus.length > 0)
    throw usage(
      surplus.map(
        (name) => `'--run' and '--${name}' exclude each other: the run was planned with its own settings`,
      ),
    );
  const about = run.json('run.json', runSchema);
  if (about.delivery === 'local')
    throw usage(`'${run.shown}' is a local run: it runs on this machine, of which 'k8sbench doctor' tells`);
  const values = run.json('values.json', valuesSchema);
  const chosen = run.has('nodes.json') ? run.json('nodes.json', nodesSchema).chosen : undefined;
  return askedOf({
    values,
    about,
    nodes: chosen ?? about.nodes,
    picks: about.pickNode === true,
    spread: about.spread ?? 1,
    ...(await renderedIn(run, about)),
  });
};

/** Architecture of a bundle, and a digest that stands for its own, which nothing here depends on. */
const bundleOf = async (shown: string, world: World): Promise<Pick<Run, 'arch' | 'bundleSha256'>> => {
  const { readBundle } = await import('../../shared/bundle/contents.ts');
  const { arch, problems } = await readBundle(resolve(world.cwd, shown), shown, { digests: false });
  if (problems.length > 0) throw usage(problems);
  return { ...(arch ? { arch } : {}), bundleSha256: '0'.repeat(64) };
};

/** From flags, environment and values file (spec §1), refused as `plan` refuses them. */
export const askedOfFlags = async (flags: PreflightFlags, world: World): Promise<Asked> => {
  const { configuration, archive } = await withReference(await configurationOf(world, flags), world);
  const where = whereOf(flags, configuration);
  const problems = [...configuration.problems, ...where.problems];
  if (problems.length > 0) throw usage(problems);
  const { values } = where;
  const arch = archive?.contents.arch;
  return askedOf({
    values,
    about: {
      run: 'k8sbench-preflight',
      mode: 'compare',
      delivery: where.delivery,
      ...(where.delivery === 'bundle' ? await bundleOf(values.bundle!, world) : {}),
      ...(arch === undefined ? {} : { arch }),
    },
    nodes: where.nodes,
    picks: where.pickNode === true,
    spread: where.spread ?? 1,
  });
};
