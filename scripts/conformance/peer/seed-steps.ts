import { type Step, step } from './step.ts';

/** Accounts of the scenario: `ada` owns, `ben` may write, `cleo` may read what is private, `dan` has no role. */
export const people = ['ada', 'ben', 'cleo', 'dan'] as const;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const site = '/repos/$ada/site';
/** Equal dates give equal commits on both servers. */
const day = (number: number): Record<string, unknown> => {
  const at = `2026-01-${String(number).padStart(2, '0')}T10:00:00Z`;
  return { dates: { author: at, committer: at } };
};
const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl one@example.org';
const otherKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAWIFs7vhzEJQKOEuyPZaRHKGOzeO0OtwB5IzpFJBMNZ two@example.org';

/** Everything that the later parts read: accounts, organizations, repositories and what is in them. */
export const seedSteps: readonly Step[] = [
  ...organizations(),
  ...repositories(),
  ...files(),
  ...labelsAndMilestones(),
  ...issues(),
  ...pulls(),
  ...settings(),
  ...accounts(),
];

function organizations(): Step[] {
  return [
    step('ada', 'POST', '/orgs', {
      body: {
        username: '$acme',
        full_name: 'Acme',
        description: 'Makes things',
        website: 'https://example.org',
        location: 'Here',
      },
    }),
    step('ada', 'POST', '/orgs', { body: { username: '$vault', visibility: 'private' } }),
    step('ada', 'POST', '/orgs', { body: { username: '$acme' } }),
    step('ada', 'POST', '/orgs', { body: { username: 'not valid!' } }),
    step('ada', 'POST', '/orgs', { body: {} }),
    step('ada', 'POST', '/orgs/$acme/teams', {
      body: { name: 'writers', permission: 'write', units: ['repo.code', 'repo.issues', 'repo.pulls'] },
      keep: { team: 'id' },
    }),
    step('ada', 'POST', '/orgs/$acme/teams', {
      body: {
        name: 'mixed',
        permission: 'none',
        units_map: { 'repo.code': 'read', 'repo.issues': 'write' },
        description: 'Units',
        can_create_org_repo: true,
      },
    }),
    step('ada', 'POST', '/orgs/$acme/teams', {
      body: { name: 'writers', permission: 'write', units: ['repo.code'] },
    }),
    step('ada', 'POST', '/orgs/$acme/teams', { body: { name: 'none', permission: 'read' } }),
    step('ada', 'PUT', '/teams/$team/members/$ben'),
    step('ada', 'PUT', '/orgs/$acme/public_members/$ada'),
    step('ada', 'POST', '/orgs/$acme/labels', {
      body: { name: 'shared', color: '#123456', description: 'For all' },
      keep: { orgLabel: 'id' },
    }),
    step('ada', 'PATCH', '/orgs/$acme', {
      body: { description: 'Made things', repo_admin_change_team_access: true },
    }),
  ];
}

function repositories(): Step[] {
  return [
    step('ada', 'POST', '/orgs/$vault/repos', { body: { name: 'inner', auto_init: true } }),
    step('ada', 'POST', '/user/repos', {
      body: { name: 'site', auto_init: false, description: 'A site', default_branch: 'main' },
      keep: { siteId: 'id' },
    }),
    step('ada', 'POST', '/user/repos', { body: { name: 'site' } }),
    step('ada', 'POST', '/user/repos', { body: { name: 'a b' } }),
    step('ada', 'POST', '/user/repos', { body: { name: '..' } }),
    step('ada', 'POST', '/user/repos', { body: { name: 'x'.repeat(101) } }),
    step('ada', 'POST', '/user/repos', { body: {} }),
    step('ada', 'POST', '/user/repos', {
      body: { name: 'hidden', private: true, auto_init: true, readme: 'Default' },
    }),
    step('ada', 'POST', '/user/repos', { body: { name: 'empty' } }),
    step('ada', 'POST', '/user/repos', {
      body: {
        name: 'licensed',
        auto_init: true,
        license: 'MIT',
        gitignores: 'Go',
        readme: 'Default',
        issue_labels: 'Default',
        description: 'Filled from templates',
      },
    }),
    step('ada', 'POST', '/user/repos', { body: { name: 'pattern', auto_init: true, template: true } }),
    step('ada', 'POST', '/user/repos', { body: { name: 'old', auto_init: true } }),
    step('ada', 'POST', '/orgs/$acme/repos', { body: { name: 'api', auto_init: true } }),
    step('ada', 'POST', '/orgs/$acme/repos', { body: { name: 'secret', private: true, auto_init: true } }),
    step('ada', 'PUT', '/teams/$team/repos/$acme/api'),
    step('ada', 'PUT', `${site}/collaborators/$ben`, { body: { permission: 'write' } }),
    step('ada', 'PUT', '/repos/$ada/hidden/collaborators/$cleo', { body: { permission: 'read' } }),
    step('ada', 'PUT', `${site}/topics`, { body: { topics: ['forge', 'bot', 'forge'] } }),
    step('ada', 'PUT', `${site}/topics`, { body: { topics: ['Not Valid'] } }),
    step('ada', 'PUT', `${site}/topics/extra`),
    step('ada', 'PATCH', '/repos/$ada/old', { body: { archived: true } }),
    step('ada', 'PATCH', site, { body: { website: 'https://example.org', has_wiki: true } }),
    step('dan', 'POST', `${site}/forks`, { body: {} }),
    step('ada', 'POST', '/repos/$ada/pattern/generate', {
      body: { owner: '$ada', name: 'made', git_content: true },
    }),
  ];
}

function files(): Step[] {
  const write = (path: string, text: string, number: number, more: Record<string, unknown> = {}): Step =>
    step('ada', 'POST', `${site}/contents/${path}`, {
      body: { content: base64(text), message: `Add ${path}`, ...day(number), ...more },
      keep: { [`blob${path.replace(/[^a-z]/gi, '')}`]: 'content.sha', head: 'commit.sha' },
    });
  return [
    write('README.md', '# Site\n\nText of the *site*.\n', 1),
    write('src/main.go', 'package main\n\nfunc main() {}\n', 2),
    write('src/lib/util.go', 'package lib\n', 3),
    write('.editorconfig', 'root = true\n\n[*.md]\nindent_style = space\nindent_size = 2\n', 4),
    write(
      '.gitea/ISSUE_TEMPLATE/bug.md',
      '---\nname: Bug\nabout: Report\ntitle: "[Bug] "\nlabels: [bug]\n---\nText\n',
      5,
    ),
    write(
      '.gitea/workflows/build.yml',
      'on: [workflow_dispatch]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo\n',
      6,
    ),
    write(
      'LICENSE',
      'MIT License\n\nCopyright (c) 2026 Ada\n\nPermission is hereby granted, free of charge, to any person\n',
      7,
    ),
    write('a b/ü.txt', 'text', 8),
    write('README.md', 'again', 9),
    step('ada', 'POST', `${site}/contents`, {
      body: {
        message: 'Two files',
        ...day(10),
        files: [
          { operation: 'create', path: 'one.txt', content: base64('1\n') },
          { operation: 'create', path: 'two.txt', content: base64('2\n') },
        ],
      },
      keep: { head: 'commit.sha' },
    }),
    step('ada', 'POST', `${site}/contents`, { body: { message: 'None', files: [] } }),
    step('ada', 'POST', `${site}/contents`, {
      body: { message: 'Bad', files: [{ operation: 'create', path: '../x', content: '' }] },
    }),
    step('ada', 'PUT', `${site}/contents/one.txt`, {
      body: { content: base64('one\n'), sha: '$blobREADMEmd', message: 'Wrong sha' },
    }),
    step('ada', 'DELETE', `${site}/contents/one.txt`, { body: { sha: '0'.repeat(40) } }),
    step('ada', 'PUT', `${site}/contents/new.txt`, {
      body: { content: base64('x'), message: 'New by PUT', ...day(11) },
    }),
    step('ada', 'POST', `${site}/contents/bad.txt`, { body: { content: '***', message: 'No base64' } }),
    step('ada', 'POST', `${site}/branches`, { body: { new_branch_name: 'topic/one' } }),
    step('ada', 'POST', `${site}/branches`, { body: { new_branch_name: 'topic/one' } }),
    step('ada', 'POST', `${site}/branches`, { body: { new_branch_name: 'bad..name' } }),
    step('ada', 'POST', `${site}/branches`, { body: { new_branch_name: 'x', old_ref_name: 'none' } }),
    step('ada', 'POST', `${site}/branches`, { body: {} }),
    write('topic.txt', 'topic\n', 12, { branch: 'topic/one' }),
    write('other.txt', 'other\n', 13, { new_branch: 'topic/two' }),
    write('third.txt', 'third\n', 14, { new_branch: 'topic/three' }),
    write('README2.md', 'four\n', 15, { new_branch: 'topic/four' }),
    step('ada', 'POST', `${site}/tags`, {
      body: { tag_name: 'v1.0', target: 'main', message: 'First' },
      keep: { tagObject: 'id' },
    }),
    step('ada', 'POST', `${site}/tags`, { body: { tag_name: 'light' } }),
    step('ada', 'POST', `${site}/tags`, { body: { tag_name: 'v1.0' } }),
    step('ada', 'POST', `${site}/tags`, { body: { tag_name: 'bad name' } }),
    step('ada', 'POST', `${site}/tags`, { body: { tag_name: 'v9', target: 'none' } }),
    step('ada', 'POST', `${site}/statuses/$head`, {
      body: { state: 'success', context: 'ci/build', description: 'ok', target_url: 'https://example.org/1' },
    }),
    step('ada', 'POST', `${site}/statuses/$head`, { body: { state: 'failure', context: 'ci/test' } }),
    step('ada', 'POST', `${site}/statuses/$head`, { body: { state: 'unknown', context: 'x' } }),
    step('ada', 'POST', `${site}/statuses/$head`, { body: {} }),
    step('ada', 'POST', `${site}/statuses/none`, { body: { state: 'success' } }),
    step('ada', 'POST', `${site}/releases`, {
      body: { tag_name: 'v1.0', name: 'One', body: 'Text' },
      keep: { release: 'id' },
    }),
    step('ada', 'POST', `${site}/releases`, {
      body: { tag_name: 'v2.0', name: 'Two', draft: true },
      keep: { draft: 'id' },
    }),
    step('ada', 'POST', `${site}/releases`, {
      body: { tag_name: 'v3.0', target_commitish: 'main', prerelease: true },
    }),
    step('ada', 'POST', `${site}/releases`, { body: { tag_name: 'v1.0' } }),
    step('ada', 'POST', `${site}/releases`, { body: { tag_name: 'v8', target_commitish: 'none' } }),
    step('ada', 'POST', `${site}/releases`, { body: {} }),
    step('ada', 'POST', `${site}/releases/$release/assets?name=a.txt`, {
      upload: { part: 'attachment', name: 'a.txt', text: 'asset' },
      keep: { asset: 'id' },
    }),
    step('ada', 'POST', `${site}/wiki/new`, {
      body: { title: 'Home', content_base64: base64('# Home\n'), message: 'Home' },
    }),
    step('ada', 'POST', `${site}/wiki/new`, {
      body: { title: 'Second page/x', content_base64: base64('two') },
    }),
    step('ada', 'POST', `${site}/wiki/new`, { body: { title: 'Home', content_base64: base64('x') } }),
    step('ada', 'POST', `${site}/wiki/new`, { body: { title: '', content_base64: base64('x') } }),
  ];
}

function labelsAndMilestones(): Step[] {
  return [
    step('ada', 'POST', `${site}/labels`, {
      body: { name: 'bug', color: '#ee0701', description: 'Broken' },
      keep: { label: 'id' },
    }),
    step('ada', 'POST', `${site}/labels`, {
      body: { name: 'kind/feature', color: 'abc', exclusive: true },
      keep: { scoped: 'id' },
    }),
    step('ada', 'POST', `${site}/labels`, {
      body: { name: 'kind/docs', color: '00FF00', exclusive: true },
      keep: { docs: 'id' },
    }),
    step('ada', 'POST', `${site}/labels`, { body: { name: 'bad', color: 'red' } }),
    step('ada', 'POST', `${site}/labels`, { body: { name: '', color: '#000000' } }),
    step('ada', 'POST', `${site}/labels`, {
      body: { name: 'old', color: '#000000', is_archived: true },
      keep: { archivedLabel: 'id' },
    }),
    step('ada', 'POST', `${site}/labels`, { body: { color: '#000000' } }),
    step('ada', 'PATCH', `${site}/labels/$label`, { body: { name: 'Bug', color: 'ee0702' } }),
    step('ada', 'PATCH', `${site}/labels/$label`, { body: { color: 'none' } }),
    step('ada', 'POST', `${site}/milestones`, {
      body: { title: 'One', description: 'First', due_on: '2026-12-24T00:00:00Z' },
      keep: { milestone: 'id' },
    }),
    step('ada', 'POST', `${site}/milestones`, {
      body: { title: 'Two', state: 'closed' },
      keep: { closedMilestone: 'id' },
    }),
    step('ada', 'POST', `${site}/milestones`, { body: { title: 'Bad date', due_on: 'tomorrow' } }),
    step('ada', 'PATCH', `${site}/milestones/$milestone`, { body: { description: 'Changed' } }),
  ];
}

function issues(): Step[] {
  return [
    step('ada', 'POST', `${site}/issues`, {
      body: {
        title: 'First',
        body: 'For @$dan, see #2',
        labels: ['$label', '$scoped'],
        milestone: '$milestone',
        assignees: ['$ben'],
        due_date: '2026-12-24T10:00:00Z',
      },
    }),
    step('dan', 'POST', `${site}/issues`, {
      body: { title: 'Second', body: 'By a stranger', labels: ['$label'] },
    }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'Third', closed: true } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'x'.repeat(255) } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'x'.repeat(256) } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: '' } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: '   ' } }),
    step('ada', 'POST', `${site}/issues`, {
      body: { title: 'No such assignee', assignees: ['no-such-account'] },
    }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'Stranger as assignee', assignees: ['$dan'] } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'No such label', labels: [999_999] } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'No such milestone', milestone: 999_999 } }),
    step('ada', 'POST', `${site}/issues`, { body: { title: 'Bad date', due_date: 'soon' } }),
    step('ben', 'POST', `${site}/issues/1/comments`, { body: { body: 'One' }, keep: { comment: 'id' } }),
    step('dan', 'POST', `${site}/issues/1/comments`, {
      body: { body: 'Two, see #3' },
      keep: { danComment: 'id' },
    }),
    step('ada', 'POST', `${site}/issues/1/comments`, { body: { body: '' } }),
    step('ada', 'POST', `${site}/issues/1/comments`, { body: {} }),
    step('ben', 'PATCH', `${site}/issues/comments/$comment`, { body: { body: 'One, changed' } }),
    step('dan', 'PATCH', `${site}/issues/comments/$comment`, { body: { body: 'Not mine' } }),
    step('ada', 'POST', `${site}/issues/1/assets?name=log.txt`, {
      upload: { part: 'attachment', name: 'log.txt', text: 'log' },
      keep: { attachment: 'id' },
    }),
    step('ben', 'POST', `${site}/issues/comments/$comment/assets`, {
      upload: { part: 'attachment', name: 'c.txt', text: 'comment' },
      keep: { commentAttachment: 'id' },
    }),
    step('ada', 'POST', `${site}/issues/1/assets?name=run.exe`, {
      upload: { part: 'attachment', name: 'run.exe', text: 'x' },
    }),
    step('dan', 'POST', `${site}/issues/1/reactions`, { body: { content: 'heart' } }),
    step('dan', 'POST', `${site}/issues/1/reactions`, { body: { content: 'heart' } }),
    step('dan', 'POST', `${site}/issues/1/reactions`, { body: { content: 'no-such' } }),
    step('ada', 'POST', `${site}/issues/comments/$comment/reactions`, { body: { content: '+1' } }),
    step('ada', 'POST', `${site}/issues/1/dependencies`, { body: { index: 2, owner: '$ada', repo: 'site' } }),
    step('ada', 'POST', `${site}/issues/1/dependencies`, { body: { index: 2, owner: '$ada', repo: 'site' } }),
    step('ada', 'POST', `${site}/issues/2/dependencies`, { body: { index: 1, owner: '$ada', repo: 'site' } }),
    step('ada', 'POST', `${site}/issues/1/dependencies`, { body: { index: 1, owner: '$ada', repo: 'site' } }),
    step('ada', 'POST', `${site}/issues/1/blocks`, { body: { index: 3, owner: '$ada', repo: 'site' } }),
    step('ada', 'PUT', `${site}/issues/2/labels`, { body: { labels: ['$scoped', '$docs'] } }),
    step('ada', 'PUT', `${site}/issues/2/labels`, { body: { labels: ['Bug'] } }),
    step('ada', 'PUT', `${site}/issues/2/labels`, { body: { labels: ['Bug', 1] } }),
    step('ada', 'PUT', `${site}/issues/2/labels`, { body: { labels: ['none'] } }),
    step('ada', 'POST', `${site}/issues/2/labels`, { body: { labels: ['$docs'] } }),
    step('dan', 'POST', `${site}/issues/2/labels`, { body: { labels: ['$docs'] } }),
    step('ada', 'DELETE', `${site}/issues/2/labels/$docs`),
    step('ada', 'DELETE', `${site}/issues/2/labels/999999`),
    step('ada', 'POST', `${site}/issues/1/times`, { body: { time: 90 }, keep: { time: 'id' } }),
    step('ben', 'POST', `${site}/issues/1/times`, { body: { time: 30, created: '2026-02-03T04:05:06Z' } }),
    step('ada', 'POST', `${site}/issues/1/times`, { body: {} }),
    step('ada', 'POST', `${site}/issues/1/times`, { body: { time: -1 } }),
    step('ada', 'POST', `${site}/issues/2/stopwatch/start`),
    step('ada', 'POST', `${site}/issues/2/stopwatch/start`),
    step('ada', 'POST', `${site}/issues/1/deadline`, { body: { due_date: '2026-12-25T00:00:00Z' } }),
    step('ada', 'POST', `${site}/issues/2/deadline`, { body: { due_date: null } }),
    step('ada', 'POST', `${site}/issues/1/pin`),
    step('ada', 'POST', `${site}/issues/1/pin`),
    step('ada', 'PUT', `${site}/issues/3/lock`, { body: { lock_reason: 'Resolved' } }),
    step('ada', 'PUT', `${site}/issues/3/lock`, { body: { lock_reason: 'No such reason' } }),
    step('dan', 'POST', `${site}/issues/3/comments`, { body: { body: 'Locked out' } }),
    step('dan', 'PUT', `${site}/issues/1/subscriptions/$dan`),
    step('dan', 'PUT', `${site}/issues/1/subscriptions/$ada`),
    step('ada', 'PATCH', `${site}/issues/1`, { body: { title: 'First, changed', body: 'New text' } }),
    step('ada', 'PATCH', `${site}/issues/1`, { body: { title: '' } }),
    step('ada', 'PATCH', `${site}/issues/1`, { body: { state: 'no-such' } }),
    step('ada', 'PATCH', `${site}/issues/1`, { body: { assignees: ['no-such-account'] } }),
    step('ada', 'PATCH', `${site}/issues/1`, { body: { milestone: 999_999 } }),
    step('ada', 'PATCH', `${site}/issues/2`, { body: { state: 'closed' } }),
    step('ada', 'PATCH', `${site}/issues/2`, { body: { state: 'open', unset_due_date: true } }),
  ];
}

function pulls(): Step[] {
  return [
    step('ada', 'POST', `${site}/pulls`, {
      body: {
        title: 'Topic one',
        head: 'topic/one',
        base: 'main',
        body: 'Closes #2',
        labels: ['$label'],
        milestone: '$milestone',
        assignees: ['$ada'],
        reviewers: ['$ben'],
      },
      keep: { pull: 'number' },
    }),
    step('ada', 'POST', `${site}/pulls`, {
      body: { title: 'WIP: topic two', head: 'topic/two', base: 'main' },
      keep: { draftPull: 'number' },
    }),
    step('ada', 'POST', `${site}/pulls`, { body: { title: 'Again', head: 'topic/one', base: 'main' } }),
    step('ada', 'POST', `${site}/pulls`, { body: { title: '', head: 'topic/three', base: 'main' } }),
    step('ada', 'POST', `${site}/pulls`, { body: { title: 'x', head: 'none', base: 'main' } }),
    step('ada', 'POST', `${site}/pulls`, { body: { title: 'x', head: 'topic/three', base: 'none' } }),
    step('ada', 'POST', `${site}/pulls`, { body: { title: 'x', head: 'main', base: 'main' } }),
    step('ada', 'POST', `${site}/pulls`, {
      body: { title: 'y'.repeat(256), head: 'topic/three', base: 'main' },
    }),
    step('ada', 'POST', `${site}/pulls`, {
      body: { title: 'x', head: 'topic/three', base: 'main', reviewers: ['no-such-account'] },
    }),
    step('ada', 'POST', `${site}/pulls`, {
      body: { title: 'Topic three', head: 'topic/three', base: 'main' },
      keep: { mergedPull: 'number' },
    }),
    step('ada', 'POST', `${site}/pulls`, {
      body: { title: 'Topic four', head: '$ada:topic/four', base: 'main' },
      keep: { closedPull: 'number' },
    }),
    step('ben', 'POST', `${site}/pulls/$pull/reviews`, {
      body: {
        event: 'APPROVED',
        body: 'Fine',
        comments: [{ path: 'topic.txt', body: 'Here', new_position: 1 }],
      },
      keep: { review: 'id' },
    }),
    step('dan', 'POST', `${site}/pulls/$pull/reviews`, {
      body: { event: 'REQUEST_CHANGES', body: 'Please' },
      keep: { danReview: 'id' },
    }),
    step('dan', 'POST', `${site}/pulls/$pull/reviews`, { body: { event: 'REQUEST_CHANGES' } }),
    step('ada', 'POST', `${site}/pulls/$pull/reviews`, { body: { event: 'APPROVED' } }),
    step('ada', 'POST', `${site}/pulls/$pull/reviews/$danReview/dismissals`, { body: { message: 'Done' } }),
    step('ada', 'POST', `${site}/pulls/$pull/reviews/$danReview/dismissals`, { body: { message: 'Again' } }),
    step('ada', 'POST', `${site}/pulls/$pull/reviews/$danReview/undismissals`),
    step('dan', 'POST', `${site}/pulls/$pull/reviews/$review/dismissals`, { body: { message: 'No' } }),
    step('ada', 'POST', `${site}/pulls/$pull/requested_reviewers`, { body: { reviewers: ['$ben'] } }),
    step('ada', 'POST', `${site}/pulls/$pull/requested_reviewers`, { body: { reviewers: ['$ada'] } }),
    step('ada', 'POST', `${site}/pulls/$pull/requested_reviewers`, {
      body: { reviewers: ['no-such-account'] },
    }),
    step('ada', 'POST', `${site}/pulls/$pull/requested_reviewers`, { body: {} }),
    step('ada', 'POST', `${site}/pulls/$mergedPull/merge`, {
      body: { Do: 'squash', MergeTitleField: 'Squashed' },
    }),
    step('ada', 'POST', `${site}/pulls/$mergedPull/merge`, { body: { Do: 'merge' } }),
    step('ada', 'POST', `${site}/pulls/$draftPull/merge`, { body: { Do: 'merge' }, isSettled: true }),
    step('ada', 'POST', `${site}/pulls/$pull/merge`, { body: { Do: 'no-such' } }),
    step('dan', 'POST', `${site}/pulls/$pull/merge`, { body: { Do: 'merge' } }),
    step('ada', 'PATCH', `${site}/pulls/$closedPull`, { body: { state: 'closed' } }),
    step('ada', 'PATCH', `${site}/pulls/$pull`, {
      body: { title: 'Topic one, changed', allow_maintainer_edit: true },
    }),
    step('ada', 'PATCH', `${site}/pulls/$pull`, { body: { base: 'none' } }),
    step('ada', 'PATCH', `${site}/pulls/$pull`, { body: { title: '  ' } }),
    step('ada', 'POST', `${site}/pulls/$pull/update`),
  ];
}

function settings(): Step[] {
  const hook = {
    type: 'gitea',
    config: { url: 'http://127.0.0.1:9/none', content_type: 'json', secret: 'x' },
    events: ['push', 'issues'],
    active: false,
  };
  return [
    step('ada', 'POST', `${site}/hooks`, { body: hook, keep: { hook: 'id' } }),
    step('ada', 'POST', `${site}/hooks`, { body: { ...hook, type: 'no-such' } }),
    step('ada', 'POST', `${site}/hooks`, {
      body: { ...hook, config: { url: 'no url', content_type: 'json' } },
    }),
    step('ada', 'POST', `${site}/hooks`, { body: { ...hook, config: { url: 'http://127.0.0.1:9/' } } }),
    step('ada', 'POST', `${site}/hooks`, { body: { ...hook, events: ['no-such'] } }),
    step('ada', 'POST', `${site}/hooks`, {
      body: { ...hook, authorization_header: 'Bearer x', branch_filter: 'main' },
    }),
    step('ada', 'PATCH', `${site}/hooks/$hook`, {
      body: { events: ['push'], config: { url: 'http://127.0.0.1:9/other' } },
    }),
    step('ada', 'PATCH', `${site}/hooks/$hook`, { body: { config: { content_type: 'xml' } } }),
    step('ada', 'POST', '/orgs/$acme/hooks', { body: hook, keep: { orgHook: 'id' } }),
    step('ada', 'POST', '/user/hooks', { body: hook, keep: { userHook: 'id' } }),
    step('admin', 'POST', '/admin/hooks', { body: hook, keep: { adminHook: 'id' } }),
    step('ada', 'POST', `${site}/branch_protections`, {
      body: {
        rule_name: 'main',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: ['$ada'],
        required_approvals: 1,
        enable_status_check: true,
        status_check_contexts: ['ci/*'],
        dismiss_stale_approvals: true,
      },
    }),
    step('ada', 'POST', `${site}/branch_protections`, {
      body: { rule_name: 'release/*', protected_file_patterns: 'LICENSE;*.key' },
    }),
    step('ada', 'POST', `${site}/branch_protections`, { body: { rule_name: 'main' } }),
    step('ada', 'POST', `${site}/branch_protections`, { body: {} }),
    step('ada', 'POST', `${site}/branch_protections`, {
      body: { rule_name: 'x', push_whitelist_usernames: ['no-such-account'], enable_push_whitelist: true },
    }),
    step('ada', 'POST', `${site}/branch_protections`, {
      body: { rule_name: 'y', status_check_contexts: ['['], enable_status_check: true },
    }),
    step('ada', 'PATCH', `${site}/branch_protections/main`, {
      body: { required_approvals: 2, block_on_rejected_reviews: true },
    }),
    step('ada', 'POST', `${site}/pulls/$pull/merge`, { body: { Do: 'merge' } }),
    step('ada', 'POST', `${site}/tag_protections`, {
      body: { name_pattern: 'v*', whitelist_usernames: ['$ada'] },
      keep: { tagProtection: 'id' },
    }),
    step('ada', 'POST', `${site}/tag_protections`, { body: { name_pattern: 'v*' } }),
    step('ada', 'POST', `${site}/tag_protections`, { body: { name_pattern: '' } }),
    step('ada', 'POST', `${site}/tag_protections`, { body: { name_pattern: '/[/' } }),
    step('ada', 'POST', `${site}/tag_protections`, {
      body: { name_pattern: 'w*', whitelist_teams: ['no-such'] },
    }),
    step('ada', 'PATCH', `${site}/tag_protections/$tagProtection`, { body: { name_pattern: 'v1.*' } }),
    step('ada', 'POST', `${site}/keys`, {
      body: { title: 'deploy', key: publicKey, read_only: true },
      keep: { deployKey: 'id' },
    }),
    step('ada', 'POST', `${site}/keys`, { body: { title: 'deploy', key: publicKey } }),
    step('ada', 'POST', `${site}/keys`, { body: { title: 'bad', key: 'no key' } }),
    step('ada', 'PUT', `${site}/actions/secrets/TOKEN`, { body: { data: 'value' } }),
    step('ada', 'PUT', `${site}/actions/secrets/TOKEN`, { body: { data: 'other' } }),
    step('ada', 'PUT', `${site}/actions/secrets/GITEA_X`, { body: { data: 'other' } }),
    step('ada', 'POST', `${site}/actions/variables/NAME`, { body: { value: 'value' } }),
    step('ada', 'POST', `${site}/actions/variables/NAME`, { body: { value: 'value' } }),
    step('ada', 'PUT', `${site}/actions/variables/NAME`, { body: { name: 'NAME', value: 'new' } }),
    step('ada', 'PUT', '/orgs/$acme/actions/secrets/TOKEN', { body: { data: 'value' } }),
    step('ada', 'POST', '/orgs/$acme/actions/variables/NAME', { body: { value: 'value' } }),
    step('ada', 'PUT', '/user/actions/secrets/TOKEN', { body: { data: 'value' } }),
    step('ada', 'POST', '/user/actions/variables/NAME', { body: { value: 'value' } }),
    step('ada', 'POST', `${site}/push_mirrors`, {
      body: { remote_address: 'not an address', interval: '8h' },
    }),
    step('ada', 'POST', `${site}/actions/workflows/build.yml/dispatches`, { body: { ref: 'none' } }),
  ];
}

function accounts(): Step[] {
  return [
    step('ada', 'POST', '/user/keys', { body: { title: 'mine', key: otherKey }, keep: { key: 'id' } }),
    step('ben', 'POST', '/user/keys', { body: { title: 'mine', key: otherKey } }),
    step('ada', 'POST', '/user/keys', { body: { title: '', key: 'x' } }),
    step('ada', 'POST', '/user/emails', { body: { emails: ['second-$run@example.org'] } }),
    step('ada', 'POST', '/user/emails', { body: { emails: ['second-$run@example.org'] } }),
    step('ada', 'POST', '/user/emails', { body: { emails: ['no address'] } }),
    step('ada', 'PATCH', '/user/settings', {
      body: { full_name: 'Ada L', website: 'https://example.org', location: 'London', hide_email: true },
    }),
    step('ada', 'PATCH', '/user/settings', { body: { theme: 'no-such' } }),
    step('ada', 'POST', '/user/applications/oauth2', {
      body: { name: 'app', redirect_uris: ['http://127.0.0.1/back'], confidential_client: true },
      keep: { application: 'id' },
    }),
    step('ada', 'POST', '/user/applications/oauth2', {
      body: {
        name: 'second',
        redirect_uris: ['http://127.0.0.1/back', 'https://example.org/x'],
        confidential_client: false,
      },
    }),
    step('ada', 'POST', '/user/applications/oauth2', {
      body: { name: '', redirect_uris: ['http://127.0.0.1/back'] },
    }),
    step('ada', 'POST', '/user/applications/oauth2', {
      body: { name: 'bad', redirect_uris: ['no address'] },
    }),
    step('ben', 'PUT', '/user/starred/$ada/site'),
    step('dan', 'PUT', '/user/starred/$ada/site'),
    step('dan', 'PUT', '/user/starred/$ada/hidden'),
    step('dan', 'PUT', `${site}/subscription`),
    step('dan', 'PUT', '/user/following/$ada'),
    step('dan', 'PUT', '/user/following/$dan'),
    step('dan', 'PUT', '/user/following/no-such-account'),
    step('ada', 'PUT', '/user/blocks/$cleo?note=why'),
    step('ada', 'PUT', '/user/blocks/$ada'),
    step('ada', 'DELETE', '/user/blocks/$cleo'),
    step('admin', 'POST', '/admin/users', {
      body: {
        username: 'new-$run',
        email: 'new-$run@example.org',
        password: 'long enough 1',
        must_change_password: false,
      },
    }),
    step('admin', 'POST', '/admin/users', {
      body: { username: 'new-$run', email: 'other-$run@example.org', password: 'long enough 1' },
    }),
    step('admin', 'POST', '/admin/users', {
      body: { username: 'newer-$run', email: 'new-$run@example.org', password: 'long enough 1' },
    }),
    step('admin', 'POST', '/admin/users', {
      body: { username: 'short-$run', email: 'short-$run@example.org', password: 'x' },
    }),
    step('admin', 'POST', '/admin/users', {
      body: { username: 'bad name', email: 'bad-$run@example.org', password: 'long enough 1' },
    }),
    step('admin', 'POST', '/admin/users', {
      body: { username: 'admin', email: 'admin-$run@example.org', password: 'long enough 1' },
    }),
    step('admin', 'POST', '/admin/users', { body: {} }),
    step('ben', 'POST', '/admin/users', {
      body: { username: 'no-$run', email: 'no-$run@example.org', password: 'long enough 1' },
    }),
    step('admin', 'PATCH', '/admin/users/new-$run', {
      body: { full_name: 'New', restricted: true, source_id: 0, login_name: 'new-$run' },
    }),
    step('admin', 'PATCH', '/admin/users/new-$run', { body: { email: 'no address' } }),
    step('ada', 'GET', '/notifications', { keep: { thread: '0.id' } }),
    step('dan', 'GET', '/notifications', { keep: { danThread: '0.id' } }),
  ];
}
