/** From everything that was asked and found to the files of a run directory. Pure: the same request gives the same bytes. */
import type { CompactPlan, Plan } from '../../schemas/plan.ts';
import type { Run } from '../../schemas/run.ts';
import type { Values } from '../../schemas/values.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText } from '../../shared/read.ts';
import { sequenceOf } from '../../shared/sequence.ts';
import { childId } from './run-id.ts';

/** What the compact plan says apart from the run's own id. */
type Session = Omit<CompactPlan, 'format' | 'run' | 'orderSeed'>;
/** What run.json says apart from its identity. */
type About = Omit<
  Run,
  | 'format'
  | 'run'
  | 'planned_at'
  | 'children'
  | 'parent'
  | 'files'
  | 'inputsSha256'
  | 'mode'
  | 'delivery'
  | 'profile'
  | 'rule'
  | 'turns'
  | 'rounds'
>;

/** Everything that was asked for, checked; its digest decides whether a run directory was planned from the same. */
export interface Request {
  session: Session;
  about: About;
  values: Values;
  /** Child runs, each a whole session; 0 or 1: none. */
  children: number;
}

/** Standard output kept from a step (spec §5). */
export const STDOUT_BYTES = 16 << 20;

/** The session ends by itself before the Job's deadline would take its log away (DESIGN §2.2). */
export const sessionLimit = (deadline: number): number => deadline - Math.max(30, 0.05 * deadline);

/** The plan of one session: its compact form and every step expanded from it. */
export const planOf = (session: Session, run: string): Plan => {
  const compact: CompactPlan = {
    format: 'compact-plan/1',
    run,
    ...session,
    // Each run draws orders of its own, and the same run always the same ones.
    orderSeed: Number.parseInt(sha256(run).slice(0, 8), 16),
  };
  return {
    format: 'plan/1',
    compactSha256: sha256(JSON.stringify(compact)),
    compact,
    steps: sequenceOf(compact),
  };
};

/** File name → text; plan.json comes last, so that a directory with one is whole. */
export type Files = ReadonlyMap<string, string>;

export interface LaidDown {
  run: string;
  files: Files;
  plan: Plan;
  children: { run: string; files: Files }[];
}

export const inputsDigest = (request: Request): string => sha256(JSON.stringify(request));

/** The four files of one session. `own` is what tells a parent from its children. */
const filesOf = (request: Request, plan: Plan, now: number, own: Pick<Run, 'children' | 'parent'>): Files => {
  const { session, about, values } = request;
  const { spread: _spread, sessions: _sessions, pickNode: _pickNode, ...alike } = about;
  const texts = new Map([
    ['profile.json', jsonText(session.profile)],
    ['values.json', jsonText(values)],
    ['plan.json', jsonText(plan)],
  ]);
  const run: Run = {
    format: 'run/1',
    run: plan.compact.run,
    mode: session.mode,
    planned_at: new Date(now).toISOString(),
    delivery: session.delivery,
    // A child is one session: how many there are, and where they go, is its parent's.
    ...(own.parent === undefined ? about : alike),
    ...own,
    profile: session.profile.name,
    rule: session.profile.rule,
    turns: session.turns,
    rounds: session.rounds,
    files: Object.fromEntries([...texts].map(([file, text]) => [file, sha256(text)])),
    inputsSha256: inputsDigest(request),
  };
  return new Map([['run.json', jsonText(run)], ...texts]);
};

/** The files of a run and of its children. `now`: ms since the epoch. */
export const layDown = (request: Request, run: string, now: number): LaidDown => {
  const { session, children } = request;
  const names = children > 1 ? Array.from({ length: children }, (_, at) => childId(run, at + 1)) : [];
  const plan = planOf(session, run);
  return {
    run,
    plan,
    files: filesOf(request, plan, now, names.length > 0 ? { children: names } : {}),
    children: names.map((name) => ({
      run: name,
      files: filesOf(request, planOf(session, name), now, { parent: run }),
    })),
  };
};
