import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
      await browser.close();
      site.close();

      expect(found).toEqual({});
      expect(first).toContain('dismiss-stale-reviews');
      expect(asked.filter((url) => !url.startsWith(`${site.url}/`))).toEqual([]);
    },
  );
});
