import pack from '../package.json' with { type: 'json' };

/** The version of this k8sbench, one for all tools. */
export const VERSION: string = pack.version;
