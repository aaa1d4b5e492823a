import { type Step, step } from './side.ts';

/** Accounts of the scenario: `ada` owns, `ben` may write, `cleo` may read private data, `dan` has no role. */
export const people = ['ada', 'ben', 'cleo', 'dan'] as const;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const site = '/repos/$ada/site';
/** Equal dates produce equal commits on both servers. */
const day = (number: number): Record<string, unknown> => {
  const at = `2026-01-${String(number).padStart(2, '0')}T10:00:00Z`;
  return { dates: { author: at, committer: at } };
};
const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl one@example.org';
const otherKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAWIFs7vhzEJQKOEuyPZaRHKGOzeO0OtwB5IzpFJBMNZ two@example.org';

/** Returns steps of the owner; `keep` names fields of the response that later steps use. */
const byOwner =
  (method: string) =>
  (path: string, body?: unknown, keep?: Readonly<Record<string, string>>): Step =>
    step('ada', method, path, { ...(body === undefined ? {} : { body }), ...(keep && { keep }) });
const [post, put, patch, remove] = [byOwner('POST'), byOwner('PUT'), byOwner('PATCH'), byOwner('DELETE')];

/** Creates everything that the later parts read: accounts, organizations, repositories and their contents. */
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
    post('/orgs', {
      username: '$acme',
      full_name: 'Acme',
      description: 'Makes things',
      website: 'https://example.org',
      location: 'Here',
    }),
    post('/orgs', { username: '$vault', visibility: 'private' }),
    post('/orgs', { username: '$acme' }),
    post('/orgs', { username: 'not valid!' }),
    post('/orgs', {}),
    post(
      '/orgs/$acme/teams',
      { name: 'writers', permission: 'write', units: ['repo.code', 'repo.issues', 'repo.pulls'] },
      { team: 'id' },
    ),
    post('/orgs/$acme/teams', {
      name: 'mixed',
      permission: 'none',
      units_map: { 'repo.code': 'read', 'repo.issues': 'write' },
      description: 'Units',
      can_create_org_repo: true,
    }),
    post('/orgs/$acme/teams', { name: 'writers', permission: 'write', units: ['repo.code'] }),
    post('/orgs/$acme/teams', { name: 'none', permission: 'read' }),
    put('/teams/$team/members/$ben'),
    put('/orgs/$acme/public_members/$ada'),
    post(
      '/orgs/$acme/labels',
      { name: 'shared', color: '#123456', description: 'For all' },
      { orgLabel: 'id' },
    ),
    patch('/orgs/$acme', { description: 'Made things', repo_admin_change_team_access: true }),
  ];
}

function repositories(): Step[] {
  return [
    post('/orgs/$vault/repos', { name: 'inner', auto_init: true }),
    post(
      '/user/repos',
      { name: 'site', auto_init: false, description: 'A site', default_branch: 'main' },
      { siteId: 'id' },
    ),
    post('/user/repos', { name: 'site' }),
    post('/user/repos', { name: 'a b' }),
    post('/user/repos', { name: '..' }),
    post('/user/repos', { name: 'x'.repeat(101) }),
    post('/user/repos', {}),
    post('/user/repos', { name: 'hidden', private: true, auto_init: true, readme: 'Default' }),
    post('/user/repos', { name: 'empty' }),
    post('/user/repos', {
      name: 'licensed',
      auto_init: true,
      license: 'MIT',
      gitignores: 'Go',
      readme: 'Default',
      issue_labels: 'Default',
      description: 'Filled from templates',
    }),
    post('/user/repos', { name: 'pattern', auto_init: true, template: true }),
    post('/user/repos', { name: 'old', auto_init: true }),
    post('/orgs/$acme/repos', { name: 'api', auto_init: true }),
    post('/orgs/$acme/repos', { name: 'secret', private: true, auto_init: true }),
    put('/teams/$team/repos/$acme/api'),
    put(`${site}/collaborators/$ben`, { permission: 'write' }),
    put('/repos/$ada/hidden/collaborators/$cleo', { permission: 'read' }),
    put(`${site}/topics`, { topics: ['forge', 'bot', 'forge'] }),
    put(`${site}/topics`, { topics: ['Not Valid'] }),
    put(`${site}/topics/extra`),
    patch('/repos/$ada/old', { archived: true }),
    patch(site, { website: 'https://example.org', has_wiki: true }),
    step('dan', 'POST', `${site}/forks`, { body: {} }),
    post('/repos/$ada/pattern/generate', { owner: '$ada', name: 'made', git_content: true }),
  ];
}

function files(): Step[] {
  const write = (path: string, text: string, number: number, more: Record<string, unknown> = {}): Step =>
    post(
      `${site}/contents/${path}`,
      { content: base64(text), message: `Add ${path}`, ...day(number), ...more },
      { [`blob${path.replace(/[^a-z]/gi, '')}`]: 'content.sha', head: 'commit.sha' },
    );
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
    post(
      `${site}/contents`,
      {
        message: 'Two files',
        ...day(10),
        files: [
          { operation: 'create', path: 'one.txt', content: base64('1\n') },
          { operation: 'create', path: 'two.txt', content: base64('2\n') },
        ],
      },
      { head: 'commit.sha' },
    ),
    post(`${site}/contents`, { message: 'None', files: [] }),
    post(`${site}/contents`, { message: 'Bad', files: [{ operation: 'create', path: '../x', content: '' }] }),
    put(`${site}/contents/one.txt`, { content: base64('one\n'), sha: '$blobREADMEmd', message: 'Wrong sha' }),
    remove(`${site}/contents/one.txt`, { sha: '0'.repeat(40) }),
    put(`${site}/contents/new.txt`, { content: base64('x'), message: 'New by PUT', ...day(11) }),
    post(`${site}/contents/bad.txt`, { content: '***', message: 'No base64' }),
    post(`${site}/branches`, { new_branch_name: 'topic/one' }),
    post(`${site}/branches`, { new_branch_name: 'topic/one' }),
    post(`${site}/branches`, { new_branch_name: 'bad..name' }),
    post(`${site}/branches`, { new_branch_name: 'x', old_ref_name: 'none' }),
    post(`${site}/branches`, {}),
    write('topic.txt', 'topic\n', 12, { branch: 'topic/one' }),
    write('other.txt', 'other\n', 13, { new_branch: 'topic/two' }),
    write('third.txt', 'third\n', 14, { new_branch: 'topic/three' }),
    write('README2.md', 'four\n', 15, { new_branch: 'topic/four' }),
    post(`${site}/tags`, { tag_name: 'v1.0', target: 'main', message: 'First' }, { tagObject: 'id' }),
    post(`${site}/tags`, { tag_name: 'light' }),
    post(`${site}/tags`, { tag_name: 'v1.0' }),
    post(`${site}/tags`, { tag_name: 'bad name' }),
    post(`${site}/tags`, { tag_name: 'v9', target: 'none' }),
    post(`${site}/statuses/$head`, {
      state: 'success',
      context: 'ci/build',
      description: 'ok',
      target_url: 'https://example.org/1',
    }),
    post(`${site}/statuses/$head`, { state: 'failure', context: 'ci/test' }),
    post(`${site}/statuses/$head`, { state: 'unknown', context: 'x' }),
    post(`${site}/statuses/$head`, {}),
    post(`${site}/statuses/none`, { state: 'success' }),
    post(`${site}/releases`, { tag_name: 'v1.0', name: 'One', body: 'Text' }, { release: 'id' }),
    post(`${site}/releases`, { tag_name: 'v2.0', name: 'Two', draft: true }, { draft: 'id' }),
    post(`${site}/releases`, { tag_name: 'v3.0', target_commitish: 'main', prerelease: true }),
    post(`${site}/releases`, { tag_name: 'v1.0' }),
    post(`${site}/releases`, { tag_name: 'v8', target_commitish: 'none' }),
    post(`${site}/releases`, {}),
    step('ada', 'POST', `${site}/releases/$release/assets?name=a.txt`, {
      upload: { part: 'attachment', name: 'a.txt', text: 'asset' },
      keep: { asset: 'id' },
    }),
    post(`${site}/wiki/new`, { title: 'Home', content_base64: base64('# Home\n'), message: 'Home' }),
    post(`${site}/wiki/new`, { title: 'Second page/x', content_base64: base64('two') }),
    post(`${site}/wiki/new`, { title: 'Home', content_base64: base64('x') }),
    post(`${site}/wiki/new`, { title: '', content_base64: base64('x') }),
  ];
}

function labelsAndMilestones(): Step[] {
  return [
    post(`${site}/labels`, { name: 'bug', color: '#ee0701', description: 'Broken' }, { label: 'id' }),
    post(`${site}/labels`, { name: 'kind/feature', color: 'abc', exclusive: true }, { scoped: 'id' }),
    post(`${site}/labels`, { name: 'kind/docs', color: '00FF00', exclusive: true }, { docs: 'id' }),
    post(`${site}/labels`, { name: 'bad', color: 'red' }),
    post(`${site}/labels`, { name: '', color: '#000000' }),
    post(`${site}/labels`, { name: 'old', color: '#000000', is_archived: true }, { archivedLabel: 'id' }),
    post(`${site}/labels`, { color: '#000000' }),
    patch(`${site}/labels/$label`, { name: 'Bug', color: 'ee0702' }),
    patch(`${site}/labels/$label`, { color: 'none' }),
    post(
      `${site}/milestones`,
      { title: 'One', description: 'First', due_on: '2026-12-24T00:00:00Z' },
      { milestone: 'id' },
    ),
    post(`${site}/milestones`, { title: 'Two', state: 'closed' }, { closedMilestone: 'id' }),
    post(`${site}/milestones`, { title: 'Bad date', due_on: 'tomorrow' }),
    patch(`${site}/milestones/$milestone`, { description: 'Changed' }),
  ];
}

function issues(): Step[] {
  return [
    post(`${site}/issues`, {
      title: 'First',
      body: 'For @$dan, see #2',
      labels: ['$label', '$scoped'],
      milestone: '$milestone',
      assignees: ['$ben'],
      due_date: '2026-12-24T10:00:00Z',
    }),
    step('dan', 'POST', `${site}/issues`, {
      body: { title: 'Second', body: 'By a stranger', labels: ['$label'] },
    }),
    post(`${site}/issues`, { title: 'Third', closed: true }),
    post(`${site}/issues`, { title: 'x'.repeat(255) }),
    post(`${site}/issues`, { title: 'x'.repeat(256) }),
    post(`${site}/issues`, { title: '' }),
    post(`${site}/issues`, { title: '   ' }),
    post(`${site}/issues`, { title: 'No such assignee', assignees: ['no-such-account'] }),
    post(`${site}/issues`, { title: 'Stranger as assignee', assignees: ['$dan'] }),
    post(`${site}/issues`, { title: 'No such label', labels: [999_999] }),
    post(`${site}/issues`, { title: 'No such milestone', milestone: 999_999 }),
    post(`${site}/issues`, { title: 'Bad date', due_date: 'soon' }),
    step('ben', 'POST', `${site}/issues/1/comments`, { body: { body: 'One' }, keep: { comment: 'id' } }),
    step('dan', 'POST', `${site}/issues/1/comments`, {
      body: { body: 'Two, see #3' },
      keep: { danComment: 'id' },
    }),
    post(`${site}/issues/1/comments`, { body: '' }),
    post(`${site}/issues/1/comments`, {}),
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
    post(`${site}/issues/comments/$comment/reactions`, { content: '+1' }),
    post(`${site}/issues/1/dependencies`, { index: 2, owner: '$ada', repo: 'site' }),
    post(`${site}/issues/1/dependencies`, { index: 2, owner: '$ada', repo: 'site' }),
    post(`${site}/issues/2/dependencies`, { index: 1, owner: '$ada', repo: 'site' }),
    post(`${site}/issues/1/dependencies`, { index: 1, owner: '$ada', repo: 'site' }),
    post(`${site}/issues/1/blocks`, { index: 3, owner: '$ada', repo: 'site' }),
    put(`${site}/issues/2/labels`, { labels: ['$scoped', '$docs'] }),
    put(`${site}/issues/2/labels`, { labels: ['Bug'] }),
    put(`${site}/issues/2/labels`, { labels: ['Bug', 1] }),
    put(`${site}/issues/2/labels`, { labels: ['none'] }),
    post(`${site}/issues/2/labels`, { labels: ['$docs'] }),
    step('dan', 'POST', `${site}/issues/2/labels`, { body: { labels: ['$docs'] } }),
    remove(`${site}/issues/2/labels/$docs`),
    remove(`${site}/issues/2/labels/999999`),
    post(`${site}/issues/1/times`, { time: 90 }, { time: 'id' }),
    step('ben', 'POST', `${site}/issues/1/times`, { body: { time: 30, created: '2026-02-03T04:05:06Z' } }),
    post(`${site}/issues/1/times`, {}),
    post(`${site}/issues/1/times`, { time: -1 }),
    post(`${site}/issues/2/stopwatch/start`),
    post(`${site}/issues/2/stopwatch/start`),
    post(`${site}/issues/1/deadline`, { due_date: '2026-12-25T00:00:00Z' }),
    post(`${site}/issues/2/deadline`, { due_date: null }),
    post(`${site}/issues/1/pin`),
    post(`${site}/issues/1/pin`),
    put(`${site}/issues/3/lock`, { lock_reason: 'Resolved' }),
    put(`${site}/issues/3/lock`, { lock_reason: 'No such reason' }),
    step('dan', 'POST', `${site}/issues/3/comments`, { body: { body: 'Locked out' } }),
    step('dan', 'PUT', `${site}/issues/1/subscriptions/$dan`),
    step('dan', 'PUT', `${site}/issues/1/subscriptions/$ada`),
    patch(`${site}/issues/1`, { title: 'First, changed', body: 'New text' }),
    patch(`${site}/issues/1`, { title: '' }),
    patch(`${site}/issues/1`, { state: 'no-such' }),
    patch(`${site}/issues/1`, { assignees: ['no-such-account'] }),
    patch(`${site}/issues/1`, { milestone: 999_999 }),
    patch(`${site}/issues/2`, { state: 'closed' }),
    patch(`${site}/issues/2`, { state: 'open', unset_due_date: true }),
  ];
}

function pulls(): Step[] {
  return [
    post(
      `${site}/pulls`,
      {
        title: 'Topic one',
        head: 'topic/one',
        base: 'main',
        body: 'Closes #2',
        labels: ['$label'],
        milestone: '$milestone',
        assignees: ['$ada'],
        reviewers: ['$ben'],
      },
      { pull: 'number' },
    ),
    post(
      `${site}/pulls`,
      { title: 'WIP: topic two', head: 'topic/two', base: 'main' },
      { draftPull: 'number' },
    ),
    post(`${site}/pulls`, { title: 'Again', head: 'topic/one', base: 'main' }),
    post(`${site}/pulls`, { title: '', head: 'topic/three', base: 'main' }),
    post(`${site}/pulls`, { title: 'x', head: 'none', base: 'main' }),
    post(`${site}/pulls`, { title: 'x', head: 'topic/three', base: 'none' }),
    post(`${site}/pulls`, { title: 'x', head: 'main', base: 'main' }),
    post(`${site}/pulls`, { title: 'y'.repeat(256), head: 'topic/three', base: 'main' }),
    post(`${site}/pulls`, { title: 'x', head: 'topic/three', base: 'main', reviewers: ['no-such-account'] }),
    post(
      `${site}/pulls`,
      { title: 'Topic three', head: 'topic/three', base: 'main' },
      { mergedPull: 'number' },
    ),
    post(
      `${site}/pulls`,
      { title: 'Topic four', head: '$ada:topic/four', base: 'main' },
      { closedPull: 'number' },
    ),
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
    post(`${site}/pulls/$pull/reviews`, { event: 'APPROVED' }),
    post(`${site}/pulls/$pull/reviews/$danReview/dismissals`, { message: 'Done' }),
    post(`${site}/pulls/$pull/reviews/$danReview/dismissals`, { message: 'Again' }),
    post(`${site}/pulls/$pull/reviews/$danReview/undismissals`),
    step('dan', 'POST', `${site}/pulls/$pull/reviews/$review/dismissals`, { body: { message: 'No' } }),
    post(`${site}/pulls/$pull/requested_reviewers`, { reviewers: ['$ben'] }),
    post(`${site}/pulls/$pull/requested_reviewers`, { reviewers: ['$ada'] }),
    post(`${site}/pulls/$pull/requested_reviewers`, { reviewers: ['no-such-account'] }),
    post(`${site}/pulls/$pull/requested_reviewers`, {}),
    post(`${site}/pulls/$mergedPull/merge`, { Do: 'squash', MergeTitleField: 'Squashed' }),
    post(`${site}/pulls/$mergedPull/merge`, { Do: 'merge' }),
    step('ada', 'POST', `${site}/pulls/$draftPull/merge`, { body: { Do: 'merge' }, isSettled: true }),
    post(`${site}/pulls/$pull/merge`, { Do: 'no-such' }),
    step('dan', 'POST', `${site}/pulls/$pull/merge`, { body: { Do: 'merge' } }),
    patch(`${site}/pulls/$closedPull`, { state: 'closed' }),
    patch(`${site}/pulls/$pull`, { title: 'Topic one, changed', allow_maintainer_edit: true }),
    patch(`${site}/pulls/$pull`, { base: 'none' }),
    patch(`${site}/pulls/$pull`, { title: '  ' }),
    post(`${site}/pulls/$pull/update`),
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
    post(`${site}/hooks`, hook, { hook: 'id' }),
    post(`${site}/hooks`, { ...hook, type: 'no-such' }),
    post(`${site}/hooks`, { ...hook, config: { url: 'no url', content_type: 'json' } }),
    post(`${site}/hooks`, { ...hook, config: { url: 'http://127.0.0.1:9/' } }),
    post(`${site}/hooks`, { ...hook, events: ['no-such'] }),
    post(`${site}/hooks`, { ...hook, authorization_header: 'Bearer x', branch_filter: 'main' }),
    patch(`${site}/hooks/$hook`, { events: ['push'], config: { url: 'http://127.0.0.1:9/other' } }),
    patch(`${site}/hooks/$hook`, { config: { content_type: 'xml' } }),
    post('/orgs/$acme/hooks', hook, { orgHook: 'id' }),
    post('/user/hooks', hook, { userHook: 'id' }),
    step('admin', 'POST', '/admin/hooks', { body: hook, keep: { adminHook: 'id' } }),
    post(`${site}/branch_protections`, {
      rule_name: 'main',
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['$ada'],
      required_approvals: 1,
      enable_status_check: true,
      status_check_contexts: ['ci/*'],
      dismiss_stale_approvals: true,
    }),
    post(`${site}/branch_protections`, { rule_name: 'release/*', protected_file_patterns: 'LICENSE;*.key' }),
    post(`${site}/branch_protections`, { rule_name: 'main' }),
    post(`${site}/branch_protections`, {}),
    post(`${site}/branch_protections`, {
      rule_name: 'x',
      push_whitelist_usernames: ['no-such-account'],
      enable_push_whitelist: true,
    }),
    post(`${site}/branch_protections`, {
      rule_name: 'y',
      status_check_contexts: ['['],
      enable_status_check: true,
    }),
    patch(`${site}/branch_protections/main`, { required_approvals: 2, block_on_rejected_reviews: true }),
    post(`${site}/pulls/$pull/merge`, { Do: 'merge' }),
    post(
      `${site}/tag_protections`,
      { name_pattern: 'v*', whitelist_usernames: ['$ada'] },
      { tagProtection: 'id' },
    ),
    post(`${site}/tag_protections`, { name_pattern: 'v*' }),
    post(`${site}/tag_protections`, { name_pattern: '' }),
    post(`${site}/tag_protections`, { name_pattern: '/[/' }),
    post(`${site}/tag_protections`, { name_pattern: 'w*', whitelist_teams: ['no-such'] }),
    patch(`${site}/tag_protections/$tagProtection`, { name_pattern: 'v1.*' }),
    post(`${site}/keys`, { title: 'deploy', key: publicKey, read_only: true }, { deployKey: 'id' }),
    post(`${site}/keys`, { title: 'deploy', key: publicKey }),
    post(`${site}/keys`, { title: 'bad', key: 'no key' }),
    put(`${site}/actions/secrets/TOKEN`, { data: 'value' }),
    put(`${site}/actions/secrets/TOKEN`, { data: 'other' }),
    put(`${site}/actions/secrets/GITEA_X`, { data: 'other' }),
    post(`${site}/actions/variables/NAME`, { value: 'value' }),
    post(`${site}/actions/variables/NAME`, { value: 'value' }),
    put(`${site}/actions/variables/NAME`, { name: 'NAME', value: 'new' }),
    put('/orgs/$acme/actions/secrets/TOKEN', { data: 'value' }),
    post('/orgs/$acme/actions/variables/NAME', { value: 'value' }),
    put('/user/actions/secrets/TOKEN', { data: 'value' }),
    post('/user/actions/variables/NAME', { value: 'value' }),
    post(`${site}/push_mirrors`, { remote_address: 'not an address', interval: '8h' }),
    post(`${site}/actions/workflows/build.yml/dispatches`, { ref: 'none' }),
  ];
}

function accounts(): Step[] {
  return [
    post('/user/keys', { title: 'mine', key: otherKey }, { key: 'id' }),
    step('ben', 'POST', '/user/keys', { body: { title: 'mine', key: otherKey } }),
    post('/user/keys', { title: '', key: 'x' }),
    post('/user/emails', { emails: ['second-$run@example.org'] }),
    post('/user/emails', { emails: ['second-$run@example.org'] }),
    post('/user/emails', { emails: ['no address'] }),
    patch('/user/settings', {
      full_name: 'Ada L',
      website: 'https://example.org',
      location: 'London',
      hide_email: true,
    }),
    patch('/user/settings', { theme: 'no-such' }),
    post(
      '/user/applications/oauth2',
      { name: 'app', redirect_uris: ['http://127.0.0.1/back'], confidential_client: true },
      { application: 'id' },
    ),
    post('/user/applications/oauth2', {
      name: 'second',
      redirect_uris: ['http://127.0.0.1/back', 'https://example.org/x'],
      confidential_client: false,
    }),
    post('/user/applications/oauth2', { name: '', redirect_uris: ['http://127.0.0.1/back'] }),
    post('/user/applications/oauth2', { name: 'bad', redirect_uris: ['no address'] }),
    step('ben', 'PUT', '/user/starred/$ada/site'),
    step('dan', 'PUT', '/user/starred/$ada/site'),
    step('dan', 'PUT', '/user/starred/$ada/hidden'),
    step('dan', 'PUT', `${site}/subscription`),
    step('dan', 'PUT', '/user/following/$ada'),
    step('dan', 'PUT', '/user/following/$dan'),
    step('dan', 'PUT', '/user/following/no-such-account'),
    put('/user/blocks/$cleo?note=why'),
    put('/user/blocks/$ada'),
    remove('/user/blocks/$cleo'),
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

const twice = (as: string, method: string, path: string, body?: unknown): Step[] => {
  const more = body === undefined ? {} : { body };
  return [step(as, method, path, more), step(as, method, path, more)];
};

/** Removals and renames, each requested twice; the second request has nothing left to do. */
export const lastSteps: readonly Step[] = [
  ...twice('dan', 'DELETE', `${site}/issues/comments/$danComment`),
  ...twice('dan', 'DELETE', `${site}/issues/1/reactions`, { content: 'heart' }),
  ...twice('ada', 'DELETE', `${site}/issues/1/dependencies`, { index: 2, owner: '$ada', repo: 'site' }),
  ...twice('ada', 'DELETE', `${site}/issues/1/times/$time`),
  ...twice('ada', 'DELETE', `${site}/issues/1/times`),
  ...twice('ada', 'DELETE', `${site}/issues/1/pin`),
  ...twice('ada', 'DELETE', `${site}/issues/3/lock`),
  ...twice('ada', 'POST', `${site}/issues/2/stopwatch/stop`),
  ...twice('ada', 'DELETE', `${site}/issues/1/assets/$attachment`),
  ...twice('ada', 'DELETE', `${site}/issues/1/labels`),
  ...twice('ada', 'DELETE', `${site}/issues/3`),
  ...twice('ada', 'DELETE', `${site}/labels/$docs`),
  ...twice('ada', 'DELETE', `${site}/milestones/$closedMilestone`),
  ...twice('ada', 'DELETE', `${site}/releases/$release/assets/$asset`),
  ...twice('ada', 'DELETE', `${site}/releases/$draft`),
  ...twice('ada', 'DELETE', `${site}/tags/light`),
  ...twice('ada', 'DELETE', `${site}/tags/v1.0`),
  ...twice('ada', 'DELETE', `${site}/branches/topic/three`),
  ...twice('ada', 'DELETE', `${site}/branches/main`),
  ...twice('ada', 'DELETE', `${site}/branch_protections/release%2F*`),
  ...twice('ada', 'DELETE', `${site}/tag_protections/$tagProtection`),
  ...twice('ada', 'DELETE', `${site}/hooks/$hook`),
  ...twice('ada', 'DELETE', `${site}/keys/$deployKey`),
  ...twice('ada', 'DELETE', `${site}/actions/secrets/TOKEN`),
  ...twice('ada', 'DELETE', `${site}/actions/variables/NAME`),
  ...twice('ada', 'DELETE', `${site}/collaborators/$ben`),
  ...twice('ada', 'DELETE', `${site}/wiki/page/Home`),
  ...twice('ada', 'DELETE', `${site}/topics/extra`),
  ...twice('dan', 'DELETE', `${site}/subscription`),
  ...twice('dan', 'DELETE', '/user/starred/$ada/site'),
  ...twice('dan', 'DELETE', '/user/following/$ada'),
  ...twice('ada', 'DELETE', '/user/keys/$key'),
  ...twice('ada', 'DELETE', '/user/emails', { emails: ['second-$run@example.org'] }),
  ...twice('ada', 'DELETE', '/user/applications/oauth2/$application'),
  ...twice('ada', 'DELETE', '/orgs/$acme/labels/$orgLabel'),
  ...twice('ada', 'DELETE', '/orgs/$acme/hooks/$orgHook'),
  ...twice('ada', 'DELETE', '/teams/$team/members/$ben'),
  ...twice('ada', 'DELETE', '/teams/$team'),
  ...twice('admin', 'DELETE', '/admin/hooks/$adminHook'),
  ...twice('ada', 'PATCH', '/repos/$ada/licensed', { name: 'renamed' }),
  step('ada', 'GET', '/repos/$ada/licensed'),
  ...twice('ada', 'POST', '/repos/$ada/renamed/transfer', { new_owner: '$dan' }),
  ...twice('dan', 'POST', '/repos/$ada/renamed/transfer/accept'),
  ...twice('ada', 'DELETE', '/repos/$ada/pattern'),
  ...twice('ada', 'DELETE', '/orgs/$acme'),
  ...twice('ada', 'DELETE', '/repos/$acme/secret'),
  ...twice('admin', 'DELETE', '/admin/users/$ada'),
  ...twice('admin', 'POST', '/admin/users/$cleo/rename', { new_username: 'clea-$run' }),
  step('admin', 'GET', '/users/$cleo'),
  ...twice('admin', 'DELETE', '/admin/users/$dan?purge=true'),
  // Remaining traces of a deleted account.
  step('ben', 'GET', `${site}/issues/2`),
  step('ben', 'GET', `${site}/issues/1/comments`),
  step('ben', 'GET', `${site}/pulls/$pull/reviews`),
];
