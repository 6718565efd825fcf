/** What the doctor's findings come to, and all of it as a person reads it. Pure. */
import { countOf, findingsText as textOf } from '../../../shared/findings.ts';
import type { Paint } from '../../../shared/terminal.ts';
import type { Finding } from './finding.ts';

/** What they come to, in one sentence. */
export const verdictOf = (findings: readonly Finding[]): string => {
  const [warnings, failures] = [countOf(findings, 'warn'), countOf(findings, 'fail')];
  if (failures > 0)
    return `no local session can run here: ${failures} of ${findings.length} findings prevent it`;
  return warnings === 0
    ? `a local session can run here, and nothing weakens it`
    : `a local session can run here; ${warnings} of ${findings.length} findings weaken what it measures`;
};

export const findingsText = (findings: readonly Finding[], paint: Paint): string =>
  textOf(findings, verdictOf(findings), paint);
