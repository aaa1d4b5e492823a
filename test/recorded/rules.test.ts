import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { parsePayload } from '../../src/contract/events/parse-payload.ts';
import type { Run } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createRuleSet, type LoadedRule } from '../../src/rules/rule.ts';
import { findRuleFiles, loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { type Fixture, jsonOf, kindOf, readRecordings } from '../support/recording/fixture.ts';

const files = await loadRuleFiles(await findRuleFiles(['rules']));
const rules = files.flatMap((file) => file.rules);
const nameOf = (id: string): string => id.replace(/^.*rules\//, '');

const reviewed = '0'.repeat(40);

/** Facts in addition to the payload: a repository with little activity, whose comments are commands. */
const around = (head: string) => ({
  files: ['docs/guide.md', 'src/work.ts'].map((filename) => ({
    ...{ filename, status: 'added', additions: 3, deletions: 0, changes: 3 },
  })),
  reviews: [{ id: 1, state: 'APPROVED', stale: true, commit_id: reviewed, user: { id: 2, login: 'ben' } }],
  approvals: [{ id: 1, state: 'APPROVED', user: { id: 2, login: 'ben' } }],
  dependencies: [{ number: 1, state: 'open' }],
  labels: ['kind/bug', 'stale', 'auto-merge', 'keep-updated'],
  label_definitions: [
    ...['area/docs', 'area/build', 'area/tests', 'area/code', 'size/S', 'size/M', 'size/L', 'blocked'],
    ...['release', 'hotfix', 'kind/bug', 'kind/feature', 'kind/question', 'area/api', 'first-contribution'],
    ...['stale', 'hold', 'dependencies', 'auto-merge', 'keep-updated'],
  ].map((name, at) => ({ id: at + 1, name, color: 'ff0000', exclusive: name.startsWith('size/') })),
  compare: {
    [`${head}...main`]: { total_commits: 2, commits: [], files: [] },
  },
  changed_since: { [reviewed]: [{ filename: 'src/work.ts' }] },
  commits: [{ sha: head, commit: { message: 'Work' } }],
  statuses: [],
  required_checks: [],
  base_branch: { name: 'main', enable_status_check: false },
  head_branch: { name: 'work', sha: head, protected: false, is_default: false, used_by: [] },
  branch: { name: 'main' },
  branch_protections: [],
  tag_protections: [],
  codeowners: [{ file: 'docs/guide.md', users: ['ben'], teams: [] }],
  codeowners_problems: { text: '', lines: [] },
  current_reviews: [],
  team: { 'acme/security': ['ben'] },
  contributions: 0,
  sender_permission: 'write',
  command: {
    label: ['kind/bug'],
    unlabel: false,
    close: [],
    reopen: false,
    hold: [],
    unhold: false,
    backport: false,
    deploy: false,
  },
  milestones: [{ id: 1, title: 'next', state: 'open' }],
  review_requests: [],
  timeline: [],
  reactions: [],
  comments: [],
  topics: [],
  collaborator_permissions: [],
  named_branch: { main: { commit: head } },
  file_at: { [`${head}:.editorconfig`]: null, [`${head}:SECURITY.md`]: null },
  file_of: { 'acme/templates:.editorconfig@main': 'root = true\n' },
  hooks: [],
  own_labels: [],
});

/** Returns the facts of a pull request that its payload lacks: it is an issue as well, and is behind its base. */
function pullIn({ pull_request: pull, issue }: Readonly<Record<string, unknown>>) {
  if (pull === undefined) return {};
  return {
    pull_request: { ...(pull as object), behind: 2 },
    ...(issue === undefined ? { issue: pull } : {}),
  };
}

function headOf({ pull_request: pull }: Readonly<Record<string, unknown>>): string {
  return (pull as { head: { sha: string } } | undefined)?.head.sha ?? '';
}

async function plan(fixture: Fixture, loaded: readonly LoadedRule[]): Promise<Run> {
  const event = parseEvent(fixture.eventType, parsePayload(Buffer.from(jsonOf(fixture))));
  const subject = event.subject ?? { kind: 'repository' as const };
  const { run } = await runRules({
    id: 'recorded',
    mode: 'plan',
    trigger: { door: 'cli', kind: event.family ?? event.eventType, activity: event.activity, at: '' },
    rules: createRuleSet(loaded),
    event,
    facts: createGivenFacts({
      subject,
      given: { ...around(headOf(event.payload)), ...pullIn(event.payload) },
      payload: event.payload,
    }),
    now: new Date('2026-11-20T14:00:00Z'),
    clock: systemClock,
  });
  return run;
}

const pulls = ['pull_request.opened', 'pull_request.reopened', 'pull_request_sync.synchronized'];
const labelled = ['pull_request_label.label_cleared', 'pull_request_label.label_updated'];
const reviews = ['approved', 'comment', 'rejected'].map((kind) => `pull_request_review_${kind}.reviewed`);
const requested = ['review_request_removed', 'review_requested'].map(
  (activity) => `pull_request_review_request.${activity}`,
);

/**
 * Event types that each shipped rule matched. A rule without any depends on a schedule, or on a specific branch or
 * author.
 */
const matchedBy: Readonly<Record<string, readonly string[]>> = {
  'acknowledge.yml#acknowledge': ['issues.opened'],
  'approvals-by-team.yml#security': ['pull_request.edited', ...pulls, ...reviews, ...requested],
  'assign.yml#assign-bugs': ['issue_label.label_updated', 'issues.opened', 'issues.reopened'],
  'auto-merge.yml#auto-merge': ['pull_request.edited', ...pulls, ...labelled, ...reviews, ...requested],
  'backport.yml#backport': [],
  'backport.yml#backport-command': [],
  'blocked.yml#blocked': ['pull_request.edited', ...pulls],
  'branch-labels.yml#label-by-branch': ['pull_request.edited', ...pulls, ...labelled],
  'branch-protections.yml#guard-branches': ['repository.created'],
  'branches.yml#delete-merged': ['pull_request.closed'],
  'branches.yml#keep-updated': [...pulls, ...labelled],
  'changelog.yml#changelog': ['pull_request.edited', ...pulls, ...labelled],
  'codeowners.yml#owners': ['pull_request.edited', ...pulls, ...reviews, ...requested],
  'collaborators.yml#collaborators': ['repository.created'],
  'commands.yml#close-command': ['issue_comment.created', 'pull_request_comment.created'],
  'commands.yml#hold-command': ['pull_request_comment.created'],
  'dco.yml#dco': ['pull_request.edited', ...pulls],
  'demo/labels.yml#label-by-path': ['pull_request.edited', ...pulls, ...labelled],
  'deploy-command.yml#deploy-command': [],
  'dependencies.yml#dependency-updates': [],
  'first-contribution.yml#first-contribution': ['pull_request.opened'],
  'freeze.yml#freeze': ['pull_request.edited', ...pulls, ...labelled],
  'hooks.yml#ci-hook': ['repository.created'],
  'label-definitions.yml#label-definitions': ['repository.created'],
  'labels.yml#label-by-path': ['pull_request.edited', ...pulls, ...labelled],
  'labels.yml#label-by-size': ['pull_request.edited', ...pulls, ...labelled],
  'large-pull.yml#large-pull': ['pull_request.edited', ...pulls],
  'linked-issue.yml#linked-issue': ['pull_request.edited', ...pulls],
  'merge-queue.yml#merge-queue': ['pull_request.edited', ...pulls, ...labelled, ...reviews, ...requested],
  'milestones.yml#milestone-of-merged': ['pull_request.closed'],
  'notifications.yml#quiet-what-is-old': [],
  'notifications.yml#quiet-what-is-over': [],
  'notify-chat.yml#tell-offline-runners': [],
  'notify-chat.yml#tell-releases': ['release.published', 'release.updated'],
  'notify-chat.yml#tell-urgent-issues': [
    'issue_label.label_updated',
    'issues.closed',
    'issues.opened',
    'issues.reopened',
  ],
  'rollout-files.yml#rollout-files': ['repository.created'],
  'organization-settings.yml#organization-settings': [],
  'owner-reviewers.yml#owner-reviewers': ['pull_request.edited', ...pulls],
  'overdue-milestones.yml#overdue-milestone': [],
  'release-pull-request.yml#release-pull-request': [],
  'repository-settings.yml#repository-settings': ['repository.created'],
  'required-label.yml#labels': ['pull_request.edited', ...pulls, ...labelled],
  'reviewers.yml#rotate-reviewers': ['pull_request.edited', ...pulls],
  'runners.yml#runner-offline': [],
  'signed-commits.yml#signed': ['pull_request.edited', ...pulls],
  'slash-labels.yml#slash-labels': ['issue_comment.created', 'pull_request_comment.created'],
  'stale-issues.yml#close-stale-issue': [],
  'stale-issues.yml#revive-issue': ['issue_comment.created', 'issues.reopened'],
  'stale-issues.yml#warn-stale-issue': [],
  'stale-pulls.yml#close-old-draft': [],
  'stale-pulls.yml#remind-of-pull': [],
  'stale-reviews.yml#fresh-approvals-only': ['pull_request.edited', ...pulls, ...reviews],
  'tag-protections.yml#release-tags': ['repository.created'],
  'task-list.yml#tasks': ['pull_request.edited', ...pulls],
  'title.yml#title': ['pull_request.edited', ...pulls, ...labelled],
  'triage.yml#triage-labels': ['issues.edited', 'issues.opened', 'issues.reopened'],
  'triage.yml#triage': [
    'issue_label.label_cleared',
    'issue_label.label_updated',
    'issues.edited',
    'issues.opened',
    'issues.reopened',
  ],
  'welcome.yml#describe': ['pull_request.edited', ...pulls],
  'welcome.yml#welcome': ['pull_request.opened'],
  'blocked.yml#blocked-label': [
    'issue_label.label_cleared',
    'issue_label.label_updated',
    'issues.edited',
    'issues.opened',
    'issues.reopened',
    'pull_request.edited',
    ...pulls,
    ...labelled,
  ],
};

describe.each(readRecordings())('deliveries recorded from $server $version', ({ fixtures }) => {
  it('run through the shipped rules, and no rule fails', async () => {
    const matched = new Map(rules.map(({ id }) => [nameOf(id), new Set<string>()]));
    for (const fixture of fixtures) {
      const run = await plan(fixture, rules);
      const failed = run.rules.filter(({ verdict }) => verdict === 'failed');
      expect(failed, `${kindOf(fixture)} ${fixture.step}`).toEqual([]);
      for (const { rule, verdict } of run.rules) {
        if (verdict === 'matched') matched.get(nameOf(rule))?.add(kindOf(fixture));
      }
    }

    expect(Object.fromEntries([...matched].map(([name, kinds]) => [name, [...kinds].sort()]))).toEqual(
      Object.fromEntries(Object.entries(matchedBy).map(([name, kinds]) => [name, [...kinds].sort()])),
    );
  });
});
