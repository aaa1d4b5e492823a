import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { systemClock } from '../src/platform/clock.ts';
import { dashboardPassword, makeDashboardApp } from '../test/support/dashboard-app.ts';
import { exampleData, exampleNow, fillExample } from '../test/support/example-dashboard.ts';
import { makeStore } from '../test/support/make-store.ts';

/**
 * `npm run screenshots`: creates the screenshots of the dashboard in docs/images/ from an example installation. `--
 * --all --to DIR`: every page at 360, 768 and 1280 px, light and dark, for visual inspection.
 */
const { values } = parseArgs({
  options: { all: { type: 'boolean', default: false }, to: { type: 'string', default: 'docs/images' } },
});

type Picture = {
  readonly name: string;
  readonly path: string;
  readonly width: number;
  readonly scheme: 'light' | 'dark';
};

const made = await makeStore({ clock: { ...systemClock, now: () => exampleNow } });
const { paths } = await fillExample(made.store);
const app = makeDashboardApp(made.store, { dashboardData: exampleData(made.store) }, () => exampleNow);
await app.listen({ port: 0, host: '127.0.0.1' });
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Password').fill(dashboardPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await mkdir(values.to, { recursive: true });
  for (const { name, path, width, scheme } of values.all ? everyPicture() : pictures()) {
    await page.setViewportSize({ width, height: 820 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${url}${path}`);
    await page.screenshot({ path: join(values.to, `${name}.png`), fullPage: values.all });
  }
} finally {
  await browser.close();
  await app.close();
  await made.close();
}

/** Returns the screenshots of the documentation. */
function pictures(): readonly Picture[] {
  return [
    { name: 'dashboard', path: '/', width: 1280, scheme: 'light' },
    { name: 'dashboard-dark', path: '/', width: 1280, scheme: 'dark' },
    { name: 'deliveries', path: '/deliveries', width: 1280, scheme: 'light' },
    { name: 'deliveries-narrow', path: '/deliveries', width: 360, scheme: 'light' },
  ];
}

function everyPicture(): readonly Picture[] {
  return paths.flatMap((path) =>
    [360, 768, 1280].flatMap((width) =>
      (['light', 'dark'] as const).map((scheme) => ({
        name: `${path.replaceAll(/\W+/g, '-').replace(/^-/, '') || 'overview'}-${width}-${scheme}`,
        path,
        width,
        scheme,
      })),
    ),
  );
}
