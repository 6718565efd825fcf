/** A session's log whose lines have every length at which something is known to cut: the runtime's buffers, the kubelet's, ours. */
import { createHash } from 'node:crypto';

/** Lengths in bytes, newline left out. */
const lengths = (): number[] => {
  const around = [4096, 8192, 16_384, 32_768, 65_536, 262_144].flatMap((one) =>
    [-1, 0, 1].map((by) => one + by),
  );
  return [60, 61, 62, 63, 64, ...around, 1_000_000, 1 << 20];
};

/** The program that prints it, for the pod; here it is run as it is. */
const MAKE = (sizes: readonly number[], digest: (text: string) => string): string => {
  const parts: string[] = [];
  for (const [seq, size] of sizes.entries()) {
    const head = `{"t":"sample","seq":${seq},"x":"`;
    // Another letter each time, so that a part which comes twice or in the wrong place is seen.
    parts.push(`${head}${String.fromCharCode(97 + (seq % 26)).repeat(size - head.length - 2)}"}\n`);
    // Somebody else's, of one byte; an empty one; one of two bytes.
    parts.push('x\n', '\n', 'é\n');
  }
  const own = parts.filter((line) => line.startsWith('{'));
  const end = { t: 'end', seq: own.length, lines: own.length, sha256: digest(own.join('')) };
  return `${parts.join('')}${JSON.stringify(end)}\n`;
};

/** The log as it must arrive. */
export const LINES = (): string => MAKE(lengths(), (text) => createHash('sha256').update(text).digest('hex'));

/** The same for `node -e`. */
export const linesScript = (): string =>
  `const digest = (text) => require('crypto').createHash('sha256').update(text).digest('hex');
process.stdout.write((${MAKE.toString()})(${JSON.stringify(lengths())}, digest))`;
