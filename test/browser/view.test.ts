/** Pages in a real browser: what they draw, say, ask for, and who can use them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { main as view } from '../../tools/view/main.ts';
import { runTool } from '../outside.ts';
import { drawAll, launch, open } from './browser.ts';
import { FOUR, historyOf, HOSTILE, NODE_TYPE, noisy, renamed, runOf, sessionsOf } from './made-runs.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-browser-'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pages: Record<string, string> = {};
let browser: Browser;

const pageOf = async (run: string): Promise<string> => {
  const { exit, stdout } = await runTool(view, ['--run', run]);
  expect([exit, stdout]).toEqual([0, `${run}\n`]);
  return join(run, 'report.html');
};

beforeAll(async () => {
  const at = (name: string): string => join(scratch, name, 'run');
  pages['judged'] = await pageOf(await runOf(at('judged'), noisy({ targets: FOUR })));
  pages['refused'] = await pageOf(await runOf(at('refused'), noisy({}, 0.4)));
  pages['sessions'] = await pageOf(await sessionsOf(at('sessions'), 3));
  pages['calibration'] = await pageOf(await runOf(at('calibration'), noisy({ mode: 'calibrate' })));
  const hostile = noisy({
    facts: { node: HOSTILE, cpuModel: HOSTILE, kernel: HOSTILE, versions: { [HOSTILE]: HOSTILE } },
  });
  pages['hostile'] = await pageOf(
    renamed(await runOf(at('hostile'), hostile), { journal: `${HOSTILE}1`, sqlite: `${HOSTILE}2` }),
  );
  const track = join(scratch, 'track.jsonl');
  writeFileSync(track, historyOf(40) + historyOf(3, HOSTILE));
  const changes = join(scratch, 'changes.jsonl');
  const beside = { commit: HOSTILE, at: '2026-01-20T00:00:00.000Z', ratio: 0.8 };
  const change = {
    format: 'change/1',
    rule: 'store',
    turns: 50,
    metric: 'warm',
    nodeType: NODE_TYPE,
    order: 'time',
    before: { ...beside, run: 'k8sbench-cmp-made-19' },
    after: { ...beside, run: 'k8sbench-cmp-made-20', ratio: 0.9 },
    step: 1.125,
    p: 0.001,
    runs: 40,
  };
  writeFileSync(changes, `${JSON.stringify(change)}\n`);
  expect((await runTool(view, ['--track', track, '--changes', changes])).exit).toBe(0);
  pages['history'] = join(scratch, 'track.html');
  mkdirSync(at('trials'), { recursive: true });
  copyFileSync(
    join(import.meta.dir, '../../fixtures/schemas/trials-score/valid.json'),
    join(at('trials'), 'trials-score.json'),
  );
  pages['trials'] = await pageOf(at('trials'));
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const NAMES = ['judged', 'refused', 'sessions', 'calibration', 'hostile', 'history', 'trials'];

/** What axe finds of serious and critical faults, in words. */
const faults = async (page: Awaited<ReturnType<typeof open>>['page']): Promise<string[]> => {
  // An image's parts are nobody's to read; thousands of dots would only keep axe busy.
  await page.evaluate('for (const one of document.querySelectorAll("svg[role=img]")) one.replaceChildren()');
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    passes: unknown[];
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  expect(found.passes.length).toBeGreaterThan(10);
  return found.violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes[0]!.html} ${one.nodes[0]!.failureSummary}`);
};

describe.each(NAMES)('the page of %s', (name) => {
  test.each(['light', 'dark'] as const)(
    'is drawn, quiet, asks for nothing and has no serious fault: %s',
    async (colorScheme) => {
      const { page, said, asked } = await open(browser, pages[name]!, { colorScheme });
      await drawAll(page, 'section:first-of-type > figure:nth-of-type(-n + 2) details');
      const figures = await page.locator('figure').count();
      expect(figures).toBeGreaterThan(0);
      expect(await page.locator('figure:has(.canvas svg[role=img])').count()).toBe(figures);
      expect(await page.locator('figure table').count()).toBeGreaterThan(0);
      expect(await faults(page)).toEqual([]);
      expect({ said, asked }).toEqual({ said: [], asked: [] });
      expect(await page.evaluate('window.hostile')).toBeUndefined();
      expect(await page.locator('img').count()).toBe(0);
      await page.context().close();
    },
  );

  test('fits a phone, and nothing on it moves by itself', async () => {
    const { page } = await open(browser, pages[name]!, {
      viewport: { width: 360, height: 740 },
      reducedMotion: 'reduce',
    });
    await drawAll(page, 'figure details');
    const figures = await page.locator('figure').count();
    expect(await page.locator('figure:has(table tbody tr)').count()).toBe(figures);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.documentElement).scrollBehavior')).toBe('auto');
    await page.context().close();
  });

  test('prints everything that stands open', async () => {
    const { page } = await open(browser, pages[name]!);
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
    const [drawn, visible] = (await page.evaluate(
      '(() => { const all = [...document.querySelectorAll("figure")].filter((one) => one.checkVisibility()); return [all.filter((one) => one.querySelector(".canvas.drawn")).length, all.length]; })()',
    )) as number[];
    expect(drawn).toBe(visible!);
    await page.context().close();
  });
});

test('the keyboard reaches every control and opens tables', async () => {
  const { page } = await open(browser, pages['judged']!);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the result');
  const reached = new Set<string>();
  const [buttons, links, summaries] = await Promise.all(
    ['button', 'a[href]', 'main > section > figure summary, details.metric > summary'].map((one) =>
      page.locator(one).count(),
    ),
  );
  for (let at = 0; at < buttons! + links! + 3 * summaries! + 60; at++) {
    await page.keyboard.press('Tab');
    reached.add(
      String(
        await page.evaluate(
          '(() => { const one = document.activeElement; one.dataset.reached ??= String(Math.random()); return one.tagName; })()',
        ),
      ),
    );
  }
  for (const tag of ['BUTTON', 'A', 'SUMMARY', 'DIV']) expect(reached).toContain(tag);
  expect(await page.locator('details.metric > summary:not([data-reached])').count()).toBe(0);
  const summary = page.locator('figure summary').first();
  await summary.focus();
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
  await page.keyboard.press('Enter');
  await page.locator('figure').first().locator('table').waitFor();
  await page.context().close();
}, 60_000);

test('the data downloads as it is embedded', async () => {
  const { page } = await open(browser, pages['judged']!);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the data (JSON)' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('k8sbench-cmp-made.json');
  const data = JSON.parse(readFileSync(await download.path(), 'utf8'));
  expect(data).toEqual(JSON.parse((await page.locator('#data').textContent())!));
  expect(data.format).toBe('report/1');
  expect(data.analysis).toEqual(JSON.parse(readFileSync(join(pages['judged']!, '../analysis.json'), 'utf8')));
  expect(data.series).toHaveLength(4);
  await page.context().close();
});

test('what is pointed at is named', async () => {
  const { page } = await open(browser, pages['history']!);
  const box = (await page.locator('figure svg[role=img]').first().boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const tip = page.locator('figure svg[role=img] [aria-label=tip] text').first();
  await tip.waitFor();
  expect(await page.locator('#h0 ~ figure svg[role=img]').first().textContent()).toContain('▼ +12.5 %');
  expect(await tip.textContent()).toMatch(/ratio 0\.\d+.*commit 00000010[0-9a-f]{2}.*k8sbench-cmp-made-/s);
  await page.context().close();
});

test('words come first: conclusions, or why there are none and what to do', async () => {
  const texts: Record<string, string> = {};
  for (const name of ['judged', 'refused', 'sessions', 'calibration']) {
    const { page } = await open(browser, pages[name]!);
    texts[name] = (await page.locator('main').innerText()).slice(0, 1500);
    await page.context().close();
  }
  const sentence = JSON.parse(readFileSync(join(pages['judged']!, '../analysis.json'), 'utf8')).conclusions[0]
    .sentence;
  expect(texts['judged']).toContain(sentence);
  expect(texts['judged']).toContain('▲ faster');
  expect(texts['refused']).toMatch(/^Not judged\s+Why\s+[^]*the limit is 5%[^]*What to do/);
  expect(texts['sessions']!.match(/session 'node-\d'/g)!.length).toBeGreaterThan(2);
  expect(texts['calibration']).toStartWith('Calibrated: within the limit');
});

test('12 rounds at three sizes stay under 1.5 MB', async () => {
  const made = noisy({ targets: FOUR, turns: [50, 500, 3500] });
  const file = await pageOf(await runOf(join(scratch, 'three/run'), made));
  expect(statSync(file).size).toBeLessThan(1.5e6);
});

test('a page of 1,000 rounds opens', async () => {
  const run = await runOf(join(scratch, 'long/run'), noisy({ rounds: 1000, targets: FOUR }));
  const { page, said, openedMs } = await open(browser, await pageOf(run));
  console.log(
    `a page of 1,000 rounds: ${Math.round(openedMs)} ms, ${Math.round(statSync(join(run, 'report.html')).size / 1000)} kB`,
  );
  await drawAll(page, 'nothing');
  expect(said).toEqual([]);
  expect(
    await page.locator('figure').nth(1).locator('svg[role=img] :is(path, circle)').count(),
  ).toBeGreaterThan(2900);
  await page.context().close();
}, 120_000);
