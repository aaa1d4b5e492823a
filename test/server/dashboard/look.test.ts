import { describe, expect, it } from 'vitest';
import { html } from '../../../src/platform/http/html.ts';
import {
  issueLink,
  itemLink,
  personLink,
  placeLink,
  repositoryLink,
  subjectLink,
} from '../../../src/server/dashboard/links.ts';
import { markIds, relativeWords, table, timeTag } from '../../../src/server/dashboard/page.ts';

const now = new Date('2026-03-02T09:30:00.000Z');
const forge = 'https://forge.example.org';

describe('a time', () => {
  it.each([
    [0, 'just now'],
    [-4, 'just now'],
    [-5, '5 s ago'],
    [-59, '59 s ago'],
    [-60, '1 min ago'],
    [-3_599, '59 min ago'],
    [-3_600, '1 h ago'],
    [-86_399, '23 h ago'],
    [-86_400, '1 day ago'],
    [-2 * 86_400, '2 days ago'],
    [90, 'in 1 min'],
    [86_400 * 3, 'in 3 days'],
    [-40 * 86_400, '2026-01-21'],
  ])('%s s from now is "%s"', (seconds, words) => {
    expect(relativeWords(new Date(now.getTime() + seconds * 1_000), now)).toBe(words);
  });

  it('is shown with the exact instant, and is omitted if it is undefined', () => {
    expect(timeTag('2026-03-02T09:00:00.000Z', now)?.text).toBe(
      '<time datetime="2026-03-02T09:00:00.000Z" title="2026-03-02 09:00:00 UTC">30 min ago</time>',
    );
    expect(timeTag(undefined, now)).toBeUndefined();
  });
});

describe('an id in a text', () => {
  const marked = (text: string) =>
    [...markIds(text).text.matchAll(/<span class="whole">(.*?)<\/span>/g)].map(([, id]) => id);

  it('stays on one line, such as a UUID, a commit, a repository, an issue or a position in a file', () => {
    const uuid = '0b9a6c1e-7d52-4f3a-9c1b-000000000001';
    expect(marked(`run ${uuid} of acme/shop#7, see triage.yml:3:12 and #12 at 9fceb02d0ae5.`)).toEqual([
      uuid,
      'acme/shop#7',
      'triage.yml:3:12',
      '#12',
      '9fceb02d0ae5',
    ]);
  });

  it('is escaped like any text, and may wrap if it is too long for a narrow window', () => {
    expect(markIds('<b>acme/shop</b>').text).not.toContain('<b>');
    expect(marked(`platform-engineering/continuous-integration-templates-and-tools#5`)).toEqual(['#5']);
  });
});

describe('a link to the forge', () => {
  it('points to the repository, the issue, the pull request, the line at its commit, or the account', () => {
    expect(repositoryLink(forge, 'acme/shop').text).toContain(`href="${forge}/acme/shop"`);
    expect(issueLink(forge, 'acme/shop', 7).text).toContain(`href="${forge}/acme/shop/issues/7"`);
    const pull = {
      repository: 'acme/shop',
      lane: 'acme/shop#7',
      eventType: 'pull_request_sync',
      summary: undefined,
    };
    expect(subjectLink(forge, pull)?.text).toContain(`href="${forge}/acme/shop/pulls/7"`);
    expect(itemLink(forge, 'acme/shop#7').text).toContain(`href="${forge}/acme/shop/issues/7"`);
    expect(personLink(forge, '@ada (12) by the dashboard').text).toBe(
      `<a href="${forge}/ada">@ada</a> (12) by the dashboard`,
    );
    const place = { file: '.reeve.yml', line: 4, commit: 'abc', source: 'acme/shop/.reeve.yml' };
    expect(placeLink(forge, place).text).toContain(`href="${forge}/acme/shop/src/commit/abc/.reeve.yml#L4"`);
  });

  it('is omitted for an invalid name, and never points outside the forge', () => {
    for (const name of ['acme', '../x', 'a/..', '', 'a/b/c', '/x'])
      expect(repositoryLink(forge, name).text).not.toContain('href');
    expect(repositoryLink(forge, 'a"b/c?d').text).toContain(`href="${forge}/a%22b/c%3Fd"`);
    expect(personLink(forge, 'root by reeve pause').text).not.toContain('href');
    const operators = { file: 'triage.yml', line: 3, commit: '', source: '/srv/rules/triage.yml' };
    expect(placeLink(forge, operators).text).not.toContain('href');
  });
});

it('a table repeats its column heads in each cell, and leaves empty cells empty', () => {
  const { text } = table(
    ['when', 'what'],
    [
      [html`<i>now</i>`, ''],
      ['', 'x'.repeat(41)],
    ],
    'none',
  );

  expect(text).toContain('<td role="cell" data-label="when"><div><i>now</i></div></td><td role="cell"></td>');
  expect(text).toContain('<td role="cell" class="long" data-label="what">');
  expect(table(['when'], [], 'none').text).toBe('<p class="empty">none</p>');
});
