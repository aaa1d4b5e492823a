import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { parsePayload } from '../../src/contract/events/parse-payload.ts';
import type { Run } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { createRuleSet } from '../../src/rules/rule-set.ts';
import { findRuleFiles, loadRuleFiles } from '../../src/sources/folder.ts';
import { type Fixture, jsonOf, kindOf, readRecordings } from '../support/recording/fixture.ts';
import { mergeRules, peopleRules, testedRules } from '../support/shipped-rules.ts';

/** Rules that read facts about people and branches have rule tests instead: a recording does not say what the forge would answer. */
const isRecorded = (path: string): boolean =>
  ![...testedRules, ...mergeRules, ...peopleRules].some((name) => path.endsWith(`rules/${name}`));
const files = await loadRuleFiles((await findRuleFiles(['rules'])).filter(isRecorded));
const rules = files.flatMap((file) => file.rules);
const nameOf = (id: string): string => id.replace(/^.*rules\//, '');

const reviewed = '0'.repeat(40);

/** What the forge would answer beside the payload: a repository in which little has happened yet. */
const around = (head: string) => ({
  files: [{ filename: 'docs/guide.md', status: 'added', additions: 3, deletions: 0 }],
  reviews: [{ id: 1, state: 'APPROVED', stale: true, commit_id: reviewed, user: { id: 2, login: 'ben' } }],
  dependencies: [{ number: 1, state: 'open' }],
  labels: [],
  label_definitions: [
    ...['area/docs', 'area/build', 'area/tests', 'area/code', 'size/S', 'size/M', 'size/L', 'blocked'],
  ].map((name, at) => ({ id: at + 1, name, color: 'ff0000', exclusive: name.startsWith('size/') })),
  compare: {
    [`${reviewed}...${head}`]: { total_commits: 1, commits: [], files: [{ filename: 'src/work.ts' }] },
  },
  branch_protections: [],
  tag_protections: [],
  comments: [],
  hooks: [],
  own_labels: [],
});

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
    facts: createGivenFacts({ subject, given: around(headOf(event.payload)), payload: event.payload }),
    now: new Date('2026-11-20T14:00:00Z'),
    clock: systemClock,
  });
  return run;
}

const pulls = ['pull_request.opened', 'pull_request.reopened', 'pull_request_sync.synchronized'];

/** The kinds whose deliveries each rule that ships matched; one without listens to the clock alone. */
const matchedBy: Readonly<Record<string, readonly string[]>> = {
  'blocked.yml#blocked-issues': ['issues.edited', 'issues.opened', 'issues.reopened'],
  'blocked.yml#blocked-pulls': ['pull_request.edited', ...pulls],
  'branch-protections.yml#guard-branches': ['repository.created'],
  'demo/labels.yml#label-by-path': pulls,
  'hooks.yml#ci-hook': ['repository.created'],
  'label-definitions.yml#label-definitions': ['repository.created'],
  'labels.yml#label-by-path': pulls,
  'labels.yml#label-by-size': pulls,
  'notifications.yml#quiet-what-is-old': [],
  'notifications.yml#quiet-what-is-over': [],
  'organization-settings.yml#organization-settings': [],
  'runners.yml#runner-offline': [],
  'stale-reviews.yml#fresh-approvals-only': ['pull_request_sync.synchronized'],
  'tag-protections.yml#release-tags': ['repository.created'],
  'welcome.yml#describe': ['pull_request.edited', 'pull_request.opened', 'pull_request.reopened'],
  'welcome.yml#welcome': ['pull_request.opened'],
};

describe.each(readRecordings())('deliveries recorded from $server $version', ({ fixtures }) => {
  it('run through the rules that ship, and none fails', async () => {
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
      matchedBy,
    );
  });
});
