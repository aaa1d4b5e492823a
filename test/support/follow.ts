import type { Locator } from 'playwright-core';

/**
 * Clicks a link or button that leads to another page, and returns once that page is loaded. `click` alone may return
 * while it is under way, on a busy machine.
 */
export async function follow(target: Locator): Promise<void> {
  await Promise.all([target.page().waitForEvent('load'), target.click()]);
}
