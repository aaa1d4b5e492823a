import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { axeViolations, visualRules } from '../../support/axe.ts';
import { dashboardPassword, makeDashboardApp } from '../../support/dashboard-app.ts';
import { exampleData, exampleNow, fillExample } from '../../support/example-dashboard.ts';
import { isThorough } from '../../support/figure.ts';
import { follow } from '../../support/follow.ts';
import { makeStore } from '../../support/make-store.ts';

const program = '/usr/bin/chromium';
const hasBrowser = existsSync(program);
const title = `the layout of the pages${hasBrowser ? '' : ` (left out: there is no ${program})`}`;
const widths = [360, 768, 1280] as const;
const colorSchemes = ['light', 'dark'] as const;
/**
 * Widths and colour schemes in which each page is checked: all combinations in a thorough run, otherwise each width and
 * each colour scheme at least once.
 */
const looks = isThorough
  ? widths.flatMap((width) => colorSchemes.map((colorScheme) => ({ width, colorScheme })))
  : ([
      { width: 360, colorScheme: 'light' },
      { width: 768, colorScheme: 'light' },
      { width: 1280, colorScheme: 'dark' },
    ] as const);

/** Returns the ids on a page that wrap onto several lines: deliveries, UUIDs, commits, `acme/shop#7`, `file.yml:3`. */
function brokenIds(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const id =
      /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{10,40}\b|acme\/[\w-]+(?:#\d+)?|#\d+|(?<![\w-])[\w-]{1,20}\.yml:\d+|\b\d+\b/g;
    const broken: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      // A payload is shown verbatim, with its own line breaks.
      if (node.parentElement?.closest('pre, option, title')) continue;
      for (const match of (node.nodeValue ?? '').matchAll(id)) {
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(match[0]);
      }
    }
    return broken;
  });
}

/** Returns table cells that are so narrow that words break into single letters. */
function narrowCells(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('td, dd')].flatMap((cell) => {
      const text = (cell.textContent ?? '').trim();
      const { width } = cell.getBoundingClientRect();
      return text.length > 8 && width > 0 && width < 40 ? [`${width} px: ${text.slice(0, 40)}`] : [];
    }),
  );
}

/** Returns the outermost element that is wider than the window. */
function widest(page: Page, width: number): Promise<string> {
  return page.evaluate((limit) => {
    const found = [...document.querySelectorAll('main *, header *')].find(
      (element) => element.getBoundingClientRect().right > limit && !element.closest('nav'),
    );
    return found?.outerHTML.slice(0, 200) ?? 'unknown';
  }, width);
}

describe.skipIf(!hasBrowser)(title, () => {
  let browser: Browser;
  let page: Page;
  let app: FastifyInstance;
  let made: Awaited<ReturnType<typeof makeStore>>;
  let url: string;
  let paths: readonly string[];
  const complaints: string[] = [];
  /** Every address that a page links to. */
  const links = new Set<string>();

  beforeAll(async () => {
    made = await makeStore({ clock: { ...systemClock, now: () => exampleNow } });
    ({ paths } = await fillExample(made.store));
    app = makeDashboardApp(made.store, { dashboardData: exampleData(made.store) }, () => exampleNow);
    await app.listen({ port: 0, host: '127.0.0.1' });
    url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
    page = await browser.newPage();
    // Every step is slow on a busy machine.
    page.setDefaultTimeout(240_000);
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${url}/sign-in`);
    await page.getByLabel('Password').fill(dashboardPassword);
    await follow(page.getByRole('button', { name: 'Sign in' }));
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await made?.close();
  });

  /** Returns the faults of the open page at a width and in a colour scheme. */
  async function findFaults({ width, colorScheme }: (typeof looks)[number]): Promise<readonly string[]> {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    // Narrow and wide windows hide different parts; apart from that, only colours and sizes differ. A normal run
    // applies all rules to the wide window only.
    const isWhole = isThorough ? width !== 768 && colorScheme === 'light' : width === 1280;
    // A normal run checks the colours at 360 and 1280 px.
    const isForAxe = isThorough || width !== 768;
    const faults = [
      ...(await brokenIds(page)).map((id) => `broken id ${id}`),
      ...(await narrowCells(page)),
      ...(isForAxe ? await axeViolations(page, isWhole ? undefined : visualRules) : []),
    ];
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) faults.push(`${wide} px wide: ${await widest(page, width)}`);
    return faults.map((fault) => `${width} px, ${colorScheme}: ${fault}`);
  }

  it(`fits ${widths.join(', ')} px, ${colorSchemes.join(' and ')}: no page is wider, no id breaks, axe finds nothing`, async () => {
    const found: Record<string, unknown> = {};
    for (const path of paths) {
      const answer = await page.goto(`${url}${path}`);
      const faults = answer?.status() === 200 ? [] : [`status ${answer?.status()}`];
      const linked = await page.$$eval('a[href]', (all) => all.map((a) => (a as HTMLAnchorElement).href));
      for (const link of linked) links.add(link.split('#', 1)[0] ?? link);
      for (const look of looks) faults.push(...(await findFaults(look)));
      if (faults.length > 0) found[path] = faults;
    }

    expect(found).toEqual({});
  });

  it('every link from these pages to another page of Reeve works', async () => {
    const own = [...links].filter((link) => link.startsWith(`${url}/`));
    const wrong: string[] = [];
    for (const link of own) {
      const answer = await page.request.get(link);
      if (answer.status() !== 200) wrong.push(`${answer.status()} ${link}`);
    }

    expect(own.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });

  it('no page writes to the browser console', () => {
    expect(complaints).toEqual([]);
  });
});
