import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const library = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Rules of axe whose result depends on the width of the window or on the colours. All other rules depend only on the
 * elements.
 */
export const visualRules = [
  'color-contrast',
  'link-in-text-block',
  'scrollable-region-focusable',
  'target-size',
];

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/**
 * Returns the violations that axe finds on the page as it is displayed now, with all rules or only with the given ones.
 * Loads axe into the page once.
 */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(library);
  return page.evaluate(
    async (only) => {
      // The library registers itself as a global of the page.
      const { axe } = globalThis as unknown as { axe: Axe };
      const { violations } = await axe.run({
        resultTypes: ['violations'],
        ...(only && { runOnly: { type: 'rule', values: only } }),
      });
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
    },
    rules as string[] | undefined,
  );
}
