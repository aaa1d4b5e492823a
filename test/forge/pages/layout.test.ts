import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, visualRules } from '../../support/axe.ts';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';
import { isThorough } from '../../support/figure.ts';
import { follow } from '../../support/follow.ts';
import { cloneRepository } from '../../support/git-client.ts';

const program = '/usr/bin/chromium';
const hasBrowser = existsSync(program);
const looks = [
  { width: 360, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;
const hostile = `<img src=x onerror=alert(1)>`;

describe.runIf(isThorough && hasBrowser)("the layout of the forge's pages", () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let browser: Browser;
  let ada: Account;
  let paths: readonly string[];

  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
    const name = 'x'.repeat(90);
    const repository = await forge.makeRepository(ada, {
      name,
      auto_init: true,
      description: hostile.repeat(9),
    });
    const empty = await forge.makeRepository(ada);
    const send = async (path: string, body: object) =>
      (await forge.ask('POST', `/repos/${repository}${path}`, { as: ada, body })).json;
    await send('/labels', { name: 'l'.repeat(50), color: '#00ff00' });
    const label = await send('/labels', { name: '<b>bold</b>', color: '#000000' });
    await send('/issues', {
      title: `${hostile}${'t'.repeat(200)}`,
      body: 'w'.repeat(3_000),
      labels: [label.id],
    });
    const url = new URL(`${forge.url}/${repository}.git`);
    Object.assign(url, { username: ada.name, password: ada.password });
    const clone = await cloneRepository(url.href);
    const branch = "feature/it's-<new>";
    await clone.git('checkout', '--quiet', '-b', branch);
    writeFileSync(join(clone.folder, 'big.txt'), 'line\n'.repeat(1_000_000));
    writeFileSync(join(clone.folder, 'binary.bin'), Buffer.from([0, 255, 0]));
    const sha = await clone.commit(
      { [`${hostile}.txt`]: 'ü\n', 'min.js': 'a'.repeat(100_000), 'README.md': '# Changed\n' },
      `${hostile} ${'s'.repeat(300)}\n\nbody`,
    );
    await clone.git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
    clone.remove();
    const pull = await send('/pulls', { title: hostile, head: branch, base: 'main' });
    await send(`/statuses/${sha}`, {
      state: 'failure',
      context: 'c'.repeat(90),
      target_url: 'javascript:alert(1)',
    });
    const config = { url: `http://127.0.0.1:9/${'h'.repeat(150)}`, content_type: 'json' };
    const hook = await send('/hooks', { type: 'gitea', config, events: ['issues'], active: true });
    const home = `/${repository}`;
    const at = `branch/${branch.split('/').map(encodeURIComponent).join('/')}`;
    paths = [
      '/',
      `/${ada.name}`,
      `/${empty}`,
      `/${empty}/issues`,
      home,
      `${home}/src/${at}`,
      ...['big.txt', 'binary.bin', 'min.js', encodeURIComponent(`${hostile}.txt`)].map(
        (file) => `${home}/src/${at}/${file}`,
      ),
      `${home}/commits/${at}`,
      `${home}/commit/${sha}`,
      `${home}/branches`,
      `${home}/tags`,
      `${home}/issues`,
      `${home}/issues/1`,
      `${home}/pulls`,
      `${home}/pulls/${pull.number}`,
      `${home}/pulls/new/${at.slice('branch/'.length)}`,
      `${home}/releases`,
      `${home}/settings/hooks`,
      `${home}/settings/hooks/${hook.id}`,
      `${home}/settings/branches`,
    ];
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await forge?.close();
  });

  it('fits 360 and 1280 px, executes no text as code, passes axe, and has no broken links', async () => {
    const person = await browser.newContext({
      httpCredentials: { username: ada.name, password: ada.password },
    });
    const page = await person.newPage();
    // A busy machine makes every step slow.
    page.setDefaultTimeout(240_000);
    const found: string[] = [];
    page.on('console', (message) => found.push(`${page.url()}: ${message.text()}`));
    page.on('dialog', (dialog) => found.push(`${page.url()}: ${dialog.message()}`));
    const links = new Set<string>();
    for (const path of paths) {
      const answer = await page.goto(`${forge.url}${path}`);
      if (answer?.status() !== 200) found.push(`${path}: status ${answer?.status()}`);
      if ((await page.locator('img, script').count()) > 0) found.push(`${path}: an element of a text`);
      const linked = await page.$$eval('a[href]', (all) => all.map((a) => (a as HTMLAnchorElement).href));
      for (const link of linked) links.add(link.split('#', 1)[0] ?? link);
      for (const { width, colorScheme } of looks) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) found.push(`${path}: ${wide} px in a window of ${width} px`);
        for (const fault of await axeViolations(page, width === 360 ? undefined : visualRules))
          found.push(`${path}, ${width} px: ${fault}`);
      }
    }
    for (const link of links) {
      if (link.startsWith('javascript:')) found.push(link);
      if (!link.startsWith(`${forge.url}/`)) continue;
      const answer = await page.request.get(link);
      if (answer.status() !== 200) found.push(`${link}: status ${answer.status()}`);
    }

    expect(found).toEqual([]);
    expect(links.size).toBeGreaterThan(40);
    await person.close();
  });

  it('opens a pull request on the page that git prints after a push', async () => {
    const person = await browser.newContext({
      javaScriptEnabled: false,
      httpCredentials: { username: ada.name, password: ada.password },
    });
    const page = await person.newPage();
    // A busy machine makes every step slow.
    page.setDefaultTimeout(240_000);
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const body = { content: '', message: 'feat: x', new_branch: 'topic/x' };
    await forge.ask('POST', `/repos/${repository}/contents/x`, { as: ada, body });
    await page.goto(`${forge.url}/${repository}/pulls/new/topic/x`);

    await follow(page.getByRole('button', { name: 'Create pull request' }));

    expect(page.url()).toBe(`${forge.url}/${repository}/pulls/1`);
    expect(await page.locator('h1').innerText()).toBe('#1 feat: x');
    expect(await page.locator('.add').count()).toBe(0);
    await page.goto(`${forge.url}/${repository}/pulls/new/topic/x`);
    expect(await page.getByRole('link', { name: 'pull request #1' }).count()).toBe(1);
    await person.close();
  });
});
