import type { NodeType } from '../schemas/analysis.ts';

/** How people and the tracker name a node type (spec §6). */
export const nodeTypeName = ({ cpuModel, cpuFeatures, gomaxprocs }: NodeType): string =>
  `${cpuModel} [${cpuFeatures}] GOMAXPROCS ${gomaxprocs}`;
