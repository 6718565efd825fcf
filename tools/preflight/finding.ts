/** What preflight says of one thing. */
import { areaOf, type Finding as Found } from '../../shared/findings.ts';

export type Finding = Found<'server' | 'permissions' | 'namespace' | 'pod' | 'image' | 'nodes' | 'exec'>;

export const area = areaOf<Finding['area']>;
