import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { acme, at, type Harness, people, repositoryScopes, startHarness } from '../support/harness.ts';

const secretWord = 'payroll of the board';
const secret = { owner: acme, repo: 'secret' } as const;

let harness: Harness;
afterEach(() => harness?.close());

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Creates a private repository that the bot can read and ada cannot. */
async function makeSecret(): Promise<void> {
  await harness.root.call(operations.createOrganizationRepository, {
    params: { org: acme },
    body: { name: secret.repo, auto_init: true, default_branch: 'main', private: true },
  });
  await harness.root.call(operations.putCollaborator, {
    params: { ...secret, collaborator: people.bot },
    body: { permission: 'read' },
  });
}

async function commentsOf(index: number): Promise<readonly string[]> {
  const comments = await harness.root.call(operations.listComments, { params: { ...at, index } });
  return comments.map(({ body }) => body ?? '');
}

describe('a repository rule publishes nothing that its authors cannot read', () => {
  const publishing = `version: 1
rules:
  tell:
    on: issue_comment.created
    steps:
      - uses: comment
        with: { key: seen, text: "\${{ timeline.filter(e, e.type in ['issue_ref', 'comment_ref', 'commit_ref', 'add_dependency']).size() }} entries" }
  refers:
    on: issue_comment.created
    steps:
      - uses: comment
        with: { key: refers, text: "title: \${{ timeline.filter(e, e.type == 'issue_ref')[0].ref_issue.title }}" }
  says:
    on: issue_comment.created
    steps:
      - uses: comment
        with: { key: says, text: "comment: \${{ timeline.filter(e, e.type == 'comment_ref')[0].ref_comment.body }}" }
  commits:
    on: issue_comment.created
    steps:
      - uses: comment
        with: { key: commits, text: "commit: \${{ timeline.filter(e, e.type == 'commit_ref')[0].body }}" }
  needs:
    on: issue_comment.created
    steps:
      - uses: comment
        with: { key: needs, text: "dependency: \${{ timeline.filter(e, e.type == 'add_dependency')[0].dependent_issue.body }}" }
`;

  it('from issues, comments and commits of a private repository that refer to an issue', async () => {
    harness = await startHarness({ rules: publishing });
    await makeSecret();
    const { number } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'Mine' },
    });
    const here = `${acme}/${at.repo}#${number}`;
    const referring = await harness.root.call(operations.createIssue, {
      params: secret,
      body: { title: `The ${secretWord}`, body: `${secretWord}, see ${here}` },
    });
    await harness.root.call(operations.createComment, {
      params: { ...secret, index: referring.number },
      body: { body: `again the ${secretWord}, ${here}` },
    });
    await harness.root.call(operations.createFile, {
      params: { ...secret, filepath: 'a.txt' },
      body: { content: base64('a'), message: `The ${secretWord}, ${here}` },
    });
    await harness.root.call(operations.addDependency, {
      params: { ...at, index: number },
      body: { owner: acme, repo: secret.repo, index: referring.number },
    });
    // Gitea reads commit messages some time after the push.
    const timeline = () => harness.root.call(operations.listTimeline, { params: { ...at, index: number } });
    await expect
      .poll(async () => (await timeline())?.map((entry) => entry?.type), { timeout: timeoutMs })
      .toContain('commit_ref');

    await harness.ada.call(operations.createComment, {
      params: { ...at, index: number },
      body: { body: 'now' },
    });
    const run = await harness.waitForRun(({ rules }) => rules.some(({ verdict }) => verdict === 'matched'));
    await harness.idle();

    // The bot does see the entries, because it reports their number.
    const comments = await commentsOf(number);
    expect(comments.join('\n')).toContain('4 entries');
    expect(comments.join('\n')).not.toContain(secretWord);
    expect(JSON.stringify(harness.runs)).not.toContain(secretWord);
    const verdicts = Object.fromEntries(run.rules.map(({ rule, verdict }) => [rule.split('#')[1], verdict]));
    expect(verdicts).toMatchObject({ tell: 'matched', refers: 'failed', says: 'failed', needs: 'failed' });
  });

  it("from branches of a private fork, although the repository's file may open pull requests", async () => {
    const opening = (head: string) => `version: 1
rules:
  publish:
    on: issues.opened
    steps: [{ uses: open-pull-request, with: { head: "${head}", base: main, title: Publish } }]
`;
    harness = await startHarness({
      rules: opening(`${people.eve}:main`),
      scopes: repositoryScopes,
      server: {
        grants: [
          { in: [`${acme}/*`], repositories: [], organizations: [], names: ['open-pull-request', 'compare'] },
        ],
      },
    });
    const eve = await harness.forge.makePerson(people.eve);
    const fork = { owner: people.eve, repo: at.repo };
    await eve.call(operations.createFork, { params: at, body: {} });
    await eve.call(operations.editRepository, { params: fork, body: { private: true } });
    await eve.call(operations.putCollaborator, {
      params: { ...fork, collaborator: people.bot },
      body: { permission: 'read' },
    });
    await eve.call(operations.createFile, {
      params: { ...fork, filepath: 'secret.txt' },
      body: { content: base64(secretWord), message: 'secret' },
    });
    const trigger = (title: string) =>
      harness.ada.call(operations.createIssue, { params: at, body: { title } });
    const pulls = () => harness.root.call(operations.listPulls, { params: at, query: { state: 'all' } });

    await trigger('one');
    const refused = await harness.waitForRun(({ rules }) => rules.length > 0);

    expect(refused.rules).toMatchObject([{ verdict: 'failed', level: 'repository' }]);
    expect(refused.rules[0]?.reason).toContain('whatever the grants');
    expect(await pulls()).toEqual([]);

    // The same file opens a pull request from a branch of the repository itself.
    await harness.root.call(operations.createFile, {
      params: { ...at, filepath: 'own.txt' },
      body: { content: base64('own'), message: 'own', branch: 'main', new_branch: 'own' },
    });
    await harness.setRules(opening('own'));
    await trigger('two');
    await harness.waitForRun(({ outcomes }) => outcomes.length > 0);

    expect((await pulls()).map(({ head }) => head?.label)).toEqual(['own']);
  });

  it('from a private fork that the payload of an event describes', async () => {
    const publishing = (path: string, key: string) => `  ${key}:
    on: pull_request.opened
    steps: [{ uses: comment, with: { key: ${key}, text: "${key}: \${{ ${path} }}" } }]
`;
    harness = await startHarness({
      rules: `version: 1
rules:
${publishing('event.pull_request.head.repo.description', 'text')}${publishing('event.pull_request.head.repo.website', 'site')}${publishing("event.pull_request.head.repo.full_name + '.'", 'name')}`,
    });
    const eve = await harness.forge.makePerson(people.eve);
    const fork = { owner: people.eve, repo: at.repo };
    await eve.call(operations.createFork, { params: at, body: {} });
    await eve.call(operations.editRepository, {
      params: fork,
      body: { private: true, description: secretWord, website: 'https://payroll.example' },
    });
    await eve.call(operations.createFile, {
      params: { ...fork, filepath: 'a.txt' },
      body: { content: base64('a'), message: 'a', branch: 'main', new_branch: 'work' },
    });
    const { number } = await eve.call(operations.createPull, {
      params: at,
      body: { title: 'Work', head: `${people.eve}:work`, base: 'main' },
    });
    await harness.waitForRun(({ rules }) => rules.some(({ verdict }) => verdict !== 'skipped'));
    await harness.idle();

    const comments = (await commentsOf(number)).join('\n');
    expect(comments).toContain(`name: ${people.eve}/${at.repo}`);
    expect(comments).not.toContain(secretWord);
    expect(comments).not.toContain('payroll');
    expect(JSON.stringify(harness.runs)).not.toContain(secretWord);
  });
});
