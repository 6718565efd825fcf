/** p values as people write them, in one way everywhere. Pure. */

/** As a table shows it: 0.0005, 0.031, 0.25, `< 0.0001`. */
export const pShown = (p: number): string => {
  if (p < 0.0001) return '< 0.0001';
  const text = p >= 0.1 ? p.toFixed(2) : p >= 0.01 ? p.toFixed(3) : p.toFixed(4);
  return text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
};

/** As a sentence has it: `p = 0.031`, `p < 0.0001`. */
export const pText = (p: number): string => (p < 0.0001 ? `p ${pShown(p)}` : `p = ${pShown(p)}`);
