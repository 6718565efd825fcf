/** VERSIONS of a bundle: what it was made with. Pure. */

/** `key=value` lines; others are passed over. */
export const versionsIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([^=\s]+)=(.*)$/gm)].map(([, key, value]) => [key!, value!.trim()]));
