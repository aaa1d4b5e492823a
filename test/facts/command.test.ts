import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { command, parseCommandLines } from '../../src/facts/command.ts';
import { type AskContext, typedAsk } from '../../src/facts/fact.ts';
import { ReeveError } from '../../src/platform/errors.ts';

const names = (body: string) => parseCommandLines(body).map(({ name }) => name);

describe('the commands of a comment', () => {
  it.each([
    ['/label bug', ['bug']],
    ['/label bug "good first issue"', ['bug', 'good first issue']],
    ['/label   a\tb  ', ['a', 'b']],
    ['/label "a \\"b\\" \\\\"', ['a "b" \\']],
    ['/label ""', ['']],
    ['/label "never closed', ['never closed']],
    ['/label a"b c"d', ['ab cd']],
    ['/label', []],
    ['/label @ada ${{ x }} $(rm) `x`', ['@ada', '${{', 'x', '}}', '$(rm)', '`x`']],
  ])('%s has its arguments', (body, args) => {
    expect(parseCommandLines(body)).toMatchObject([{ name: 'label', args }]);
  });

  it.each([
    ['below other text', 'Looks good.\n/merge', ['merge']],
    ['in lines with Windows line endings', '/merge\r\n/label a\r\n', ['merge', 'label']],
    ['below an empty line after a quote', '> /close\n\n/merge', ['merge']],
    ['below code', '```\n/close\n```\n/merge', ['merge']],
    ['below code with tildes', '~~~ sh\n/close\n```\n/close\n~~~\n/merge', ['merge']],
    ['below longer fences', '````\n```\n/close\n```\n````\n/merge', ['merge']],
    ['after closed code spans', 'see `a` and ``b ` c``\n/merge', ['merge']],
    ['below a hidden block', '<!-- a\n/close\n-->\n/merge', ['merge']],
  ])('are found %s', (_, body, found) => {
    expect(names(body)).toEqual(found);
  });

  it.each([
    ['in a quote', '> /merge'],
    ['in a nested quote', '> > /merge'],
    ['below a line of a quote, which continues it', '> text\n/merge'],
    ['below a quote in a list', '- > text\n/merge'],
    ['in a code block', '```\n/merge\n```'],
    ['in a code block with a language', '```sh\n/merge\n```'],
    ['in a code block that is never closed', '```\n/merge'],
    ['in a code block with a line that does not close it', '```\n    ```\n/merge\n```'],
    ['in a code block with shorter fences', '````\n```\n/merge\n````'],
    ['in a code block with other fence characters', '~~~\n```\n/merge\n~~~'],
    ['in a code block after a quote', '> a\n```\n\n/merge\n```'],
    ['in an indented code block', 'text\n\n    /merge'],
    ['after an indented fence, which may belong to a list', '- a\n  ```\n/merge\n  ```\n/merge'],
    ['after a fence in a list', '- ```\n/merge'],
    ['in a code span over several lines', 'see `a\n/merge\nb`'],
    ['in a code span that a backslash makes ambiguous', '\\` `a\n/merge\n`'],
    ['in a list', '- /merge\n1. /merge'],
    ['with a space before it', ' /merge'],
    ['within a line', 'please /merge'],
    ['in a hidden block', '<!--\n/merge\n-->'],
    ['in a hidden block after a closed one', '<!-- a --> <!-- b\n/merge\n-->'],
    ['in a block of HTML', '<pre>\n/merge\n</pre>'],
    ['if HTML makes a fence ambiguous', '<div>\n```\n</div>\n\n```\n/merge\n```'],
    ['if an open tag makes a fence ambiguous', 'a <code>\n```\n</code>\n/merge\n```'],
    ['in capitals', '/MERGE'],
    ['in letters of another alphabet', '/mеrge'],
    ['as a path', '/usr/bin/merge'],
    ['with punctuation after the name', '/merge: now'],
    ['after a line separator that is not a line break', 'a\u2028/merge'],
  ])('are not found %s', (_, body) => {
    expect(names(body)).toEqual([]);
  });

  it.each([
    ['fences', '```\n'.repeat(10_000)],
    ['spaces', `${' '.repeat(60_000)}/merge`],
    ['list markers', `${'- '.repeat(30_000)}x\n/merge`],
    ['tags', '<!--a-->'.repeat(8_000)],
    ['open tags', '<pre '.repeat(12_000)],
    ['backticks', '` '.repeat(30_000)],
    ['quotes', `/merge ${'"a" '.repeat(15_000)}`],
    ['backslashes', `/merge ${'\\"'.repeat(30_000)}`],
  ])('are parsed in linear time for %s', (_, body) => {
    const before = process.cpuUsage();
    parseCommandLines(body);
    const { user, system } = process.cpuUsage(before);

    // Quadratic work on 60,000 characters takes many seconds.
    expect(user + system).toBeLessThan(2_000_000);
  });
});

const now = new Date('2026-03-10T12:00:00Z');
const ada = { id: 7, login: 'ada' };
const live = { id: 9, body: '/label bug\ntext\n/label ui', user: ada, created_at: '2026-03-10T11:59:00Z' };

/** Requests command("label") for an event and the current comment. */
function ask(
  options: { action?: string; delivered?: string; sender?: object; live?: unknown; maxAgeMs?: number } = {},
) {
  const { action = 'created', delivered = live.body, sender = ada, maxAgeMs = 86_400_000 } = options;
  const comment = Object.hasOwn(options, 'live') ? options.live : live;
  const event = parseEvent('issue_comment', {
    action,
    issue: { number: 3 },
    comment: { id: 9, body: delivered, user: ada },
    repository: { id: 1, full_name: 'acme/site' },
    sender,
  });
  return command.ask(
    {
      subject: { kind: 'issue', comment: 9, index: 3 },
      occasion: { event, now, maxAnnouncedAgeMs: maxAgeMs },
      ask: typedAsk(async () => {
        if (comment instanceof Error) throw comment;
        return comment;
      }),
    } as unknown as AskContext,
    'label',
  );
}

describe('command("label")', () => {
  it('collects the lines of a new comment by its author', async () => {
    expect(await ask()).toEqual({
      found: true,
      args: ['bug', 'ui'],
      users: ['bug', 'ui'],
      milestone: 'bug ui',
      text: 'bug\nui',
      reason: '',
    });
  });

  it.each([
    ['an edit by anyone', { action: 'edited' }, /not new/],
    ['a comment whose text has changed since', { live: { ...live, body: '/label security' } }, /edited/],
    ['a delivery with different text', { delivered: '/label security' }, /edited/],
    ['another sender', { sender: { id: 8, login: 'eve' } }, /author/],
    ['a sender with the name of the author', { sender: { id: 8, login: 'ada' } }, /author/],
    ['a comment of another author', { live: { ...live, user: { id: 8, login: 'eve' } } }, /author/],
    ['a comment of a deleted account', { live: { ...live, user: { id: -1, login: 'Ghost' } } }, /author/],
    ['a comment without an author', { live: { ...live, user: null } }, /author/],
    ['an old comment', { maxAgeMs: 1_000 }, /older/],
    ['a comment without a creation time', { live: { ...live, created_at: null } }, /older/],
    ['a deleted comment', { live: new ReeveError('forge-not-found', '404') }, /no longer exists/],
    [
      'a comment without the command line',
      { delivered: 'hi', live: { ...live, body: 'hi' } },
      /no line \/label/,
    ],
    [
      'a very long comment',
      {
        delivered: `${'x\n'.repeat(50_000)}/label a`,
        live: { ...live, body: `${'x\n'.repeat(50_000)}/label a` },
      },
      /characters/,
    ],
  ])('is not found for %s', async (_, options, reason) => {
    expect(await ask(options)).toEqual({
      found: false,
      args: [],
      users: [],
      milestone: '',
      text: '',
      reason: expect.stringMatching(reason),
    });
  });

  it('reads its words as users and as the title of a milestone', async () => {
    const body = '/label @ada, bob "v1 final" @@eve a@b @';

    expect(await ask({ delivered: body, live: { ...live, body } })).toMatchObject({
      users: ['ada', 'bob', 'v1 final', '@eve', 'a@b', ''],
      milestone: '@ada, bob v1 final @@eve a@b @',
    });
  });

  it.each([
    ['a text', '@ada "v1 final"', { found: true, args: ['@ada', 'v1 final'], users: ['ada', 'v1 final'] }],
    ['a list', ['@ada', 'x'], { found: true, args: ['@ada', 'x'], users: ['ada', 'x'], text: '@ada x' }],
    ['true', true, { found: true, args: [], users: [], milestone: '' }],
    ['false', false, { found: false, args: [], users: [], reason: 'the comment has no such line' }],
    ['its arguments', { args: ['v1'] }, { found: true, milestone: 'v1', text: 'v1' }],
    ['its text', { text: 'a b' }, { found: true, args: ['a', 'b'], text: 'a b' }],
    ['whether it is found', { found: false }, { found: false, args: [] }],
  ])('may be stated by %s in a rule test', (_title, written, value) => {
    expect(command.complete?.(written)).toMatchObject(value);
  });

  it('fails if the comment cannot be read', async () => {
    await expect(ask({ live: new ReeveError('forge-timeout', 'slow') })).rejects.toThrow('slow');
  });
});
