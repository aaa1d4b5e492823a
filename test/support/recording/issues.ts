import type { RecordingSetup, Step, Topic } from './setup.ts';

/** Events of issues and their comments. `createPullTopic` performs the same steps on a pull request. */
export function createIssueTopic(setup: RecordingSetup): Topic {
  const { repository: at, people } = setup;
  const { ada, ben } = people;
  const ask = (method: string, path: string, body?: unknown) =>
    setup.ask(method, `/repos/${at}${path}`, body === undefined ? { as: ada } : { as: ada, body });
  let full = 0;

  return {
    name: 'issues',
    steps: [
      {
        name: 'silent-definitions',
        expects: [],
        async perform() {
          for (const name of ['kind/bug', 'kind/feature']) {
            await ask('POST', '/labels', {
              name,
              color: 'd73a4a',
              exclusive: true,
              description: `A ${name}.`,
            });
          }
          await ask('POST', '/milestones', { title: 'One', description: 'The first.' });
        },
      },
      {
        name: 'plain',
        expects: ['issues.opened'],
        perform: () => ask('POST', '/issues', { title: 'Plain', body: '' }),
      },
      {
        name: 'everything',
        expects: [
          'issues.opened',
          'issue_label.label_updated',
          'issue_milestone.milestoned',
          'issue_assign.assigned',
        ],
        async perform() {
          const [label] = await ask('GET', '/labels');
          const [milestone] = await ask('GET', '/milestones');
          const body = {
            title: 'Everything',
            body: `For @${ben.name}.`,
            labels: [label.id],
            milestone: milestone.id,
            assignees: [ben.name],
          };
          full = (await ask('POST', '/issues', body)).number;
        },
      },
      ...createSubjectSteps(setup, 'issue', () => full),
      {
        name: 'closed-by-commit',
        expects: ['push', 'issues.closed'],
        async perform() {
          const content = Buffer.from('# Mended\n').toString('base64');
          const body = { content, message: 'Mend it\n\nCloses #1', branch: 'main' };
          await ask('POST', '/contents/docs/mended.md', body);
        },
      },
      {
        name: 'deleted',
        expects: ['issues.deleted'],
        async perform() {
          const { number } = await ask('POST', '/issues', { title: 'Not for long', closed: true });
          await ask('DELETE', `/issues/${number}`);
        },
      },
    ],
  };
}

/**
 * Returns the steps that issues and pull requests have in common. They are performed on the issue or pull request with
 * the number that `index` returns.
 */
export function createSubjectSteps(
  setup: RecordingSetup,
  what: 'issue' | 'pull_request',
  index: () => number,
): readonly Step[] {
  const { repository: at, people } = setup;
  const { ada, ben, dee } = people;
  const plain = what === 'issue' ? 'issues' : 'pull_request';
  const ask = (method: string, path: string, body?: unknown) =>
    setup.ask(method, `/repos/${at}${path}`, body === undefined ? { as: ada } : { as: ada, body });
  const edit = (body: object) => ask('PATCH', `/issues/${index()}`, body);
  const step = (name: string, expects: readonly string[], provoke: () => Promise<unknown>): Step => ({
    name: what === 'issue' ? name : `pull-${name}`,
    expects,
    perform: async () => void (await provoke()),
  });
  let comment = 0;

  return [
    step('title', [`${plain}.edited`], () => edit({ title: 'Another title' })),
    step('body', [`${plain}.edited`], () => edit({ body: 'Another body.' })),
    step('assigned', [`${what}_assign.assigned`], () => edit({ assignees: [ben.name, dee.name] })),
    step('unassigned', [`${what}_assign.unassigned`, `${what}_assign.unassigned`], () =>
      edit({ assignees: [] }),
    ),
    step('label-added', [`${what}_label.label_updated`], async () => {
      const labels = await ask('GET', '/labels');
      await ask('POST', `/issues/${index()}/labels`, { labels: [labels[1].id] });
    }),
    step('labels-replaced', [`${what}_label.label_updated`], async () => {
      const labels = await ask('GET', '/labels');
      await ask('PUT', `/issues/${index()}/labels`, { labels: [labels[0].id] });
    }),
    step('label-removed', [`${what}_label.label_updated`], async () => {
      const labels = await ask('GET', '/labels');
      await ask('DELETE', `/issues/${index()}/labels/${labels[0].id}`);
    }),
    step('labels-cleared', [`${what}_label.label_cleared`], () => ask('DELETE', `/issues/${index()}/labels`)),
    step('demilestoned', [`${what}_milestone.demilestoned`], () => edit({ milestone: 0 })),
    step('milestoned', [`${what}_milestone.milestoned`], async () => {
      const [milestone] = await ask('GET', '/milestones');
      await edit({ milestone: milestone.id });
    }),
    step('comment', [`${what}_comment.created`], async () => {
      comment = (await ask('POST', `/issues/${index()}/comments`, { body: 'Said.' })).id;
    }),
    step('comment-edited', [`${what}_comment.edited`], () =>
      ask('PATCH', `/issues/comments/${comment}`, { body: 'Said otherwise.' }),
    ),
    step('comment-not-changed', [], () =>
      ask('PATCH', `/issues/comments/${comment}`, { body: 'Said otherwise.' }),
    ),
    step('comment-deleted', [`${what}_comment.deleted`], () => ask('DELETE', `/issues/comments/${comment}`)),
    step('closed', [`${plain}.closed`], () => edit({ state: 'closed' })),
    step('reopened', [`${plain}.reopened`], () => edit({ state: 'open' })),
    step('silent', [], async () => {
      await edit({ due_date: '2030-01-01T00:00:00Z' });
      await ask('PUT', `/issues/${index()}/lock`, { lock_reason: 'resolved' });
      await ask('DELETE', `/issues/${index()}/lock`);
      await ask('POST', `/issues/${index()}/pin`);
      await ask('DELETE', `/issues/${index()}/pin`);
      await ask('POST', `/issues/${index()}/times`, { time: 60 });
    }),
  ];
}
