import { createSubjectSteps } from './issues.ts';
import type { Person, RecordingSetup, Topic } from './setup.ts';

/** Events of pull requests, except reviews. */
export function createPullTopic(setup: RecordingSetup): Topic {
  const { repository: at, people } = setup;
  const { ada, ben, cyd } = people;
  const ask = (method: string, path: string, body?: unknown) =>
    setup.ask(method, `/repos/${at}${path}`, body === undefined ? { as: ada } : { as: ada, body });
  const write = (branch: string, path: string, text: string, more: object = { branch }) => {
    const body = { content: Buffer.from(text).toString('base64'), message: `Add ${path}`, ...more };
    return ask('POST', `/contents/${path}`, body);
  };
  const open = async (head: string, more: object = {}): Promise<number> => {
    const body = { title: `From ${head}`, head, base: 'main', ...more };
    return (await ask('POST', '/pulls', body)).number;
  };
  let full = 0;
  let merged = 0;
  let draft = 0;

  return {
    name: 'pulls',
    steps: [
      {
        name: 'pull-branch',
        expects: ['create', 'push'],
        perform: () =>
          write('work', 'src/work.ts', 'export const work = 1;\n', { branch: 'main', new_branch: 'work' }),
      },
      {
        name: 'pull-everything',
        expects: [
          ...['pull_request.opened', 'pull_request_label.label_updated', 'pull_request_milestone.milestoned'],
          ...['pull_request_assign.assigned', 'pull_request_review_request.review_requested'],
        ],
        async perform() {
          const [label] = await ask('GET', '/labels');
          const [milestone] = await ask('GET', '/milestones');
          full = await open('work', {
            body: 'All of it.',
            labels: [label.id],
            milestone: milestone.id,
            assignees: [ben.name],
            reviewers: [ben.name],
          });
          // Forgejo accepts no reviewers in this request.
          const { requested_reviewers: asked } = await ask('GET', `/pulls/${full}`);
          if (!asked?.length)
            await ask('POST', `/pulls/${full}/requested_reviewers`, { reviewers: [ben.name] });
        },
      },
      ...createSubjectSteps(setup, 'pull_request', () => full),
      {
        name: 'pull-push',
        expects: ['push', 'pull_request_sync.synchronized'],
        perform: () => write('work', 'src/more.ts', 'export const more = 2;\n'),
      },
      {
        name: 'pull-from-fork',
        expects: ['pull_request.opened'],
        async perform() {
          const fork = await setup.clone(`${cyd.name}/demo`, cyd);
          await fork.git('switch', '--quiet', '-c', 'gift');
          await fork.commit({ 'gift.md': '# A gift\n' }, 'Bring a gift');
          await fork.git('push', '--quiet', 'origin', 'gift');
          const body = { title: 'A gift', body: '', head: `${cyd.name}:gift`, base: 'main' };
          await setup.ask('POST', `/repos/${at}/pulls`, { as: cyd, body });
        },
      },
      {
        name: 'pull-draft',
        expects: ['create', 'push', 'pull_request.opened'],
        async perform() {
          await write('draft', 'src/draft.ts', 'export {};\n', { branch: 'main', new_branch: 'draft' });
          draft = await open('draft', { title: 'WIP: draft' });
        },
      },
      {
        name: 'pull-ready',
        expects: ['pull_request.edited'],
        perform: () => ask('PATCH', `/pulls/${draft}`, { title: 'No draft any more' }),
      },
      {
        name: 'pull-retargeted',
        expects: ['pull_request.edited'],
        perform: () => ask('PATCH', `/pulls/${draft}`, { base: 'docs/two' }),
      },
      {
        name: 'pull-labels-by-edit',
        expects: [],
        async perform() {
          const [label] = await ask('GET', '/labels');
          await ask('PATCH', `/pulls/${draft}`, { labels: [label.id] });
        },
      },
      {
        name: 'pull-head-deleted',
        expects: ['delete', 'pull_request.closed'],
        perform: () => ask('DELETE', '/branches/draft'),
      },
      {
        name: 'pull-deleted',
        expects: ['pull_request.deleted'],
        perform: () => ask('DELETE', `/issues/${draft}`),
      },
      {
        name: 'pull-closing-issue',
        expects: ['issues.opened', 'create', 'push', 'pull_request.opened'],
        async perform() {
          const issue = await ask('POST', '/issues', { title: 'To be closed by a merge' });
          await write('mend', 'src/mend.ts', 'export {};\n', { branch: 'main', new_branch: 'mend' });
          merged = await open('mend', { body: `Closes #${issue.number}` });
        },
      },
      {
        name: 'pull-merged',
        expects: ['push', 'delete', 'pull_request.closed', 'issues.closed'],
        async perform() {
          await whenMergeable(() => ask('GET', `/pulls/${merged}`));
          await ask('POST', `/pulls/${merged}/merge`, { Do: 'merge', delete_branch_after_merge: true });
        },
      },
      {
        name: 'pull-squashed',
        expects: ['create', 'push', 'push', 'pull_request.opened', 'pull_request.closed'],
        async perform() {
          await write('small', 'src/small.ts', 'export {};\n', { branch: 'main', new_branch: 'small' });
          const number = await open('small');
          await whenMergeable(() => ask('GET', `/pulls/${number}`));
          await ask('POST', `/pulls/${number}/merge`, { Do: 'squash' });
        },
      },
    ],
  };
}

/**
 * Waits until the background check of a pull request is finished. If it never finishes, the merge reports the reason.
 */
async function whenMergeable(read: () => Promise<{ mergeable: boolean }>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await read()).mergeable) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Events of reviews and review requests. */
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
