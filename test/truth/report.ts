/** The truth report for people. */
import type { TruthRecord } from './record.ts';

/** What each check states; in the order of the report. */
const STATEMENTS: Readonly<Record<string, string>> = {
  'false-alarms':
    'Nothing differs: any interval of the session leaves 1 out. All comparisons of a session share the 5 %.',
  coverage:
    'The truth is 10 %: all intervals of the session hold it. 95 % is stated, 2 points more or less are allowed (few rounds have levels in steps); for noise of the machine, only not less.',
  power:
    'Planned rounds conclude “slower” for the planned effect, with the promised power of 80 %; and what a run says it could have seen is found as often.',
  'sessions-power': 'The same of sessions, where they differ by themselves.',
  'stopping-error':
    'Planned looks after 6, 9 and 12 rounds: the repeated interval at the stop is wrong no more often than a fixed one.',
  'stopping-saving':
    'Rounds used with `--stop-when decided`; at most 60 % for effects twice the detectable one.',
  'stopping-power': 'What is concluded at the stop.',
  'stopping-planned':
    'Rounds planned by `--for-effect` with `--stop-when decided`: the planned effect is called slower with the promised power.',
  'session-effects':
    'Sessions differ by themselves. One session can only speak of itself; five and more are blocks, and their interval holds the program’s effect.',
  'clean-doubts': 'A clean A/A session carries any doubt; one in ten at most.',
  'doubt-fires': 'Rounds can’t be exchanged, or the control differs: the doubt is there.',
  'doubtful-misses':
    'How often the interval alone would have misled in those sessions (nothing is promised).',
  'false-changes': 'Histories without a change: any change point found.',
  'changes-found': 'A step in a history is found, alone and in its place.',
  'recorded-false-alarms':
    'Measured, not simulated: sessions of one program against itself, 12 rounds each, on two cores that others used all the time (load 3 to 20): real noise, and more of it than a benchmark should have (record-sessions.ts).',
  'recorded-doubts':
    'Doubts in those sessions. The machine was as busy as it was, and turns of durable-store at 50 turns are shorter than 1 ms: of these doubts nothing is promised. What the rounds themselves are doubted for is chance in a program against itself: one session in ten at most.',
  'recorded-slowdown':
    'Measured: a program that really takes longer, by a loop that takes a share of a turn’s CPU time, in sessions planned with `--for-effect` from one session of the program against itself.',
};

/** Methods that a check made us choose. */
const CHOICES = [
  'The spending function is a power family (level · t^⅔), not an O’Brien–Fleming type: six rounds can’t give a two-sided p below 0.031, which the latter does not spend until three quarters of the rounds, so nothing could stop before 9 of 12.',
  'Several comparisons of one session get intervals from one critical value (max-T), so that the 5 % hold for all of them together; over sessions the level is divided (Bonferroni), as five sign flips have only 16 patterns.',
  'Differences of exactly zero are ranked and may take either sign under the flips: dropping them left sessions of equal counts without an interval.',
  'The weights of sessions come from one pooled variance: a dozen rounds each make separate weights a lottery.',
  'Trend doubts need an effect of half the margin, too: on quiet machines tiny trends are significant and harmless.',
  'Warm-up is tested over all choices of first rounds, not a draw of them: at 12 rounds the smallest p is 1/220, and a draw called it now on one side of the level, now on the other.',
  'A plan from one A/A session counts with every spread that so few rounds may have come from: with the one they measured taken for certain, 12 rounds planned for 76 % where 80 % was promised.',
  'The slowdown of the recorded sessions is a fixed amount of work: a spin of 3 % by the clock took 5 to 12 % of the CPU time on a machine whose cores others used too, and would have been found too easily.',
  'What a run could have seen is told with the spread that the true one is above as often as below: with the one that so few rounds measure, 77 % of sessions of 6 rounds found what 80 % should.',
  'Serial correlation of a dozen rounds is mostly invisible to any test; the turning order takes the machine’s own out of the ratio, and what a target has by itself is doubted from some dozens of rounds on.',
];

const promise = ({ holds, limit }: TruthRecord): string =>
  limit === null ? '–' : `${holds === 'at-most' ? '≤' : '≥'} ${limit}`;

const COLUMNS = ['simulated', 'share found', 'stated', 'result', 'simulations', 'seed'];

const cells = (one: TruthRecord): string[] => [
  one.case,
  one.value.toFixed(3),
  promise(one),
  one.limit === null ? 'reported' : one.pass ? 'holds' : '**fails**',
  String(one.count),
  String(one.seed),
];

/** A Markdown table with its columns aligned, as the formatter leaves it. */
const table = (records: readonly TruthRecord[]): string => {
  const rows = [COLUMNS, ...records.map(cells)];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const [head, ...body] = rows.map(
    (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`,
  );
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n');
};

/** Markdown: one table per check. */
export const reportOf = (records: readonly TruthRecord[]): string => {
  const promised = records.filter((one) => one.limit !== null);
  const failing = promised.filter((one) => !one.pass).length;
  const sections = Object.entries(STATEMENTS).flatMap(([check, statement]) => {
    const rows = records.filter((one) => one.check === check);
    if (rows.length === 0) return [];
    return [`## ${check}\n\n${statement}\n\n${table(rows)}`];
  });
  return [
    '# Is it true?',
    `Sessions with a known truth, simulated and at the end recorded ones, and what the evidence layer (shared/evidence) says of them. Made by test/truth/main.ts; the same records, one per line, are in report.jsonl. ${promised.length - failing} of ${promised.length} statements hold${failing > 0 ? `, **${failing} fail**` : ''}; each is allowed three standard errors of its own simulation.`,
    ...sections,
    `## What the checks changed\n\n${CHOICES.map((one) => `- ${one}`).join('\n')}`,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
};
