/** Everything that was looked at, as findings, and what they come to. Pure. */
import { countOf } from '../../shared/findings.ts';
import { namespaceFindings, podFindings } from './admission.ts';
import type { Asked } from './asked.ts';
import { execFindings } from './exec.ts';
import type { Finding } from './finding.ts';
import { imageFinding } from './image.ts';
import { limitFindings } from './limits.ts';
import { secretFindings, thingFindings } from './named-things.ts';
import { needOf } from './need.ts';
import { quotaFindings } from './quota.ts';
import { rightsFindings } from './rights.ts';
import { nodesFindings } from './room.ts';
import type { Seen } from './seen.ts';
import { serverFinding } from './server.ts';

export const findingsOf = (asked: Asked, seen: Seen): Finding[] => {
  const need = needOf(asked.values, asked.pods);
  return [
    serverFinding(asked, seen.version),
    ...rightsFindings(asked, seen.version, seen.rights),
    ...namespaceFindings(asked, seen),
    ...quotaFindings(seen.quotas, need),
    ...limitFindings(seen.limits, need),
    ...podFindings(asked, seen),
    ...thingFindings(asked, seen),
    imageFinding(asked, seen),
    ...secretFindings(seen),
    ...nodesFindings(asked, seen),
    ...execFindings(asked, seen),
  ];
};

/** What they come to, in one sentence. */
export const verdictOf = (findings: readonly Finding[]): string => {
  const [warnings, failures] = [countOf(findings, 'warn'), countOf(findings, 'fail')];
  if (failures > 0) return `no run can work here: ${failures} of ${findings.length} findings prevent it`;
  return warnings === 0
    ? 'a run can work here'
    : `a run can work here; ${warnings} of ${findings.length} findings weaken it, or could not be known`;
};
