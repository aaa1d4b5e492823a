import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startEmbedded } from '../support/contract-forge.ts';
import { compareRecordings } from '../support/recording/compare.ts';
import { type Recording, readRecordings } from '../support/recording/fixture.ts';
import { record } from '../support/recording/record.ts';

type Known = { readonly path: string; readonly told: string; readonly reason: string };

/** Paths at which a payload contains a repository. */
const repositoryPaths = [
  ...['repository', 'repository.parent', 'forkee', 'pull_request.base.repo', 'pull_request.head.repo'],
  'pull_request.head.repo.parent',
];

const since127 = (path: string, told: string, what: string): Known => ({
  path,
  told,
  reason: `added in 1.27: ${what}`,
});

const removals: readonly Known[] = [
  ['issue.assignee', 'object → null'],
  ['issue.assignees', 'list → null'],
  ['pull_request.assignee', 'object → null'],
  ['pull_request.assignees[]', 'object → nothing'],
].map(([path = '', told = '']) => ({
  path,
  told,
  reason: '1.26 sends the event of each removal before the next removal; 1.27 makes all removals first',
}));

const withoutReleases: Known = {
  path: 'events',
  told: 'delete push release.deleted → delete push',
  reason:
    'the server stores a tag created by the API as a release; the embedded forge has tags without releases',
};

/**
 * Differences of the embedded forge from a recorded server, by path and reason. The embedded forge behaves like 1.27:
 * an entry for an older release names what 1.27 added, and an entry for 1.27 names what the embedded forge does not
 * support.
 */
const known: Readonly<Record<string, readonly Known[]>> = {
  '1.26': [
    ...['after', 'before'].map((path) =>
      since127(path, 'nothing → text', 'the commits before and after a push to a pull request'),
    ),
    ...repositoryPaths.flatMap((path) => [
      since127(`${path}.allow_merge_update`, 'nothing → flag', 'a setting of repositories'),
      since127(`${path}.default_update_style`, 'nothing → text', 'a setting of repositories'),
      since127(`${path}.mirror_last_sync_at`, 'nothing → text', 'when a mirror was last synchronized'),
    ]),
    since127('issue.projects', 'nothing → null', 'the projects of an issue'),
    since127(
      'pull_request.requested_reviewers_teams[].visibility',
      'nothing → text',
      'the visibility of a team',
    ),
    since127('events', 'nothing → pull_request_comment.created', 'replies to comments on lines'),
    since127('pull_request.review_comments', 'nothing → number', 'fields that are 0 are not omitted'),
    ...removals,
    withoutReleases,
  ],
  '1.27': [
    withoutReleases,
    {
      path: 'pull_request.review_comments',
      told: 'nothing → number',
      reason: 'recorded from a build without GOEXPERIMENT=jsonv2, which omits fields that are 0',
    },
  ],
};

/** Parts of a forge that the embedded forge lacks, because no operation of the contract leads to them. */
const without = ['releases and packages', 'workflows'];

describe('the recording steps on the embedded forge', () => {
  let own: Recording;
  beforeAll(async () => {
    const { forge, url, adminToken, close } = await startEmbedded();
    try {
      own = await record({
        url,
        token: adminToken,
        without,
        patience: 240,
        async settle() {
          await setTimeout(30);
          await forge.deliveries.idle();
        },
      });
    } finally {
      await close();
    }
  });

  it('produce every expected event', () => {
    expect(own.missing).toEqual([]);
  });

  it.each(readRecordings().filter(({ server }) => server === 'gitea'))(
    'produce the same events as on $server $version, with the same members and headers, except for known differences',
    (recorded) => {
      const found = compareRecordings(recorded, own);
      const version = recorded.version.split('.').slice(0, 2).join('.');
      const lines = (all: readonly { readonly path: string; readonly told: string }[]) =>
        all.map(({ path, told }) => `${path}: ${told}`).sort();

      // A new difference is a defect. An entry that no longer differs must be removed.
      expect(lines(found), JSON.stringify(found)).toEqual(lines(known[version] ?? []));
    },
  );
});
