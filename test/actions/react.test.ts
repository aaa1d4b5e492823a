import { expect, it } from 'vitest';
import { react } from '../../src/actions/react.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const ours = { content: 'eyes', user: { id: 9, login: 'reeve' } };
const theirs = { content: 'eyes', user: { id: 1, login: 'ada' } };
const onComment = { kind: 'issue', comment: 12 } as const;

it.each([
  ["adds our reaction beside another account's", [theirs], true, 'reaction.add-to-issue', false],
  ['keeps our reaction', [ours], true, 'reaction.add-to-issue', true],
  ['adds another reaction beside ours', [{ ...ours, content: '+1' }], true, 'reaction.add-to-issue', false],
  [
    'removes our reaction while `when` does not hold',
    [ours, theirs],
    false,
    'reaction.remove-from-issue',
    false,
  ],
  ['keeps the reactions of other accounts', [theirs], false, 'reaction.remove-from-issue', true],
])('react %s', async (_title, reactions, when, operation, already) => {
  const [change] = await react.plan({ reaction: 'eyes', when }, makeFacts({ reactions }), makeContext());

  expect(change).toMatchObject({ operation, value: when, target: 'reaction:eyes on #7' });
  expect(change?.already ?? false).toBe(already);
});

it('react adds the reaction to the comment if the event is about a comment', async () => {
  const facts = makeFacts({ reactions: [] }, { subject: onComment });
  const [change] = await react.plan({ reaction: '+1' }, facts, makeContext());

  expect(change).toMatchObject({
    operation: 'reaction.add-to-comment',
    input: { params: { owner: 'acme', repo: 'site', id: 12 }, body: { content: '+1' } },
    target: 'reaction:+1 on comment 12',
  });
});

it('react does nothing for a repeated delivery', () => {
  expect(react.describesState).toBe(false);
});
