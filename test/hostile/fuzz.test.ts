/** Some hundreds of mutated inputs for each reader, the same each time; `main.ts` runs ten thousand, with seeds of the day. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Campaign, campaign, inParallel } from './campaign.ts';
import { READERS } from './readers.ts';

const SEED = 1;
const INPUTS = 300;

const names = Object.keys(READERS);
const campaigns = new Map<string, Campaign>();
beforeAll(async () => {
  const all = await inParallel(
    names.map((name) => () => campaign(name, SEED, INPUTS)),
    2,
  );
  for (const one of all) campaigns.set(one.reader, one);
}, 300_000);

describe.each(names)('%s', (name) => {
  test(`${INPUTS} inputs: no stack, no hang, no wrong success, nothing half-written`, () => {
    const { inputs, problem, violations } = campaigns.get(name)!;
    expect({ inputs, problem, violations: violations.slice(0, 5) }).toEqual({
      inputs: INPUTS,
      problem: undefined,
      violations: [],
    });
  });

  test('inputs that are refused, and inputs that are taken', () => {
    const { exits } = campaigns.get(name)!;
    // Every input of some readers is refused: what `plan` wrote, and what pod takes but can't begin.
    expect((exits['1'] ?? 0) + (exits['2'] ?? 0)).toBeGreaterThan(0);
    if (!/^(plan|values|profile)\.json$|^compact-plan$/.test(name))
      expect(exits['0'] ?? 0).toBeGreaterThan(0);
  });
});
