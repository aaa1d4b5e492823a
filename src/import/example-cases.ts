import { stringify } from 'yaml';
import { eventFamilies } from '../contract/events/event-families.ts';
import { describeShape } from '../facts/given-facts.ts';
import { createUnlimitedMeter } from '../patterns/meter.ts';
import type { LoadedRule } from '../rules/rule.ts';
import {
  type CaseRun,
  eventTypeFor,
  loadRuleTests,
  type RuleCase,
  type TestedFile,
} from '../rules/rule-tests.ts';
import { Condition, mergeSituations, type Situation } from './condition.ts';
import type { ArgumentValue, RuleDraft, StepDraft } from './conversion.ts';

/** Runs a case without a forge, as `reeve test` does. */
export type CaseRunner = (one: RuleCase, file: TestedFile) => Promise<CaseRun>;

/** The tests that were made for a rule file. */
export type ExampleCases = {
  /** Text of `NAME.test.yml`; undefined without a case. */
  readonly text: string | undefined;
  /** Names of the rules without a case in which they change something. */
  readonly unmatched: readonly string[];
};

/** The time of a case. */
const now = '2026-06-01T09:00:00Z';
/** A number of rounds that no rule needs: each round gives all values that the round before lacked. */
const maxRounds = 20;

/**
 * Makes a case for each rule: the situation in which the conditions of its draft hold, with what the rule really did as
 * the expectation. Such a case says what the rule does, not that this is right.
 */
export async function makeExampleCases(
  drafts: readonly RuleDraft[],
  {
    path,
    rules,
    run,
  }: { readonly path: string; readonly rules: readonly LoadedRule[]; readonly run: CaseRunner },
): Promise<ExampleCases> {
  const cases: unknown[] = [];
  const unmatched: string[] = [];
  for (const draft of drafts) {
    const rule = rules.find(({ name }) => name === draft.name);
    if (rule === undefined) continue;
    let best: Made | undefined;
    // The first step whose conditions lead to a change; otherwise what the rule does without one.
    for (const step of draft.steps) {
      const made = await makeCase({ draft, step, rule }, { path, rules, drafts, run });
      if (made?.changes) best = made;
      else best ??= made;
      if (best?.changes) break;
    }
    if (best) cases.push(best.written);
    if (!best?.changes) unmatched.push(draft.name);
  }
  const head = '# Made by `reeve import`: each case says what its rule does in one situation.\n';
  const text =
    cases.length === 0
      ? undefined
      : `${head}${stringify({ cases: cases.slice(0, 200) }, { lineWidth: 0, aliasDuplicateObjects: false })}`;
  return { text, unmatched };
}

/** A case, and whether its rule changes something in it. */
type Made = { readonly written: Record<string, unknown>; readonly changes: boolean };

async function makeCase(
  { draft, step, rule }: { readonly draft: RuleDraft; readonly step: StepDraft; readonly rule: LoadedRule },
  {
    path,
    rules,
    drafts,
    run,
  }: {
    readonly path: string;
    readonly rules: readonly LoadedRule[];
    readonly drafts: readonly RuleDraft[];
    readonly run: CaseRunner;
  },
): Promise<Made | undefined> {
  const about = aboutOf(rule);
  // Each case runs all rules of the file, so that a missing label of another rule would fail it.
  const definitions = { label_definitions: [...new Set(drafts.flatMap((draft) => labelsOfDraft(draft)))] };
  let facts = mergeSituations(about.facts, situationOf(draft, step), definitions, presentLabels(drafts));
  for (let round = 0; round < maxRounds; round += 1) {
    const written = { name: `${draft.name} applies`, now, ...about.trigger, facts };
    const [one] = loadRuleTests({
      path,
      text: stringify({ cases: [{ ...written, expect: {} }] }, { aliasDuplicateObjects: false }),
    }).cases;
    if (one === undefined) return undefined;
    const outcome = await run(one, { path, cases: [one], rules }).catch(() => undefined);
    if (outcome === undefined) return undefined;
    const filled = fillGaps(facts, outcome);
    if (filled !== undefined) {
      facts = filled;
      continue;
    }
    if (outcome.rules.some(({ verdict }) => verdict === 'failed') || outcome.refused.length > 0)
      return undefined;
    const verdict = outcome.rules.find((seen) => seen.rule === rule.id)?.verdict;
    const made = outcome.changes.map(({ action, target, value }) => ({
      action,
      target,
      ...(isShort(value) ? { value } : {}),
    }));
    const expect = {
      changes: made,
      ...(verdict === undefined ? {} : { verdicts: { [rule.name]: verdict } }),
    };
    const changes = outcome.changes.some((change) => change.rules.includes(rule.id));
    const without = verdict === 'matched' ? 'changes nothing here' : 'does not apply';
    const name = changes ? written.name : `${draft.name} ${without}`;
    return { written: { ...written, name, expect }, changes };
  }
  return undefined;
}

function isShort(value: unknown): boolean {
  return ['boolean', 'number'].includes(typeof value) || (typeof value === 'string' && value.length < 80);
}

/** Returns the facts with a value for each gap; undefined without gaps. */
function fillGaps(facts: Situation, { missing = [] }: CaseRun): Situation | undefined {
  let filled: Situation | undefined;
  for (const { gap } of missing) {
    const { name, argument } = gap.request;
    const described = describeShape(gap.shape);
    // Of several kinds, such as a list or null, the first.
    const [first = ''] = described.split(/, | or /);
    const empty = emptyFacts[name] ?? emptyValues[described] ?? emptyValues[first] ?? first;
    const path =
      gap.path?.startsWith('facts.') === true
        ? gap.path.slice('facts.'.length).split('.')
        : argument === undefined
          ? name.split('.')
          : [name, String(argument)];
    if (path.some((part) => part.includes('['))) return undefined;
    const value = path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), empty) as Situation;
    filled = mergeSituations(value, filled ?? facts);
  }
  return filled;
}

const emptyFacts: Readonly<Record<string, unknown>> = {
  base_branch: { name: 'main', protected: false, required_approvals: 0 },
};

const emptyValues: Readonly<Record<string, unknown>> = {
  'a list': [],
  'an object': {},
  text: '',
  'a number': 0,
  'true or false': false,
};

/** Returns a situation in which the conditions of the rule and of one of its steps hold, as far as they are known. */
function situationOf({ if: condition }: RuleDraft, { if: ofStep, with: given = {} }: StepDraft): Situation {
  return mergeSituations(condition?.yes ?? {}, ofStep?.yes ?? {}, firstCondition(given)?.yes ?? {});
}

/**
 * With all labels of a long list to create, a case would exceed the changes of one run: all but the first of them exist.
 */
function presentLabels(drafts: readonly RuleDraft[]): Situation {
  const own = drafts
    .flatMap(({ steps }) => steps)
    .flatMap(({ uses, with: given = {} }) =>
      uses === 'sync-labels' && Array.isArray(given.labels)
        ? (given.labels as readonly Readonly<Record<string, ArgumentValue>>[]).slice(1)
        : [],
    );
  if (own.length < 20) return {};
  return {
    own_labels: own.map(({ name, color, description = '' }, place) => ({
      id: place + 1,
      name,
      color,
      description,
    })),
  };
}

/** Returns the labels that a draft sets, which have to exist. */
export function labelsOfDraft(
  { steps }: RuleDraft,
  keys: readonly string[] = ['add', 'remove', 'sync'],
): readonly string[] {
  return steps.flatMap(({ uses, with: given = {} }) =>
    uses === 'set-labels'
      ? labelsOf(given, keys)
      : uses === 'backport' && Array.isArray(given.labels)
        ? given.labels.map(String)
        : [],
  );
}

function labelsOf(
  given: Readonly<Record<string, ArgumentValue>>,
  keys: readonly string[],
): readonly string[] {
  return keys.flatMap((key) => {
    const value = given[key];
    if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
    return typeof value === 'object' && !(value instanceof Condition) ? Object.keys(value) : [];
  });
}

function firstCondition(value: ArgumentValue): Condition | undefined {
  if (value instanceof Condition) return value;
  if (typeof value !== 'object') return undefined;
  for (const inner of Object.values(value) as readonly ArgumentValue[]) {
    const found = firstCondition(inner);
    if (found) return found;
  }
  return undefined;
}

/** Name of a repository that all `in` of a rule include; `*` stands for a name. */
function nameFor({ scopes }: LoadedRule): string {
  const named = scopes.flatMap(({ written }) => written).filter((glob) => /^[\w.*-]+\/[\w.*-]+$/.test(glob));
  const names = [...named.map((glob) => glob.replaceAll('*', 'demo')), 'acme/demo'];
  return (
    names.find((name) => scopes.every(({ matches }) => matches(name, createUnlimitedMeter()))) ?? 'acme/demo'
  );
}

const pull = {
  number: 7,
  state: 'open',
  draft: false,
  title: 'A change',
  body: '',
  user: { login: 'ada' },
  labels: [],
  additions: 1,
  deletions: 1,
  mergeable: true,
  behind: 0,
  merged: false,
  merge_commit_sha: 'b'.repeat(40),
  is_locked: false,
  milestone: null,
  assignees: [],
  requested_reviewers: [],
  requested_reviewers_teams: [],
  created_at: '2025-01-01T08:00:00Z',
  updated_at: '2025-01-01T08:00:00Z',
  base: { ref: 'main' },
  head: { ref: 'change', sha: 'a'.repeat(40) },
};
const issue = {
  number: 5,
  state: 'open',
  title: 'A report',
  body: '',
  user: { login: 'ada' },
  labels: [],
  created_at: '2025-01-01T08:00:00Z',
  updated_at: '2025-01-01T08:00:00Z',
};
const items: Readonly<Record<string, object>> = {
  pull_request: pull,
  issue,
  organization: { name: 'acme' },
};

/** Returns the event or item of a case, and the facts that it needs besides. */
function aboutOf(rule: LoadedRule): {
  readonly trigger: Readonly<Record<string, unknown>>;
  readonly facts: Situation;
} {
  const [visited] = rule.each ?? [];
  const [listening] = rule.automatic ?? rule.on;
  const repository = { id: 1, full_name: nameFor(rule), default_branch: 'main' };
  const ofRepository = visited?.kind === 'repository';
  if (rule.schedules.length > 0 && visited && (listening === undefined || ofRepository)) {
    const value = ofRepository
      ? { ...repository, has_pull_requests: true }
      : { ...items[visited.kind], repository };
    return { trigger: { item: { [visited.kind]: value } }, facts: {} };
  }
  const family = listening?.family ?? 'pull_request';
  const known = Object.values(eventFamilies[family].types).flat();
  const activity = listening?.activities?.[0] ?? known[0] ?? '';
  const isAboutIssue = family === 'issues' || family === 'issue_comment';
  const comment = { id: 8, body: 'A comment', user: { login: 'ada' } };
  const payload = {
    ...(isAboutIssue ? { issue } : { number: pull.number, pull_request: pull }),
    ...(family.endsWith('_comment') ? { comment } : {}),
    repository,
    sender: { id: 9, login: 'ada' },
  };
  const event = { kind: activity === '' ? family : eventTypeFor(family, activity), activity, payload };
  const isOther = !/^(pull_request|issue)/.test(family);
  return {
    trigger: { event: activity === '' ? { kind: family, payload } : event },
    facts: isOther ? { pull_request: pull } : {},
  };
}
