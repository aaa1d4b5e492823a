import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { axeViolations } from './support/axe.ts';
import { isThorough } from './support/figure.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = '/usr/bin/chromium';
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.png': 'image/png',
};

/** Serves the built site on a free port. */
async function serveSite(): Promise<{ url: string; close(): void }> {
  const server = createServer(({ url = '/' }, answer) => {
    const path = `${root}site/dist${new URL(url, 'http://site').pathname}`;
    if (!existsSync(path)) return void answer.writeHead(404).end();
    answer.writeHead(200, { 'content-type': contentTypes[extname(path)] ?? 'application/octet-stream' });
    answer.end(readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

describe.skipIf(!isThorough)('the documentation site', () => {
  it('builds without dead links, and no page loads anything from another host', async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', 'site'], {
      cwd: root,
      maxBuffer: 64 * 2 ** 20,
    });

    expect(Number(/^(\d+) pages in site\/dist$/m.exec(stdout)?.[1])).toBeGreaterThan(100);
  });

  it.skipIf(!existsSync(program))(
    'cuts no code block at 1280 pixels, and no page is wider than a window of 1280 or 390 pixels',
    async () => {
      const site = await serveSite();
      const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
      const page = await browser.newPage();
      page.setDefaultTimeout(240_000);
      const pages = readdirSync(`${root}site/dist`, { recursive: true, encoding: 'utf8' }).filter(
        // The pages of the reference have one form.
        (path) => path.endsWith('.html') && !/^(?:404|reference\/(?:facts|objects|functions)\/)/.test(path),
      );

      const found: string[] = [];
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        for (const path of pages) {
          await page.goto(`${site.url}/${path}`, { waitUntil: 'domcontentloaded' });
          const { wide, cut } = await page.evaluate(() => ({
            wide: document.documentElement.scrollWidth,
            cut: [...document.querySelectorAll('.vp-doc pre')].filter(
              (pre) => pre.scrollWidth > pre.clientWidth,
            ).length,
          }));
          if (wide > width || (width === 1280 && cut > 0))
            found.push(`${path} at ${width}: ${wide} px, ${cut} cut`);
        }
      }
      await browser.close();
      site.close();

      expect(pages.length).toBeGreaterThan(100);
      expect(found).toEqual([]);
    },
  );

  it.skipIf(!existsSync(program))(
    'passes axe, fits each width, finds a search term, and sends no request to another host',
    async () => {
      const site = await serveSite();
      const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
      const page = await browser.newPage();
      // Every step is slow on a busy machine.
      page.setDefaultTimeout(240_000);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));

      const found: Record<string, unknown> = {};
      for (const path of ['/index.html', '/rules.html', '/reference/actions/set-labels.html'])
        for (const colorScheme of ['light', 'dark'] as const)
          for (const width of [360, 1280]) {
            await page.setViewportSize({ width, height: 800 });
            await page.emulateMedia({ colorScheme });
            await page.goto(`${site.url}${path}`);
            const violations = await axeViolations(page);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            if (violations.length > 0 || wide > width)
              found[`${path}, ${width} px, ${colorScheme}`] = { violations, wide };
          }
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('searchbox').fill('dismiss-stale-reviews');
      const first = await page.locator('a.result').first().getAttribute('href');
      const beforeGuides: Record<string, readonly string[]> = {};
      for (const term of ['merge queue', 'labels', 'postgresql', 'branch protection']) {
        await page.getByRole('searchbox').fill(term);
        await page.waitForTimeout(2_000);
        const hrefs = await page
          .locator('a.result')
          .evaluateAll((links) => links.slice(0, 5).map((link) => link.getAttribute('href') ?? ''));
        const internal = hrefs.filter((href) => /\/(?:decisions|operations|conformance)\./.test(href));
        if (internal.length > 0 || hrefs.length === 0) beforeGuides[term] = hrefs;
      }
      await browser.close();
      site.close();

      expect(found).toEqual({});
      expect(first).toContain('dismiss-stale-reviews');
      expect(beforeGuides).toEqual({});
      expect(asked.filter((url) => !url.startsWith(`${site.url}/`))).toEqual([]);
    },
  );
});
