/** Pieces of text about an analysis, for terminals and for pages. Pure. */
import type { Analysis } from '../schemas/analysis.ts';
import type { SizeNoise } from '../schemas/noise.ts';
import { plainText } from './terminal.ts';

/** Three or four digits that matter. */
export const shortNumber = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 1e6) return value.toPrecision(4);
  return value.toFixed(size < 1 ? 3 : size < 10 ? 2 : size < 1000 ? 1 : 0);
};

/** A part as a percentage without needless digits: the limit as it was given. */
export const limitText = (part: number): string => `${Number((100 * part).toPrecision(12))}%`;

/** A CV as a percentage with one decimal; one that prints like the limit has three (spec §6). */
export const cvText = (cv: number, limit: number): string => {
  const short = (100 * cv).toFixed(1);
  return `${short === (100 * limit).toFixed(1) ? (100 * cv).toFixed(3) : short}%`;
};

/** What the gate holds to the limit. */
export const gateWords = (gate: Analysis['gate']): string =>
  gate === 'wall' ? 'gate wall' : 'gate cpu: wall times are informational';

/** Which sessions on which machine, in one line. */
export const where = ({ sessions, imported }: Analysis): string => {
  const [first] = sessions;
  if (!first) return plainText(`imported from ${imported?.from ?? 'another program'}`);
  const nodes = [...new Set(sessions.map((one) => one.node))].join(', ');
  const cores = first.cpus === '' ? 'not pinned' : `cores ${first.cpus}`;
  return plainText(
    sessions.length === 1
      ? `${nodes}, ${cores} (${first.cpuSet}), ${first.nodeType.cpuModel}`
      : `median over ${sessions.length} sessions on ${nodes}, ${first.nodeType.cpuModel}`,
  );
};

/** The reference's gated CVs at one size, in one line. */
export const noiseLine = (noise: SizeNoise | undefined, maxCv: number): string =>
  Object.entries(noise ?? {})
    .filter(([, one]) => one.gate && one.cv !== null)
    .map(([metric, one]) => `${metric} ${cvText(Math.abs(one.cv!), maxCv)}`)
    .join(', ');
