import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';

describeContract('rendered markup', (forge) => {
  let ada: Account;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    repository = await forge.makeRepository(ada, { auto_init: true });
  });

  const render = (path: string, body: object) => forge.ask('POST', path, { as: ada, body });

  it('from Markdown is HTML', async () => {
    const Text =
      '# One\n\n*a* **b** ~~c~~ `d` [e](http://example.org/)\n\n- [x] f\n\n| g |\n|--|\n| h |\n\n> i';
    const { status, headers, text } = await render('/markdown', { Text });

    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const part of [
      'One</h1>',
      '<em>a</em> <strong>b</strong> <del>c</del> <code>d</code>',
      '<a href="http://example.org/" rel="nofollow">e</a>',
      'type="checkbox"',
      '<td>h</td>',
      '<blockquote>',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('from a raw body is HTML, for any content type', async () => {
    for (const type of ['text/plain', 'application/json', 'text/markdown']) {
      const headers = { 'content-type': type };
      const answer = await forge.ask('POST', '/markdown/raw', { as: ada, headers, body: '**raw**' });

      expect([type, answer.status, answer.text.trim()]).toEqual([
        type,
        200,
        '<p dir="auto"><strong>raw</strong></p>',
      ]);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
  });

  it('from a comment has line breaks, mentions, issue references and links into the repository', async () => {
    const Text = `one\ntwo @${ada.name} @no-such-account #1 http://example.org/x [three](b.md)`;
    const { text } = await render('/markdown', { Text, Mode: 'comment', Context: repository });

    expect(text).toMatch(/one<br ?\/>/);
    expect(text).toMatch(new RegExp(`<a href="${forge.url}/${ada.name}"[^>]*>@${ada.name}</a>`));
    expect(text).toMatch(new RegExp(`<a href="${forge.url}/${repository}/issues/1"[^>]*>#1</a>`));
    expect(text).toMatch(/<a href="http:\/\/example.org\/x"[^>]*>http/);
    expect(text).toContain(`href="${forge.url}/${repository}/b.md"`);
    expect(text).not.toMatch(/<a[^>]*>@no-such-account/);
  });

  it('from a file resolves relative links, and never outside the repository', async () => {
    const { text } = await render('/markup', {
      Text: '# One\n\n[a](b.md) [c](/d.md) ![e](f.png) [g](../../../../h)',
      Mode: 'file',
      Context: `${repository}/src/branch/main/docs`,
      FilePath: 'docs/a.md',
    });

    const home = `${forge.url}/${repository}`;
    expect(text).toContain('id="user-content-one"');
    expect(text).toContain(`href="${home}/src/branch/main/docs/b.md"`);
    expect(text).toContain(`href="${home}/src/branch/main/d.md"`);
    expect(text).toContain(`src="${home}/media/branch/main/docs/f.png"`);
    expect(text).toContain(`href="${home}/src/branch/main/h"`);
  });

  it.each([
    ['/markdown', { Text: 'x', Mode: 'other' }],
    ['/markup', { Text: 'x', Mode: 'file', FilePath: 'a.unknown' }],
  ])('with an unknown mode or file type is refused by %s %o', async (path, body) => {
    expect((await render(path, body)).status).toBe(422);
  });

  it.each(['/markdown', '/markdown/raw', '/markup'])('requires an account: %s', async (path) => {
    expect((await forge.ask('POST', path, { body: { Text: 'x' } })).status).toBe(401);
  });

  describe('contains nothing executable', () => {
    it.each([
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '<a href="javascript:alert(1)">x</a>',
      '[x](javascript:alert(1))',
      '[x](JaVaScRiPt&#58;alert(1))',
      '[x](vbscript:alert(1)) ![x](data:text/html;base64,PHNjcmlwdD4=)',
      '<a href="java\nscript:alert(1)">x</a>',
      '<svg><script>alert(1)</script></svg>',
      '<math><mtext><img src=x onerror=alert(1)></mtext></math>',
      '<iframe src="http://example.org"></iframe><object data=x></object><embed src=x>',
      '<form action=x><input name=password><button formaction=javascript:alert(1)>x</button></form>',
      '<p style="position:fixed" onclick=alert(1)>x</p><style>*{display:none}</style>',
      '<<script>script>alert(1)</script>',
      '<img src="x" alt="`<script>alert(1)</script>`">',
      '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
      '<details open ontoggle=alert(1)>x</details>',
      '```"><script>alert(1)</script>\nx\n```',
      '@"><script>alert(1)</script>',
    ])('%s', async (Text) => {
      for (const Mode of ['', 'comment', 'gfm']) {
        const { status, text } = await render('/markdown', { Text, Mode, Context: repository });
        const tags = text.match(/<[^>]*>/g)?.join('') ?? '';

        expect(status).toBe(200);
        expect(tags).not.toMatch(/<(script|style|math|iframe|object|embed|form|noscript)/i);
        expect(tags).not.toMatch(/\son\w+=|="?\s*(javascript|vbscript|data):|style=|name=|action=/i);
      }
    });
  });
});
