/** A real browser, headless, that reports what a page says and asks for. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const found = (): string | undefined =>
  [process.env['K8SBENCH_TEST_CHROMIUM'], ...PATHS].find((path) => path !== undefined && existsSync(path));

/** The browser's path; installed with apt as root where there is none. */
const program = (): string => {
  const there = found();
  if (there !== undefined) return there;
  if (process.getuid?.() === 0)
    Bun.spawnSync(['apt-get', 'install', '-y', '--no-install-recommends', 'chromium'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const installed = found();
  if (installed !== undefined) return installed;
  throw new Error("no browser: 'apt-get install chromium', or name one with K8SBENCH_TEST_CHROMIUM=PATH");
};

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: program(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

export interface Seen {
  page: Page;
  /** Console messages and uncaught errors. */
  said: string[];
  /** Requests other than for the page itself. */
  asked: string[];
  /** From the request to the first figures that are drawn, ms. */
  openedMs: number;
}

/** Opens a file and waits for its script. */
export const open = async (
  browser: Browser,
  file: string,
  options: BrowserContextOptions = {},
): Promise<Seen> => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const seen: Seen = { page, said: [], asked: [], openedMs: 0 };
  page.on('console', (message) => seen.said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => seen.said.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    if (request.url() !== `file://${file}`) seen.asked.push(request.url());
  });
  const from = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  await page.locator('figure').first().scrollIntoViewIfNeeded();
  await page.waitForSelector('.canvas.drawn', { state: 'attached' });
  seen.openedMs = performance.now() - from;
  return seen;
};

/** Draws everything: opens every metric, brings each figure to the window once; opens the tables that a selector names. */
export const drawAll = async (page: Page, tables: string): Promise<void> => {
  await page.getByRole('button', { name: 'Open all metrics' }).click();
  await page.evaluate(
    `(async (tables) => {
      for (const figure of document.querySelectorAll('figure')) {
        figure.scrollIntoView();
        while (!figure.querySelector('.canvas.drawn')) await new Promise(requestAnimationFrame);
      }
      for (const one of document.querySelectorAll(tables)) one.open = true;
      await new Promise((resolve) => setTimeout(resolve, 100));
    })(${JSON.stringify(tables)})`,
  );
};
