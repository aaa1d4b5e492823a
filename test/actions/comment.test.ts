import { describe, expect, it } from 'vitest';
import { comment } from '../../src/actions/comment.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const marker = '<!-- reeve:tidy/main -->';
const ours = (text: string, more: object = {}) => ({
  id: 5,
  body: `${marker}\n${text}`,
  user: { id: 9, login: 'reeve' },
  ...more,
});
const plan = (given: object, facts: Record<string, unknown>) =>
  comment.plan({ key: 'main', ...given } as never, makeFacts(facts), makeContext());

describe('the plan', () => {
  const others = { id: 1, body: `${marker}\nHello`, user: { id: 1, login: 'ada' } };
  const quoted = { id: 2, body: `> ${marker}\nHello`, user: { id: 9, login: 'reeve' } };
  const below = { id: 3, body: `Hello\n${marker}`, user: { id: 9, login: 'reeve' } };
  const otherKey = { id: 4, body: '<!-- reeve:tidy/other -->\nHello', user: { id: 9, login: 'reeve' } };

  it.each([
    ['writes a missing comment', { text: 'Hello' }, [], 'comment.create', `${marker}\nHello`],
    [
      'leaves a comment with the same text unchanged',
      { text: 'Hello' },
      [ours('Hello')],
      'already',
      `${marker}\nHello`,
    ],
    [
      'treats other line ends as the same text',
      { text: 'a\nb' },
      [ours('a\r\nb\n')],
      'already',
      `${marker}\na\nb`,
    ],
    ['edits a comment with different text', { text: 'New' }, [ours('Old')], 'comment.edit', `${marker}\nNew`],
    [
      "never treats another account's comment as its own",
      { text: 'Hello' },
      [others],
      'comment.create',
      `${marker}\nHello`,
    ],
    [
      'never treats a marker inside a text as its own',
      { text: 'Hello' },
      [quoted, below],
      'comment.create',
      `${marker}\nHello`,
    ],
    ['distinguishes keys', { text: 'Hello' }, [otherKey], 'comment.create', `${marker}\nHello`],
    ['expects no comment while its condition does not hold', { text: 'x', when: false }, [], 'already', null],
    [
      'removes the comment once its condition does not hold',
      { text: 'x', when: false },
      [ours('x')],
      'comment.delete',
      null,
    ],
    [
      'writes `otherwise` instead',
      { text: 'x', when: false, otherwise: 'Fine now' },
      [ours('x')],
      'comment.edit',
      `${marker}\nFine now`,
    ],
    [
      'does not write `otherwise` if there was no comment',
      { text: 'x', when: false, otherwise: 'Fine' },
      [],
      'already',
      null,
    ],
  ])('%s', async (_title, given, comments, what, value) => {
    const [change, ...more] = await plan(given, { comments });

    expect(more).toEqual([]);
    expect(change?.already ? 'already' : change?.operation).toBe(what);
    expect(change?.value).toBe(value);
    expect(change?.target).toBe('comment:tidy/main on #7');
  });

  it('sends only the text, to the existing comment', async () => {
    const [change] = await plan({ text: 'New' }, { comments: [ours('Old')] });

    expect(change?.input).toEqual({
      params: { owner: 'acme', repo: 'site', id: 5 },
      body: { body: `${marker}\nNew` },
    });
    expect(change?.before).toBe(`${marker}\nOld`);
  });
});

describe('a text from the wiki', () => {
  it('is the text of the page', async () => {
    const [change] = await plan({ wiki: 'Welcome' }, { comments: [], wiki: { Welcome: '# Welcome\n' } });

    expect(change?.value).toBe(`${marker}\n# Welcome`);
  });

  it('refers to no issue of another repository, because some forges let everyone edit a wiki', async () => {
    const pages = { Welcome: 'closes other/repo#5' };
    const [change] = await plan({ wiki: 'Welcome' }, { comments: [], wiki: pages });

    expect(change?.after).toContain('closes other/repo#\u200b5');
  });

  it.each([
    ['is missing', undefined, 'wiki("Welcome") is not given'],
    ['is empty', { Welcome: ' ' }, 'the wiki page "Welcome" is empty'],
  ])('fails the step if the page %s', async (_title, wiki, message) => {
    await expect(plan({ wiki: 'Welcome' }, { comments: [], wiki: wiki ?? {} })).rejects.toThrow(message);
  });

  it('is not requested while the condition does not hold', async () => {
    const facts = makeFacts({ comments: [] });

    await comment.plan({ key: 'main', wiki: 'Welcome', when: false }, facts, makeContext());

    expect(facts.asked).toEqual(['comments']);
  });
});

it('comment treats a simulation without comments as one in which nothing was written', async () => {
  const facts = createGivenFacts({
    subject: { kind: 'issue', index: 1, repository: { id: 1, owner: 'acme', name: 'site' } },
    given: {},
  });

  const [change] = await comment.plan({ key: 'main', text: 'Hello' }, facts, makeContext());

  expect(change?.operation).toBe('comment.create');
});

it('comment encodes names that could end the marker', async () => {
  const context = makeContext({ rule: 'a --> b' });
  const [change] = await comment.plan(
    { key: 'x/y\n-->', text: 'Hello' },
    makeFacts({ comments: [] }),
    context,
  );

  expect(change?.value).toBe('<!-- reeve:a%20--%3E%20b/x%2Fy%0A--%3E -->\nHello');
});

it.each([
  [{}, false],
  [{ text: 'a', wiki: 'b' }, false],
  [{ text: 'a' }, true],
  [{ wiki: 'b', when: true }, true],
])('comment accepts either text or wiki: %o', (written, ok) => {
  expect(comment.arguments.safeParse(written).success).toBe(ok);
});
