/** Foreign text in XML. Pure. */
import { plainText } from '../../../shared/terminal.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text in XML, whose characters exclude most control characters even as references. */
export const xml = (text: string): string =>
  plainText(text)
    .replace(/[\ufffe\uffff]/g, '?')
    .replace(/[&<>"]/g, (one) => ENTITIES[one]!);
