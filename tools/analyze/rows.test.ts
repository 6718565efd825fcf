import { describe, expect, test } from 'bun:test';
import { type Made, madeLog, sealed, sessionLines } from '../../test/made-log.ts';
import { Rows } from './rows.ts';
import { readSession, Session } from './session.ts';

/** The rows of a log: of samples, of seeds. */
const rowsOf = async (text: string, ofSeveral = false): Promise<[string, string]> => {
  const session = new Session('pod.log');
  const rows = new Rows(ofSeveral);
  let samples = '';
  const parts = async function* () {
    yield new TextEncoder().encode(text);
  };
  for await (const _ of readSession(parts(), session, rows)) samples += Buffer.from(rows.take()).toString();
  expect(session.problems).toEqual([]);
  return [samples, rows.seeds];
};
/** The same, the plain way: parsed, without two keys, with two others. */
const plainly = (text: string, kind: string, run?: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['t'] === kind)
    .map((line) => {
      delete line['t'];
      delete line['seq'];
      if (line['target'] === 'journal') line['version'] = '0123456789abcdef';
      if (run !== undefined) line['run'] = run;
      return line;
    });
const parsed = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const made: Partial<Made> = {
  rounds: 3,
  turns: [50, 500],
  sample: (_, __, round) => ({
    own: `ä "quoted" {"t":"sample","seq":${round}} \\`,
    list: [{ deep: [1e-7, -0] }],
  }),
};

describe('rows', () => {
  test('are the lines without t and seq, candidates with their version', async () => {
    const text = madeLog(made);
    const [samples, seeds] = await rowsOf(text);
    expect(parsed(samples)).toEqual(plainly(text, 'sample'));
    expect(parsed(seeds)).toEqual(plainly(text, 'seed'));
    expect(samples.split('\n')[0]).toStartWith('{"target":"journal","turns":50,');
  });

  test('of several sessions name theirs', async () => {
    const text = madeLog(made);
    const [samples] = await rowsOf(text, true);
    expect(parsed(samples)).toEqual(plainly(text, 'sample', 'k8sbench-cmp-made'));
    expect(samples.split('\n')[0]).toEndWith('"version":"0123456789abcdef","run":"k8sbench-cmp-made"}');
  });

  test('are the same of a log written by other hands', async () => {
    const text = madeLog(made);
    const [samples] = await rowsOf(text);
    const spaced = sessionLines(made).map((line) => Object.assign({ t: line['t'], note: ' ' }, line));
    const [others] = await rowsOf(sealed(spaced));
    expect(parsed(others)).toEqual(parsed(samples).map((one) => Object.assign({ note: ' ' }, one)));
    const ordered = sealed(sessionLines(made)).replace(
      /^\{"t":"sample","seq":(\d+),(.*)\}$/gm,
      '{ "seq":$1,$2,"t":"sample" } ',
    );
    const session = new Session('x');
    const rows = new Rows(false);
    const parts = async function* () {
      yield new TextEncoder().encode(ordered);
    };
    let found = '';
    for await (const _ of readSession(parts(), session, rows)) found += Buffer.from(rows.take()).toString();
    expect(parsed(found)).toEqual(parsed(samples));
  });

  test("a workload's own version and run move aside", async () => {
    const own = { ...made, sample: () => ({ version: 'mine', run: 'also mine' }) };
    const [samples] = await rowsOf(madeLog(own), true);
    expect(JSON.parse(samples.split('\n')[0]!)).toMatchObject({
      version: '0123456789abcdef',
      bench_version: 'mine',
      run: 'k8sbench-cmp-made',
      bench_run: 'also mine',
    });
    expect(JSON.parse(samples.split('\n')[1]!)).toMatchObject({ target: 'sqlite', version: 'mine' });
  });

  test("a target's own commit is its version; no commit, no version", async () => {
    const [samples] = await rowsOf(
      madeLog({
        facts: { commit: '' },
        targets: [
          { name: 'old', role: 'reference' },
          { name: 'new', role: 'candidate', commit: 'fedcba' },
          { name: 'newer', role: 'candidate' },
        ],
      }),
    );
    const versions = parsed(samples).map((one) => (one as { version?: string }).version);
    expect(versions.slice(0, 3)).toEqual([undefined, 'fedcba', undefined]);
  });
});
