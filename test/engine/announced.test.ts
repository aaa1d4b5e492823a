import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { staleAnnouncement } from '../../src/engine/evaluate-rules.ts';
import { runRules } from '../../src/engine/run.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeFacts } from '../support/make-facts.ts';

const now = new Date('2026-03-10T12:00:00Z');
const maxAgeMs = 7 * 86_400_000;
const young = '2026-03-10T11:00:00Z';
const old = '2026-03-01T11:00:00Z';
const gone = new ReeveError('forge-not-found', 'GET …: the forge answered 404');

const repository = { id: 1, full_name: 'acme/site' };
const user = { id: 7, login: 'ada' };
const base = { number: 7, repository, sender: user };
const commentEvent = (action: string, eventType = 'issue_comment') =>
  parseEvent(eventType, { ...base, action, issue: { number: 7 }, comment: { id: 9, body: 'x', user } });
const reviewEvent = parseEvent('pull_request_review_approved', {
  ...base,
  action: 'reviewed',
  pull_request: { number: 7 },
});
const issueEvent = parseEvent('issues', { ...base, action: 'opened', issue: { number: 7 } });
const comment = (created_at: string, more: object = {}) => ({ comment: { id: 9, created_at, ...more } });

describe('an event about a comment or review', () => {
  it.each([
    ['created, and young', commentEvent('created'), comment(young), undefined],
    ['created, and old', commentEvent('created'), comment(old), 'too old'],
    [
      'created on a pull request, and old',
      commentEvent('created', 'pull_request_comment'),
      comment(old),
      'too old',
    ],
    ['edited, and old', commentEvent('edited'), comment(old), undefined],
    ['created, and gone', commentEvent('created'), { comment: gone }, 'gone'],
    ['edited, and gone', commentEvent('edited'), { comment: gone }, 'gone'],
    ['deleted, and so gone', commentEvent('deleted'), { comment: gone }, undefined],
    [
      'of another issue',
      commentEvent('created'),
      comment(young, { issue_url: 'https://f/acme/site/issues/8' }),
      'gone',
    ],
    [
      'of this issue',
      commentEvent('created'),
      comment(young, { issue_url: 'https://f/acme/site/issues/7' }),
      undefined,
    ],
    [
      'of another pull request',
      commentEvent('created', 'pull_request_comment'),
      comment(young, { issue_url: '', pull_request_url: 'https://f/acme/site/pulls/70' }),
      'gone',
    ],
    ['a review, young', reviewEvent, { review: { id: 1, submitted_at: young } }, undefined],
    ['a review, old', reviewEvent, { review: { id: 1, submitted_at: old } }, 'too old'],
    ['a review, gone', reviewEvent, { review: gone }, 'gone'],
    ['neither', issueEvent, {}, undefined],
  ] as const)('%s', async (_title, event, given, expected) => {
    const facts = makeFacts(given, { subject: event.subject ?? {} });

    expect(await staleAnnouncement(event, facts, { now, maxAgeMs })).toBe(expected);
  });

  it('is checked with one read of the fact that conditions use', async () => {
    const facts = makeFacts(comment(young));
    await staleAnnouncement(commentEvent('created'), facts, { now, maxAgeMs });
    await staleAnnouncement(issueEvent, facts, { now, maxAgeMs });

    expect(facts.asked).toEqual(['comment']);
  });
});

describe('a run', () => {
  const text = `version: 1
rules:
  answer: { on: issue_comment.created, steps: [{ uses: set-labels, with: { add: [answered] } }] }
`;
  const { rules } = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry });
  const run = async (
    given: Readonly<Record<string, unknown>>,
    maxAnnouncedAgeMs: number | undefined = maxAgeMs,
  ) =>
    runRules({
      id: 'r',
      mode: 'plan',
      trigger: { door: 'webhook', kind: 'issue_comment', activity: 'created', at: '' },
      rules: createRuleSet(rules),
      event: commentEvent('created'),
      facts: makeFacts(
        { labels: [], label_definitions: [{ id: 1, name: 'answered' }], ...given },
        { subject: { kind: 'issue' } },
      ),
      ...(maxAnnouncedAgeMs === undefined ? {} : { maxAnnouncedAgeMs }),
      now,
      clock: makeClock({ monotonicMs: () => 0 }),
    });

  it('skips every rule, with the reason, if the comment is gone, and plans nothing', async () => {
    const { run: record } = await run({ comment: gone });

    expect(record.rules).toMatchObject([{ verdict: 'skipped', reason: 'gone' }]);
    expect(record.changes).toEqual([]);
  });

  it('fails every rule if the comment cannot be read, and is retried if a retry may help', async () => {
    const away = await run({ comment: new ReeveError('forge-unavailable', 'the forge answered 502') });
    const forbidden = await run({ comment: new ReeveError('forge-forbidden', 'the forge answered 403') });

    expect(away.run.rules).toMatchObject([{ verdict: 'failed', reason: expect.stringContaining('502') }]);
    expect([away.retry?.code, forbidden.retry]).toEqual(['forge-unavailable', undefined]);
    expect([...away.run.changes, ...forbidden.run.changes]).toEqual([]);
  });

  it('for a past event does not read the comment', async () => {
    const past = await runRules({
      id: 'r',
      mode: 'plan',
      trigger: { door: 'cli', kind: 'issue_comment', activity: 'created', at: '' },
      rules: createRuleSet(rules),
      event: commentEvent('created'),
      facts: makeFacts(
        { labels: [], label_definitions: [{ id: 1, name: 'answered' }], comment: gone },
        { subject: { kind: 'issue' } },
      ),
      now,
      clock: makeClock({ monotonicMs: () => 0 }),
    });

    expect(past.run.changes).toMatchObject([{ target: 'label:answered' }]);
  });
});
