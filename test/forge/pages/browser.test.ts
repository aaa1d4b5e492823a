import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, startEmbedded } from '../../support/contract-forge.ts';
import { follow } from '../../support/follow.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

const program = '/usr/bin/chromium';
const hasBrowser = existsSync(program);
const browserTitle = `in a browser without scripts${hasBrowser ? '' : ` (left out: there is no ${program})`}`;

describe('the delivery history of a hook', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let receiver: HookReceiver;
  let ada: Account;
  let reader: Account;
  let repository: string;
  let history: string;
  let isWell = false;
  beforeAll(async () => {
    forge = await startEmbedded();
    receiver = await startReceiver(() =>
      isWell ? { status: 200, body: 'now I have it' } : { status: 500, body: 'not today' },
    );
    [ada, reader] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    repository = await forge.makeRepository(ada);
    const config = { url: receiver.url, content_type: 'json' };
    const body = { type: 'gitea', config, events: ['issues'], active: true };
    const hook = await forge.ask('POST', `/repos/${repository}/hooks`, { as: ada, body });
    await forge.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: 'heard of' } });
    await forge.forge.deliveries.idle();
    history = `${forge.url}/${repository}/settings/hooks/${hook.json.id}`;
  });
  afterAll(async () => {
    await forge.close();
    await receiver.close();
  });

  const read = async (path: string, as: Account) =>
    (await fetch(path, { headers: basic(as.name, as.password) })).text();
  const formOf = (text: string) => ({
    action: /action="([^"]+)"/.exec(text)?.[1] ?? '',
    mark: /name="mark" value="([^"]+)"/.exec(text)?.[1] ?? '',
  });
  const send = (action: string, mark: string, as: Account, headers: Record<string, string> = {}) =>
    fetch(`${forge.url}${action}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...basic(as.name, as.password), ...headers },
      body: new URLSearchParams({ mark }),
    });

  it('does not redeliver for a form without a valid CSRF token', async () => {
    const { action, mark } = formOf(await read(history, ada));
    const before = receiver.received.length;

    const answers = [
      await send(action, '', ada),
      await send(
        action,
        mark.replace(/^./, (sign) => (sign === '0' ? '1' : '0')),
        ada,
      ),
      await send(action, mark, ada, { 'sec-fetch-site': 'cross-site' }),
      await send(action, mark, { ...ada, name: 'root', password: 'correct horse' }),
      await send(action, mark, reader),
    ];

    await forge.forge.deliveries.idle();
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 404]);
    expect(receiver.received.length).toBe(before);
  });

  describe.skipIf(!hasBrowser)(browserTitle, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
    });
    afterAll(() => browser.close());

    it('shows failed deliveries, and redelivers with a button', async () => {
      const person = await browser.newContext({
        javaScriptEnabled: false,
        httpCredentials: { username: ada.name, password: ada.password },
      });
      const page = await person.newPage();
      // A busy machine makes every step slow.
      page.setDefaultTimeout(240_000);
      const refused: string[] = [];
      page.on('console', (message) => refused.push(message.text()));
      await page.goto(forge.url);
      await follow(page.getByRole('link', { name: repository }));
      await follow(page.getByRole('link', { name: 'Hooks' }));
      await follow(page.getByRole('link', { name: receiver.url }));
      expect(await page.locator('article').allInnerTexts()).toEqual([
        expect.stringMatching(/issues: failed\s+500/),
      ]);
      await page.getByText('Request and answer').click();
      // The receiver is at an address that is not public, and only site administrators see its answer.
      await page.getByText('Only site administrators see the answer').waitFor({ state: 'visible' });
      expect(await page.getByText('not today').count()).toBe(0);
      isWell = true;

      await follow(page.getByRole('button', { name: 'Send again' }));

      await forge.forge.deliveries.idle();
      await page.reload();
      const [again, first] = await page.locator('article').allInnerTexts();
      expect(page.url()).toBe(history);
      expect(again).toMatch(/issues: delivered\s+200.*Sent again: repeats/s);
      expect(first).toMatch(/issues: failed\s+500/);
      expect(receiver.received.at(-1)?.body).toBe(receiver.received[0]?.body);
      expect(refused).toEqual([]);
      await person.close();
    });

    it('has styles, but no scripts and no external resources, like the other pages', async () => {
      const person = await browser.newContext({
        httpCredentials: { username: 'root', password: 'correct horse' },
      });
      const page = await person.newPage();
      // A busy machine makes every step slow.
      page.setDefaultTimeout(240_000);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).origin));
      for (const path of ['/', `/${repository}`, '/-/admin/actions/runners', '/api/swagger']) {
        const answer = await page.goto(`${forge.url}${path}`);
        expect([path, answer?.status(), await page.locator('script').count()]).toEqual([path, 200, 0]);
        expect(await page.locator('h1').innerText()).not.toBe('');
      }
      expect(new Set(asked)).toEqual(new Set([forge.url]));
      await person.close();
    });
  });
});
