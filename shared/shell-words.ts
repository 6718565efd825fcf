/** Words for shells. */

/** A text in single quotes, for sh, bash and zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A word as a shell reads it back, in quotes only where it needs them. */
export const asWord = (text: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : quoted(text));
