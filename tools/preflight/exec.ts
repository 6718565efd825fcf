/** Whether exec gets through to the API server, as far as that is known without a pod. Pure. */
import { isKnown } from './answer.ts';
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';
import type { Seen } from './seen.ts';

const { ok, warn, fail } = area('exec');
const NAME = 'exec';
const NO_SUCH_POD = 404;

export const execFindings = ({ delivery }: Asked, { exec }: Seen): Finding[] => {
  if (delivery !== 'bundle') return [];
  if (exec === undefined)
    return [warn(NAME, 'not tried: the account may not exec', 'see permissions', 'ask for it first')];
  if ('broken' in exec)
    return [
      fail(
        NAME,
        exec.broken,
        "the bundle can't be sent to the pod",
        'look for a proxy or a firewall that lets no WebSocket through, or deliver an image',
      ),
    ];
  if ('noWebSocket' in exec)
    return [
      warn(
        NAME,
        'plain requests get through to the API server, and a WebSocket does not open',
        'the bundle is sent over one',
        'look for a proxy or a firewall that lets no WebSocket through, or deliver an image',
      ),
    ];
  if (isKnown(exec) || exec.refused.code === NO_SUCH_POD)
    return [
      ok(
        NAME,
        'the API server answers: no such pod',
        'it is allowed; whether it reaches a node is known once a pod is there',
      ),
    ];
  return [
    fail(
      NAME,
      `refused: ${exec.refused.detail}`,
      "the bundle can't be sent to the pod",
      'ask for it, or deliver an image',
    ),
  ];
};
