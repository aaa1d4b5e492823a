import type { Person, RecordingSetup } from './setup.ts';
import type { Topic } from './step.ts';

/** What reviews and requests for them bring. */
export function createReviewTopic(setup: RecordingSetup): Topic {
  const { repository: at, people } = setup;
  const { ada, ben, dee } = people;
  const ask = (as: Person, method: string, path: string, body?: unknown) =>
    setup.ask(method, `/repos/${at}${path}`, body === undefined ? { as } : { as, body });
  const review = (as: Person, body: object) => ask(as, 'POST', `/pulls/${index}/reviews`, body);
  const request = 'pull_request_review_request';
  let index = 0;
  let approval = 0;
  let said = 0;

  return {
    name: 'reviews',
    steps: [
      {
        name: 'reviewed-pull',
        expects: ['create', 'push', 'pull_request.opened'],
        async perform() {
          const content = Buffer.from('one\ntwo\nthree\n').toString('base64');
          const file = { content, message: 'Add lines', branch: 'main', new_branch: 'lines' };
          await ask(ada, 'POST', '/contents/lines.txt', file);
          const pull = { title: 'To be reviewed', body: 'Please.', head: 'lines', base: 'main' };
          index = (await ask(ada, 'POST', '/pulls', pull)).number;
        },
      },
      {
        name: 'review-requested',
        expects: [`${request}.review_requested`],
        perform: () => ask(ada, 'POST', `/pulls/${index}/requested_reviewers`, { reviewers: [ben.name] }),
      },
      {
        name: 'review-request-removed',
        expects: [`${request}.review_request_removed`],
        perform: () => ask(ada, 'DELETE', `/pulls/${index}/requested_reviewers`, { reviewers: [ben.name] }),
      },
      {
        name: 'team-requested',
        expects: [`${request}.review_requested`, `${request}.review_requested`],
        perform: () =>
          ask(ada, 'POST', `/pulls/${index}/requested_reviewers`, { team_reviewers: ['release'] }),
      },
      {
        name: 'team-request-removed',
        expects: [],
        perform: () =>
          ask(ada, 'DELETE', `/pulls/${index}/requested_reviewers`, { team_reviewers: ['release'] }),
      },
      {
        name: 'approved',
        expects: ['pull_request_review_approved.reviewed'],
        async perform() {
          approval = (await review(ben, { event: 'APPROVED', body: 'Good.' })).id;
        },
      },
      {
        name: 'rejected',
        expects: ['pull_request_review_rejected.reviewed'],
        perform: () => review(dee, { event: 'REQUEST_CHANGES', body: 'Not yet.' }),
      },
      {
        name: 'commented',
        expects: ['pull_request_review_comment.reviewed'],
        perform: () => review(dee, { event: 'COMMENT', body: 'Hm.' }),
      },
      {
        name: 'commented-on-lines',
        expects: ['pull_request_review_comment.reviewed'],
        async perform() {
          const comments = [{ path: 'lines.txt', body: 'Why two?', new_position: 2 }];
          const { id } = await review(dee, { event: 'COMMENT', body: '', comments });
          const [first] = await ask(dee, 'GET', `/pulls/${index}/reviews/${id}/comments`);
          said = first.id;
        },
      },
      {
        name: 'replied',
        expects: ['pull_request_comment.created'],
        perform: () => ask(ada, 'POST', `/pulls/${index}/comments/${said}/replies`, { body: 'Because.' }),
      },
      {
        name: 'pending-then-submitted',
        expects: ['pull_request_review_approved.reviewed'],
        async perform() {
          const { id } = await review(dee, { event: 'PENDING', body: 'Soon.' });
          await ask(dee, 'POST', `/pulls/${index}/reviews/${id}`, { event: 'APPROVED', body: 'Now.' });
        },
      },
      {
        name: 'silent-dismissal',
        expects: [],
        async perform() {
          await ask(ada, 'POST', `/pulls/${index}/reviews/${approval}/dismissals`, { message: 'Too old.' });
          await ask(ada, 'POST', `/pulls/${index}/reviews/${approval}/undismissals`);
        },
      },
    ],
  };
}
