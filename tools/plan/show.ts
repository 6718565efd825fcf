/** A plan as people read it. Pure. */
import type { Plan } from '../../schemas/plan.ts';
import { table } from '../../shared/terminal.ts';
import { timeInWords } from '../../shared/time-words.ts';
import type { Request } from './lay-down.ts';

export interface Estimate {
  seconds: number;
  /** The run that it was taken from. */
  from: string;
}

/** Why a session will not end in time, when an earlier one says so: at its limit it is stopped, and nothing is judged. */
export const overLimit = ({ session, values }: Request, estimate: Estimate | undefined): string[] => {
  const { session_s: limit } = session.limits;
  if (estimate === undefined || estimate.seconds <= limit) return [];
  return [
    `a session will take about ${timeInWords(estimate.seconds)}, as ${estimate.from} did, and is stopped after ${timeInWords(limit)}, before the deadline of ${timeInWords(values.deadlineSeconds)}; plan with a later '--deadline', or fewer rounds or sizes`,
  ];
};

const whereText = ({ about, session, values }: Request): string => {
  const nodes = about.nodes?.join(', ');
  const spread = about.spread ? `, ${about.spread} side by side` : '';
  if (session.delivery === 'local') return `this machine, ${about.host ?? ''}`;
  const picked = nodes ? `picked from ${nodes}` : 'picked by free CPU';
  const on = about.pickNode
    ? picked
    : nodes
      ? `${about.nodes!.length > 1 ? 'nodes' : 'node'} ${nodes}`
      : 'wherever the scheduler says';
  return `${session.delivery}, namespace ${values.namespace ?? ''}, ${on}${spread}`;
};

/** The table of a plan: what is measured, how often, where. */
export const planTable = (request: Request, plan: Plan, estimate?: Estimate): string => {
  const { session, about, children } = request;
  const measured = new Set(plan.steps.map((one) => one.target));
  const targets = session.profile.targets.filter((one) => measured.has(one.name));
  const count = (kind: string): number => plan.steps.filter((one) => one.step === kind).length;
  const seeds = count('seed');
  const warmups = count('warmup') > 0 ? ` + ${count('warmup')} warm-ups` : '';
  const rounds = `${session.rounds}${session.warmupRounds > 0 ? ` after ${session.warmupRounds} to warm up` : ''}`;
  const repeat = children > 1 && about.sessions !== undefined ? `, ${children} sessions` : '';
  const looks = session.stopWhen
    ? `, may end after ${session.stopWhen.looks.slice(0, -1).join(' or ')}, when decided`
    : '';
  const plain = session.profile.repeat !== undefined;
  const facts: [string, string][] = [
    ['profile', `${session.profile.name}${session.mode === 'calibrate' ? ', the reference alone' : ''}`],
    [plain ? 'processes' : 'sizes', plain ? `${session.profile.repeat} a sample` : session.turns.join(', ')],
    ['rounds', `${rounds}, order ${session.order}${repeat}${looks}`],
    ['steps', `${seeds} seed${seeds === 1 ? '' : 's'} + ${count('sample')} samples${warmups}`],
    ['where', whereText(request)],
    ['commit', about.commit ?? 'none'],
    ...(estimate
      ? [
          [
            'takes',
            `about ${timeInWords(estimate.seconds * (about.sessions ?? 1))}, as ${estimate.from} did`,
          ] as [string, string],
        ]
      : []),
  ];
  const head = ['target', 'role', 'starts'];
  const rows = targets.map((one) => [one.name, one.role, (one.sample ?? one.command ?? []).join(' ')]);
  return `${table([head, ...rows])}\n${table(facts)}`;
};
