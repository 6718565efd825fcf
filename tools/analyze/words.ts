/** Pieces of text that several tables need. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { SizeNoise } from '../../schemas/noise.ts';
import { type Colour, plainText } from '../../shared/terminal.ts';
import { cvText } from './noise.ts';

export type Paint = (colour: Colour, text: string) => string;

/** Three or four digits that matter. */
export const shortNumber = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 1e6) return value.toPrecision(4);
  return value.toFixed(size < 1 ? 3 : size < 10 ? 2 : size < 1000 ? 1 : 0);
};

/** What the gate holds to the limit. */
export const gateWords = (gate: Analysis['gate']): string =>
  gate === 'wall' ? 'gate wall' : 'gate cpu: wall times are informational';

/** Which sessions on which machine, in one line. */
export const where = ({ sessions }: Analysis): string => {
  const [first] = sessions;
  const nodes = [...new Set(sessions.map((one) => one.node))].join(', ');
  const cores = first!.cpus === '' ? 'not pinned' : `cores ${first!.cpus}`;
  return plainText(
    sessions.length === 1
      ? `${nodes}, ${cores} (${first!.cpuSet}), ${first!.nodeType.cpuModel}`
      : `median over ${sessions.length} sessions on ${nodes}, ${first!.nodeType.cpuModel}`,
  );
};

/** The reference's gated CVs at one size, in one line. */
export const noiseLine = (noise: SizeNoise | undefined, maxCv: number): string =>
  Object.entries(noise ?? {})
    .filter(([, one]) => one.gate && one.cv !== null)
    .map(([metric, one]) => `${metric} ${cvText(Math.abs(one.cv!), maxCv)}`)
    .join(', ');
