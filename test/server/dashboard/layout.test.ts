import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { axeViolations, visualRules } from '../../support/axe.ts';
import { dashboardPassword, makeDashboardApp } from '../../support/dashboard-app.ts';
import { exampleData, exampleNow, examplePages, fillExample } from '../../support/example-dashboard.ts';
import { isThorough } from '../../support/figure.ts';
import { follow } from '../../support/follow.ts';
import { makeStore } from '../../support/make-store.ts';

const program = '/usr/bin/chromium';
const hasBrowser = existsSync(program);
const title = `the layout of the pages${hasBrowser ? '' : ` (left out: there is no ${program})`}`;
type Look = { readonly width: number; readonly colorScheme: 'light' | 'dark' };
/**
 * Widths and colour schemes in which each page is checked: all combinations in a thorough run, otherwise a telephone
 * and a desktop, each in one colour scheme.
 */
const looks: readonly Look[] = isThorough
  ? [360, 390, 768, 1280].flatMap((width) =>
      (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
    )
  : [
      { width: 390, colorScheme: 'light' },
      { width: 1280, colorScheme: 'dark' },
    ];

/** Pages that do not exist in the installation in which they are checked. */
const missing = {
  full: ['an unknown path'],
  empty: ['an unknown path', 'a delivery', 'a run', 'a rule'],
} as const;

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
      (element) => element.getBoundingClientRect().right > limit,
    );
    return found?.outerHTML.slice(0, 200) ?? 'unknown';
  }, width);
}

describe.skipIf(!hasBrowser)(title, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());

  describe.each(['full', 'empty'] as const)('of an installation that is %s', (kind) => {
    let page: Page;
    let app: FastifyInstance;
    let made: Awaited<ReturnType<typeof makeStore>>;
    let url: string;
    /** Path of each page, by name. */
    let pages: Readonly<Record<string, string>>;
    const complaints: string[] = [];
    /** Every address that a page links to. */
    const links = new Set<string>();

    beforeAll(async () => {
      made = await makeStore({ clock: { ...systemClock, now: () => exampleNow } });
      pages = kind === 'full' ? await fillFull(made.store) : examplePages();
      const parts = kind === 'full' ? { dashboardData: exampleData(made.store) } : {};
      app = makeDashboardApp(made.store, parts, () => exampleNow);
      await app.listen({ port: 0, host: '127.0.0.1' });
      url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
      page = await browser.newPage();
      // Every step is slow on a busy machine.
      page.setDefaultTimeout(240_000);
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
    });
    afterAll(async () => {
      await page?.close();
      await app?.close();
      await made?.close();
    });

    /** Returns the faults of the open page at a width and in a colour scheme. */
    async function findFaults({ width, colorScheme }: Look): Promise<readonly string[]> {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      // Apart from colours and sizes, only the parts that are hidden differ: one window is checked with all rules.
      const isWhole = width === 1280 && (!isThorough || colorScheme === 'light');
      const faults = [
        ...(await brokenIds(page)).map((id) => `broken id ${id}`),
        ...(await narrowCells(page)),
        ...(await axeViolations(page, isWhole ? undefined : visualRules)),
      ];
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) faults.push(`${wide} px wide: ${await widest(page, width)}`);
      return faults.map((fault) => `${width} px, ${colorScheme}: ${fault}`);
    }

    /** Returns the faults of a page in all widths and colour schemes. */
    async function findPageFaults(name: string, path: string): Promise<readonly string[]> {
      const answer = await page.goto(`${url}${path}`);
      const expected = (missing[kind] as readonly string[]).includes(name) ? 404 : 200;
      const faults = answer?.status() === expected ? [] : [`status ${answer?.status()}`];
      const linked = await page.$$eval('a[href]', (all) => all.map((a) => (a as HTMLAnchorElement).href));
      for (const link of linked) {
        const [address = link] = link.split('#', 1);
        if (address !== page.url()) links.add(address);
      }
      for (const look of looks) faults.push(...(await findFaults(look)));
      return faults;
    }

    it('the page for signing in fits a telephone and a desktop, and axe finds nothing', async () => {
      expect(await findPageFaults('sign in', '/sign-in')).toEqual([]);
      await page.getByLabel('Password').fill(dashboardPassword);
      await follow(page.getByRole('button', { name: 'Sign in' }));
    });

    it('no page is wider than a telephone or a desktop, no id breaks, and axe finds nothing', async () => {
      const found: Record<string, unknown> = {};
      for (const [name, path] of Object.entries(pages)) {
        const faults = await findPageFaults(name, path);
        if (faults.length > 0) found[name] = faults;
      }

      expect(Object.keys(pages).length).toBeGreaterThanOrEqual(20);
      expect(found).toEqual({});
    });

    it('every link from these pages to another page of Reeve works', async () => {
      const own = [...links].filter((link) => link.startsWith(`${url}/`));
      const wrong: string[] = [];
      for (const link of own) {
        const answer = await page.request.get(link);
        if (answer.status() !== 200) wrong.push(`${answer.status()} ${link}`);
      }

      expect(own.length).toBeGreaterThan(kind === 'full' ? 40 : 15);
      expect(wrong).toEqual([]);
    });

    it('no page writes to the browser console', () => {
      // Chromium itself reports each page that is answered 404.
      const isOfMissing = /^Failed to load resource: the server responded with a status of 404/;
      expect(complaints.filter((text) => !isOfMissing.test(text))).toEqual([]);
      expect(complaints.length).toBe(missing[kind].length);
    });
  });
});

/** Fills a store with the example, and returns its pages; in a thorough run, also deliveries and runs of each outcome. */
async function fillFull(store: Store): Promise<Readonly<Record<string, string>>> {
  const { pages, paths } = await fillExample(store);
  return isThorough ? { ...Object.fromEntries(paths.map((path) => [path, path])), ...pages } : pages;
}
