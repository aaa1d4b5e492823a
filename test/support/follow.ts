import type { Locator } from 'playwright-core';

/**
 * Clicks a link or button that leads to another page, and returns once that page is loaded. On a busy machine, `click`
 * alone may return earlier.
 */
export async function follow(target: Locator): Promise<void> {
  await Promise.all([target.page().waitForEvent('load'), target.click()]);
}
