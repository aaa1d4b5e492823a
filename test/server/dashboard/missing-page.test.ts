import { describe, expect, it } from 'vitest';
import { serveDashboard } from '../../support/serve-dashboard.ts';

const dashboard = serveDashboard();
const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('an unknown path', () => {
  it('gets a page in the layout, with 404 and the navigation of a signed-in viewer', async () => {
    const { status, text } = await dashboard.operator.get('/no-such-page/at/all', asBrowser);

    expect(status).toBe(404);
    expect(text).toContain('<h1>Not found</h1>');
    expect(text).toContain('<a href="../../deliveries"');
    expect(text).toContain('href="../../assets/dashboard.css"');
  });

  it('gets the same page without navigation if the viewer is anonymous', async () => {
    const answer = await fetch(`${dashboard.url}/no-such-page`, { headers: asBrowser });

    expect(answer.status).toBe(404);
    const text = await answer.text();
    expect(text).toContain('<h1>Not found</h1>');
    expect(text).not.toContain('<nav');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('tells other programs where webhooks go, whatever they send', async () => {
    const post = await fetch(`${dashboard.url}/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    const get = await fetch(`${dashboard.url}/favicon.ico`);

    for (const answer of [post, get]) {
      expect(answer.status).toBe(404);
      expect(await answer.text()).toBe('404: there is nothing at this path; webhooks go to POST /webhook\n');
    }
  });

  it('and a page that the viewer may not see look alike', async () => {
    const unknown = await dashboard.operator.get('/no/page', asBrowser);
    const hidden = await dashboard.operator.get('/runs/x', asBrowser);

    const main = (text: string): string | undefined => /<main.*<\/main>/s.exec(text)?.[0];
    expect(hidden.status).toBe(unknown.status);
    expect(main(hidden.text)).toBe(main(unknown.text));
  });
});
