/** How a page tells what it was made from. Pure. */

/** The text that a page of the same inputs has near its beginning. */
export const madeMark = (made: string): string => `<meta name="k8sbench-inputs" content="${made}">`;
