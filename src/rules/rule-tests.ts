import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import { isRecord } from '../contract/events/payload-members.ts';
import { type SubjectKind, subjectKinds } from '../contract/events/subject.ts';
import { type FactRequest, factKey } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import { describeShape, type Gap } from '../facts/given-facts.ts';
import { count } from '../platform/count.ts';
import { messageOf } from '../platform/errors.ts';
import { problemsOf } from './files/issues.ts';
import { readYaml } from './files/yaml-source.ts';
import type { Problem } from './problem.ts';
import type { LoadedRule, LoadedStep } from './rule.ts';
import { describeFinding, type Finding, type Verdict, wordsOf } from './verdict.ts';

/** One case of a rule test, ready to run. */
export type RuleCase = {
  readonly name: string;
  readonly line: number;
  readonly eventType: string;
  /** Payload of the event; absent if `file` refers to a recorded payload. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly file?: string;
  /** The item of a sweep, if the case has no event. */
  readonly item?: { readonly kind: SubjectKind; readonly value: Readonly<Record<string, unknown>> };
  readonly facts: Readonly<Record<string, unknown>>;
  /** The facts of each other open pull request with the same head commit. */
  readonly others: readonly Readonly<Record<string, unknown>>[];
  readonly now: Date | undefined;
  /** Values for the parameters of the file. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly expected: CaseForm['expect'];
};

/** The cases of a test file, or all its problems. */
type LoadedTests = { readonly cases: readonly RuleCase[]; readonly problems: readonly Problem[] };

/** Returns the cases of a `NAME.test.yml`, or all its problems with their positions. Never throws. */
export function loadRuleTests({ path, text }: { readonly path: string; readonly text: string }): LoadedTests {
  const file = readYaml(path, text);
  if (!file.readable || file.problems.length > 0) return { cases: [], problems: file.problems };
  const parsed = TestFile.safeParse(file.value);
  if (!parsed.success) return { cases: [], problems: problemsOf(file.value, TestFile, file, []) };
  const cases = parsed.data.cases.map((form, place): RuleCase => {
    const { line } = file.lineOf(file.valueAt(['cases', place]).start);
    const expected = {
      facts: form.facts ?? {},
      others: form['same-head'] ?? [],
      now: form.now === undefined ? undefined : new Date(form.now),
      parameters: { ...parsed.data.with, ...form.with },
      expected: form.expect,
    };
    const [item] = Object.entries(form.item ?? {});
    if (item) {
      // The grammar allows only the kinds of `each`.
      const of = { kind: item[0] as SubjectKind, value: item[1] ?? {} };
      return { name: form.name, line, eventType: 'schedule', item: of, ...expected };
    }
    const { kind, activity, payload, file: recorded } = form.event ?? { kind: '' };
    const said = activity ?? (typeof payload?.action === 'string' ? payload.action : '');
    return {
      name: form.name,
      line,
      eventType: eventTypeFor(kind, said),
      ...(payload && { payload: said === '' ? payload : { ...payload, action: said } }),
      ...(recorded !== undefined && { file: recorded }),
      ...expected,
    };
  });
  return { cases, problems: [] };
}

/**
 * Returns the Event-Type of a family and an activity (`pull_request`, `synchronized` → `pull_request_sync`). If `kind`
 * is already an Event-Type, returns it unchanged.
 */
export function eventTypeFor(kind: string, activity: string): string {
  if (!Object.hasOwn(eventFamilies, kind)) return kind;
  const types = Object.entries(eventFamilies[kind as Family].types);
  const [first] = types;
  // The Event-Type that has the name of the family may lack the activity.
  const fitting = types.find(([, activities]) => activities.includes(activity));
  return (fitting ?? first)?.[0] ?? kind;
}

/** Result of running a case: the verdicts, and the changes with their steps. */
export type CaseRun = {
  readonly rules: readonly Verdict[];
  readonly changes: readonly CaseChange[];
  /** Planned changes that were refused. */
  readonly refused: readonly { readonly change: CaseChange; readonly why: string }[];
  /** Changes that steps proposed and that are not needed. */
  readonly unneeded?: readonly UnneededChange[];
  /** What rules read but the case does not provide, which made the rules fail; undefined if there is nothing. */
  readonly missing?: readonly Missing[];
};
/** A change that is not needed, with the identity of its rule, and why: for example, the label is set already. */
export type UnneededChange = {
  readonly rule: string;
  readonly step: string;
  readonly target: string;
  readonly reason: string;
};
export type CaseChange = {
  readonly rules: readonly string[];
  readonly step: string;
  readonly action: string;
  readonly target: string;
  readonly value: unknown;
};

export type TestedFile = {
  readonly path: string;
  readonly cases: readonly RuleCase[];
  /** The rules under test. */
  readonly rules: readonly LoadedRule[];
};

/** Result of one case. The case passes if there are no differences. */
type CaseResult = {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  readonly differences: readonly string[];
};

/**
 * Results of all cases, and the rules and steps that no case reached. Rules are given by identity, steps as `rule
 * identity / step name`.
 */
type TestResults = {
  readonly results: readonly CaseResult[];
  readonly unreached: { readonly rules: readonly string[]; readonly steps: readonly string[] };
};

/**
 * Runs every case with the given runner and compares the results with the expectations. Changes are compared as a set;
 * omitted members are ignored. A rule that fails unexpectedly always counts as a difference. If the runner rejects, the
 * case fails; if `beforeCase` rejects, all cases are aborted.
 */
export async function runRuleTests(options: {
  files: readonly TestedFile[];
  run: (one: RuleCase, file: TestedFile) => Promise<CaseRun>;
  beforeCase?: (() => Promise<void>) | undefined;
}): Promise<TestResults> {
  const results: CaseResult[] = [];
  const reached = new Set<string>();
  for (const file of options.files) {
    for (const one of file.cases) {
      await options.beforeCase?.();
      results.push(await runCase(one, file, options.run, reached));
    }
  }
  const rules = options.files.flatMap((file) => file.rules);
  const steps = rules.flatMap((rule) => rule.steps.map((step) => `${rule.id} / ${step.name}`));
  return {
    results,
    unreached: {
      rules: [...new Set(rules.map((rule) => rule.id))].filter((id) => !reached.has(id)),
      steps: [...new Set(steps)].filter((step) => !reached.has(step)),
    },
  };
}

async function runCase(
  one: RuleCase,
  file: TestedFile,
  run: (one: RuleCase, file: TestedFile) => Promise<CaseRun>,
  reached: Set<string>,
): Promise<CaseResult> {
  const head = { path: file.path, name: one.name, line: one.line };
  try {
    const outcome = await run(one, file);
    for (const verdict of outcome.rules) if (verdict.verdict === 'matched') reached.add(verdict.rule);
    for (const change of outcome.changes) {
      for (const rule of change.rules) reached.add(`${rule} / ${change.step}`);
    }
    return { ...head, differences: compareCase(one.expected, outcome, file.rules) };
  } catch (error) {
    return { ...head, differences: [`the case could not run: ${messageOf(error)}`] };
  }
}

/**
 * Returns the differences between a case's expectations and its outcome, one per line. Indented lines say why: what the
 * rules of the file that could have made a missing change decided, and what they read.
 */
export function compareCase(
  expected: CaseForm['expect'],
  outcome: CaseRun,
  rules: readonly LoadedRule[] = [],
): readonly string[] {
  const failed = new Set(unexpectedlyFailed(expected, outcome.rules).map(({ rule }) => rule));
  const explain = createExplainer(outcome, failed);
  return [
    ...describeMissing((outcome.missing ?? []).filter(({ rule }) => failed.has(rule))),
    ...compareChanges(expected, outcome, { rules, explain }),
    ...compareRefused(expected.refused ?? [], outcome.refused),
    ...compareVerdicts(expected, outcome.rules, { rules, explain }),
  ];
}

/** The rules of the file, and what explains a rule. */
type Explained = { readonly rules: readonly LoadedRule[]; readonly explain: Explain };

function compareChanges(
  { changes, includes }: CaseForm['expect'],
  outcome: CaseRun,
  { rules, explain }: Explained,
): readonly string[] {
  const { missing, left, takenBy } = compareLists(changes ?? includes ?? [], outcome.changes, fits);
  const isRefused = (wanted: ExpectedChange) => outcome.refused.some(({ change }) => fits(wanted, change));
  return [
    ...missing.flatMap((wanted) => [
      `missing change: ${show(wanted)}`,
      ...(isRefused(wanted) ? [] : explainMissing(wanted, rules, explain)),
    ]),
    ...(changes === undefined ? [] : left).map((change) => {
      const [taken, entry] = [...takenBy].find(([, wanted]) => fits(wanted, change)) ?? [];
      const other =
        taken && entry
          ? `; ${show(entry)} is matched by ${showChange(taken)}: an entry stands for one change`
          : '';
      return `unexpected change: ${showChange(change)}${other}`;
    }),
  ];
}

/** Maximum number of rules that explain a missing change, of lines about a step or condition, and of characters of a line. */
const maxRules = 5;
const maxReasons = 4;
const maxLine = 300;

/** Returns lines that say why no rule made a change: the verdicts of the rules that have its action. */
function explainMissing(
  wanted: ExpectedChange,
  rules: readonly LoadedRule[],
  explain: Explain,
): readonly string[] {
  const able = rules.filter(({ steps }) => steps.some((step) => isAbout(step, wanted)));
  if (rules.length > 0 && able.length === 0) return [`  no rule of the file uses ${wanted.action}`];
  const left = able.length - maxRules;
  return [
    ...able.slice(0, maxRules).flatMap((rule) => explain(rule, wanted)),
    ...(left > 0 ? [`  … and ${count(left, 'rule')} more that could make it`] : []),
  ];
}

function isAbout({ action }: LoadedStep, wanted: ExpectedChange): boolean {
  return wanted.action === undefined || wanted.action === action.name;
}

/** Returns lines that say what a rule decided and why. Lines that were returned before are left out. */
type Explain = (rule: LoadedRule, wanted: ExpectedChange | undefined) => readonly string[];

function createExplainer(outcome: CaseRun, failed: ReadonlySet<string>): Explain {
  const said = new Set<string>();
  return (rule, wanted) => {
    const lines = explainRule(rule, wanted, outcome, failed).map((line) =>
      line.length > maxLine ? `${line.slice(0, maxLine - 1)}…` : line,
    );
    const key = lines.join('\n');
    if (said.has(key)) return [];
    said.add(key);
    return lines;
  };
}

function explainRule(
  rule: LoadedRule,
  wanted: ExpectedChange | undefined,
  outcome: CaseRun,
  failed: ReadonlySet<string>,
): readonly string[] {
  const verdict = outcome.rules.find((seen) => seen.rule === rule.id);
  if (verdict === undefined) return [`  rule ${rule.name}: skipped (it is for other events or items)`];
  // The failure has a line of its own.
  if (failed.has(rule.id)) return [];
  const head = `  rule ${rule.name}: ${verdict.verdict}${because(verdict)}`;
  if (verdict.verdict !== 'matched' || wanted === undefined) {
    return [head, ...evaluated(verdict.findings).map((line) => `    ${line}`)];
  }
  const steps = rule.steps.filter((step) => isAbout(step, wanted));
  return [head, ...steps.flatMap((step) => explainStep(step, { rule, verdict, wanted, outcome }))];
}

/** Returns why a step of a matched rule did not make a change: its conditions, and the changes that were not needed. */
function explainStep(
  step: LoadedStep,
  {
    rule,
    verdict,
    wanted,
    outcome,
  }: {
    readonly rule: LoadedRule;
    readonly verdict: Verdict;
    readonly wanted: ExpectedChange;
    readonly outcome: CaseRun;
  },
): readonly string[] {
  const isOfStep = (one: { readonly step: string }): boolean => one.step === step.name;
  const unneeded = (outcome.unneeded ?? []).filter((one) => one.rule === rule.id && isOfStep(one));
  const named = unneeded.filter(({ target }) => target === wanted.target);
  // If the change is known, only the conditions that decide it count.
  const findings = findingsOf(step, rule, verdict).filter(
    ({ expression }) => named.length === 0 || named.some(({ reason }) => reason.includes(expression)),
  );
  const made = outcome.changes.filter((change) => change.rules.includes(rule.id) && isOfStep(change));
  const lines = [
    ...(named.length > 0 ? named : unneeded)
      .slice(0, maxReasons)
      .map(({ target, reason }) => `${target}: ${reason}`),
    ...evaluated(findings),
    ...(made.length > 0 ? [`it changes ${made.map(({ target }) => target).join(', ')}`] : []),
  ];
  return (lines.length === 0 ? ['nothing to change'] : lines).map((line) => `    step ${step.name}: ${line}`);
}

/** Returns the findings about a step, by their lines. In a file with everything on one line, these are all findings. */
function findingsOf(
  step: LoadedStep,
  { line: start, steps }: LoadedRule,
  { findings }: Verdict,
): readonly Finding[] {
  const starts = [start, ...steps.map(({ line }) => line)];
  if (new Set(starts).size < starts.length) return findings;
  const end = Math.min(...starts.filter((line) => line > step.line));
  return findings.filter(({ line }) => line >= step.line && line < end);
}

/** Returns the last findings that were evaluated: evaluation ends with the one that decides. */
function evaluated(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ result }) => result !== 'unevaluated')
    .slice(-maxReasons)
    .map(describeFinding);
}

function compareRefused(expected: readonly ExpectedRefusal[], actual: CaseRun['refused']): readonly string[] {
  const { missing, left } = compareLists(
    expected,
    actual,
    ({ why, ...wanted }, refusal) => fits(wanted, refusal.change) && refusal.why.includes(why ?? ''),
  );
  return [
    ...missing.map((wanted) => `missing refusal: ${show(wanted)}`),
    ...left.map(
      ({ change, why }) =>
        `refused change: ${showChange(change)} (${why}); if that is expected, list it under expect.refused`,
    ),
  ];
}

/** Returns the expected items that are missing, the actual items that were not expected, and who matched whom. */
function compareLists<Wanted, Actual>(
  expected: readonly Wanted[],
  actual: readonly Actual[],
  isFit: (wanted: Wanted, one: Actual) => boolean,
): {
  readonly missing: readonly Wanted[];
  readonly left: readonly Actual[];
  readonly takenBy: ReadonlyMap<Actual, Wanted>;
} {
  const takenBy = pairUp(expected, actual, isFit);
  const found = new Set(takenBy.values());
  return {
    missing: expected.filter((wanted) => !found.has(wanted)),
    left: actual.filter((one) => !takenBy.has(one)),
    takenBy,
  };
}

/**
 * Matches as many expected changes as possible with distinct actual changes. An expectation that matches several
 * changes yields one of them to a more precise expectation, and takes another instead.
 */
function pairUp<Wanted, Actual>(
  expected: readonly Wanted[],
  actual: readonly Actual[],
  isFit: (wanted: Wanted, one: Actual) => boolean,
): ReadonlyMap<Actual, Wanted> {
  const takenBy = new Map<Actual, Wanted>();
  const place = (wanted: Wanted, tried: Set<Actual>): boolean => {
    for (const one of actual) {
      if (tried.has(one) || !isFit(wanted, one)) continue;
      tried.add(one);
      const holder = takenBy.get(one);
      if (holder !== undefined && !place(holder, tried)) continue;
      takenBy.set(one, wanted);
      return true;
    }
    return false;
  };
  for (const wanted of expected) place(wanted, new Set());
  return takenBy;
}

function fits(wanted: ExpectedChange, change: CaseChange): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    const actual: unknown = Reflect.get(change, name);
    if (name !== 'value' || change.action !== 'set-status' || !isRecord(value) || !isRecord(actual))
      return isDeepStrictEqual(value, actual);
    // Of a status, only the named members are compared.
    return Object.entries(value).every(([member, wish]) => isDeepStrictEqual(wish, actual[member]));
  });
}

function compareVerdicts(
  expected: CaseForm['expect'],
  verdicts: readonly Verdict[],
  { rules, explain }: Explained,
): readonly string[] {
  const differences: string[] = [];
  for (const [name, verdict] of wantedVerdicts(expected)) {
    const isNamed = (id: string): boolean => id === name || id.endsWith(`#${name}`);
    const seen = verdicts.find(({ rule }) => isNamed(rule));
    const rule = rules.find(({ id }) => isNamed(id));
    if (rules.length > 0 && rule === undefined) {
      differences.push(`expect names the rule ${name}, which the file does not have`);
      continue;
    }
    // A rule for other kinds of events was skipped, so it has no recorded verdict.
    const actual = seen?.verdict ?? 'skipped';
    if (actual === verdict) continue;
    differences.push(`rule ${name}: expected ${verdict}, was ${actual}${because(seen)}`);
    // The line already has the reason of a rule that was skipped or failed.
    if (rule !== undefined && actual !== 'failed' && seen?.reason === undefined)
      differences.push(...explain(rule, undefined).slice(seen === undefined ? 0 : 1));
  }
  for (const seen of unexpectedlyFailed(expected, verdicts)) {
    if (!isNamed(seen, wantedVerdicts(expected)))
      differences.push(`rule ${nameIn(seen)} failed${because(seen)}`);
  }
  return differences;
}

function wantedVerdicts(expected: CaseForm['expect']): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>(Object.entries(expected.verdicts ?? {}));
  if (expected.failed !== undefined) wanted.set(expected.failed, 'failed');
  return wanted;
}

/** Returns the verdicts of rules that failed unexpectedly. */
function unexpectedlyFailed(expected: CaseForm['expect'], verdicts: readonly Verdict[]): readonly Verdict[] {
  const wanted = wantedVerdicts(expected);
  const isExpected = (seen: Verdict): boolean =>
    (wanted.get(nameIn(seen)) ?? wanted.get(seen.rule)) === 'failed';
  return verdicts.filter((seen) => seen.verdict === 'failed' && !isExpected(seen));
}

function isNamed(seen: Verdict, wanted: ReadonlyMap<string, string>): boolean {
  return wanted.has(nameIn(seen)) || wanted.has(seen.rule);
}

function nameIn({ rule }: Verdict): string {
  return rule.slice(rule.indexOf('#') + 1);
}

function because(verdict: Verdict | undefined): string {
  const why = verdict && wordsOf(verdict);
  return why === undefined ? '' : ` (${why})`;
}

function showChange({ action, target, value }: CaseChange): string {
  return show({ action, target, value });
}

function show(value: unknown): string {
  return JSON.stringify(value);
}

const kinds = [
  ...new Set(Object.entries(eventFamilies).flatMap(([family, row]) => [family, ...Object.keys(row.types)])),
] as [string, ...string[]];

const EventForm = z
  .strictObject({
    kind: z.enum(kinds).describe('A family (`pull_request`) or an Event-Type (`pull_request_sync`).'),
    activity: z.string().min(1).optional().describe("The payload's `action`; may also stand in the payload."),
    payload: z.record(z.string(), z.unknown()).optional(),
    file: z.string().min(1).optional().describe('A recorded payload, as a path beside this file.'),
  })
  .refine((event) => (event.payload === undefined) !== (event.file === undefined), {
    message: 'specify either payload (a map of members) or file (the path of a recorded payload)',
  });

const ExpectedChange = z
  .strictObject({
    action: z.string().optional(),
    target: z.string().optional(),
    value: z.unknown().optional(),
  })
  .describe('Members that are not named are not compared.');
type ExpectedChange = z.output<typeof ExpectedChange>;

const ExpectedRefusal = ExpectedChange.extend({
  why: z.string().min(1).optional().describe('A part of the reason.'),
});
type ExpectedRefusal = z.output<typeof ExpectedRefusal>;

/**
 * The item of a sweep: a map with one key, the kind of `each`. The value is the item as conditions see it (durations as
 * `15m`).
 */
const ItemForm = z
  .partialRecord(z.enum(subjectKinds), z.record(z.string(), z.unknown()))
  .refine((item) => Object.keys(item).length === 1, {
    message: 'name one kind of item: a case is about one item',
  });

const Parameters = z.record(z.string(), z.unknown());

const CaseForm = z
  .strictObject({
    name: z.string().min(1).max(200),
    with: Parameters.optional().describe('Values of parameters for this case.'),
    event: EventForm.optional(),
    item: ItemForm.optional().describe('The item of a sweep, instead of an event: `{ runner: { … } }`.'),
    facts: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Fact or variable → value; `contents`: path → value.'),
    'same-head': z
      .array(z.record(z.string(), z.unknown()))
      .max(50)
      .optional()
      .describe('Facts of each other open pull request with the same head commit, for statuses.'),
    now: z.iso
      .datetime({ offset: true, error: 'write an instant with its offset, such as 2026-01-31T12:00:00Z' })
      .optional()
      .describe("The run's instant."),
    expect: z
      .strictObject({
        changes: z.array(ExpectedChange).optional().describe('Exactly these changes, in any order.'),
        includes: z.array(ExpectedChange).min(1).optional().describe('At least these changes.'),
        refused: z
          .array(ExpectedRefusal)
          .optional()
          .describe('The changes that are wanted and refused, all of them; default: none.'),
        verdicts: z
          .record(z.string(), z.enum(['matched', 'unmatched', 'failed', 'skipped']))
          .optional()
          .describe('Rule → verdict.'),
        failed: z.string().min(1).optional().describe('The rule that fails.'),
      })
      .refine(({ changes, includes }) => changes === undefined || includes === undefined, {
        message: 'specify either changes (exactly these) or includes (at least these)',
      }),
  })
  .refine((one) => (one.event === undefined) !== (one.item === undefined), {
    message:
      'specify either event: { kind, activity, payload }, or item: { pull_request: { … } } for a rule with a schedule',
  });

/** Grammar of rule tests: `NAME.test.yml` next to `NAME.yml`. */
export const TestFile = z.strictObject({
  with: Parameters.optional().describe(
    'Values of the parameters of the file, for all cases; default: their defaults.',
  ),
  cases: z.array(CaseForm).min(1).max(200),
});
type CaseForm = z.output<typeof CaseForm>;

/** A fact that a rule reads. */
type FactRead = {
  /** The part of the rule that reads the fact: `paths`, `if`, a step, or the plan of a step. */
  readonly reader: string;
  readonly request: FactRequest;
};
/** Something that a rule reads but a case does not provide, with the identity of the rule. */
export type Missing = { readonly rule: string; readonly reader: string; readonly gap: Gap };

/**
 * Returns what a failed rule reads but a case does not provide. `found` contains the gaps of a run that continued after
 * each of them. Facts that the rule declares and that this run did not reach are added. Without gaps, the rule failed
 * for another reason.
 */
export async function findMissing(
  rule: LoadedRule,
  found: readonly Gap[],
  isGiven: (request: FactRequest) => Promise<boolean>,
): Promise<readonly Missing[]> {
  if (found.length === 0) return [];
  const missing: Missing[] = [];
  for (const { reader, request } of readsOf(rule)) {
    const shape = findFact(request.name)?.shape;
    if (request.optional || shape === undefined || (await isGiven(request))) continue;
    missing.push({ rule: rule.id, reader, gap: { request, shape } });
  }
  const declared = new Set(missing.map(({ gap }) => factKey(gap.request)));
  const others = found.filter(({ request, path }) => path !== undefined || !declared.has(factKey(request)));
  return [...missing, ...others.map((gap) => ({ rule: rule.id, reader: 'the plan', gap }))];
}

function readsOf({ on, condition, steps }: LoadedRule): readonly FactRead[] {
  const readsPaths = on.some(({ paths, pathsIgnore }) => paths !== undefined || pathsIgnore !== undefined);
  const read = (reader: string, requests: readonly FactRequest[]) =>
    requests.map((request) => ({ reader, request }));
  return [
    ...(readsPaths ? read('paths', [{ name: 'files' }]) : []),
    ...read('if', condition?.facts ?? []),
    ...steps.flatMap(({ name, condition: ofStep, arguments: given, action }) =>
      read(`step ${name}`, [
        ...(ofStep?.facts ?? []),
        ...given.facts,
        // Conditions in the arguments are still text here, so facts are listed as if `when` were not false.
        ...action.facts(given.written),
      ]),
    ),
  ];
}

/** Returns lines that list what is missing with its readers, and tell the author where to write it. */
function describeMissing(missing: readonly Missing[]): readonly string[] {
  const isFact = ({ gap }: Missing): boolean => gap.path === undefined;
  const facts = new Set(missing.filter(isFact).map(({ gap }) => factKey(gap.request)));
  const readers = new Map<string, Set<string>>();
  for (const one of missing) {
    const { rule, reader, gap } = one;
    // A fact that is not given has one line, which names the members that are read.
    if (!isFact(one) && facts.has(factKey(gap.request))) continue;
    const form = isFact(one) ? formOf(gap, missing) : `${gap.path}: ${describeShape(gap.shape)}`;
    const by = `${reader} of ${rule.slice(rule.indexOf('#') + 1)}`;
    readers.set(form, (readers.get(form) ?? new Set()).add(by));
  }
  // The failure of the rule already names a single member.
  if (facts.size === 0 && readers.size < 2) return [];
  const members = readers.size - facts.size;
  const counts = [
    ...(facts.size > 0 ? [facts.size === 1 ? 'a fact' : count(facts.size, 'fact')] : []),
    ...(members > 0 ? [members === 1 ? 'a member' : count(members, 'member')] : []),
  ].join(' and ');
  const where = facts.size === 0 ? 'write them at these paths' : 'write under "facts" of this case';
  return [
    `${counts} ${readers.size === 1 ? 'is' : 'are'} not given; ${where} (members: docs/reference/facts):`,
    ...[...readers].map(([form, by]) => `  ${form}, read by ${[...by].join(' and ')}`),
  ];
}

/**
 * Returns how a fact is written in a test case: `files: a list`, `contents: { "a.txt": an object }`. An object has the
 * members that were read: `base_branch: { name: text }`.
 */
function formOf({ request, shape }: Gap, missing: readonly Missing[]): string {
  const { name, argument } = request;
  const prefix = `facts.${factKey(request)}.`;
  const members = new Map<string, string>();
  for (const { gap } of missing) {
    const inner = gap.path?.startsWith(prefix) ? gap.path.slice(prefix.length) : '';
    if (inner !== '' && !inner.includes('.')) members.set(inner, `${inner}: ${describeShape(gap.shape)}`);
  }
  const value = members.size === 0 ? describeShape(shape) : `{ ${[...members.values()].join(', ')}, … }`;
  const [owner = '', member] = name.split('.');
  if (member !== undefined) return `${owner}: { ${member}: ${value} }`;
  return argument === undefined ? `${name}: ${value}` : `${name}: { ${JSON.stringify(argument)}: ${value} }`;
}
