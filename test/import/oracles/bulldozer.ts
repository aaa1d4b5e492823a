/**
 * palantir/bulldozer. Read at github.com/palantir/bulldozer 5194b88d13897e4fd45950ab6fc109cbcfade166:
 * `ParseConfig` (bulldozer/config.go), `ShouldMergePR`, `ShouldUpdatePR`, `statusSetDifference` (evaluate.go),
 * `Signals.MatchesAny`, `Signals.MatchesAll` and the signals (signals.go), `DetermineMergeMethod`, `attemptMerge`,
 * `attemptDelete` (merge.go), `UpdatePR` (update.go), `CurrentSuccessStatuses`, `Comments` (pull/github_context.go).
 *
 * What surprises: `max_commits` counts only for `merge_method`, where all signals must match; as a trigger or to ignore
 * it enables the section and never matches. Comments also match the description. Without required statuses nothing is
 * merged. Signals of `update` that trigger skip drafts and required statuses. A pull request of a fork is never updated.
 *
 * The decision is about the state: it contains `update-branch` if the next push or label updates the head, and `merge`
 * if the next other event merges.
 */
import { RE2JS } from 're2js';
import { parse } from 'yaml';
import { refusalOf } from './standing.ts';
import {
  type Decision,
  decision,
  type Effect,
  isMapping,
  listOf,
  type Mapping,
  mappingOf,
  nothing,
  type Subject,
  sameName,
} from './subject.ts';

const signalNames = [
  'labels',
  'comment_substrings',
  'comments',
  'pr_body_substrings',
  'branches',
  'branch_patterns',
  'max_commits',
  'auto_merge',
];
const mergeNames = [
  'trigger',
  'ignore',
  'blacklist',
  'whitelist',
  'delete_after_merge',
  'allow_merge_with_no_checks',
  'method',
  'merge_method',
  'options',
  'branch_method',
  'required_statuses',
];
const updateNames = ['trigger', 'ignore', 'blacklist', 'whitelist', 'ignore_drafts', 'required_statuses'];

export const decide = (configuration: string, subject: Subject, _now = 0): Decision => {
  const config = readConfig(configuration);
  if (config === undefined) return nothing('the configuration is invalid');
  if (subject.state === 'closed') return nothing('closed');
  const effects: Effect[] = [];
  const because: string[] = [];

  const update = mappingOf(config.update);
  if (shouldUpdate(update, subject) && !subject.fork && subject.behind > 0) effects.push('update-branch');

  const merge = mappingOf(config.merge);
  const refusal = refuseMerge(merge, subject);
  const method = methodOf(merge, subject);
  const refused = refusal ?? refusalOf(subject, method);
  if (refused === undefined) {
    effects.push(`merge ${method}`);
    if (merge.delete_after_merge === true && !subject.fork && !subject.targeted.includes(subject.head))
      effects.push('delete-branch');
  } else because.push(refused);
  return decision(effects, ...because);
};

function readConfig(configuration: string): Mapping | undefined {
  const file: unknown = parse(configuration, { merge: true, version: '1.1' });
  if (!isMapping(file)) return undefined;
  const known = (value: unknown, names: readonly string[]): boolean =>
    Object.keys(mappingOf(value)).every((name) => names.includes(name));
  const signals = (section: unknown): boolean =>
    ['trigger', 'ignore', 'blacklist', 'whitelist'].every((name) =>
      known(mappingOf(section)[name], signalNames),
    );
  const isV1 =
    known(file, ['version', 'merge', 'update']) &&
    known(file.merge, mergeNames) &&
    known(file.update, updateNames) &&
    signals(file.merge) &&
    signals(file.update) &&
    file.version === 1;
  if (isV1) {
    const renamed = (section: unknown): Mapping => {
      const given = mappingOf(section);
      const pick = (name: string, old: string): unknown =>
        isEnabled(mappingOf(given[old])) && !isEnabled(mappingOf(given[name])) ? given[old] : given[name];
      return { ...given, ignore: pick('ignore', 'blacklist'), trigger: pick('trigger', 'whitelist') };
    };
    return { merge: renamed(file.merge), update: renamed(file.update) };
  }
  // The format before version 1.
  if (!known(file, ['mode', 'strategy', 'deleteAfterMerge', 'ignoreSquashedMessages'])) return undefined;
  const signal = {
    whitelist: { trigger: { labels: ['merge when ready', 'merge-when-ready', 'merge_when_ready'] } },
    blacklist: { ignore: { labels: ['wip', 'do not merge', 'do-not-merge', 'do_not_merge'] } },
    pr_body: { trigger: { comment_substrings: ['==MERGE_WHEN_READY=='] } },
  }[String(file.mode)];
  if (signal === undefined) return undefined;
  return {
    merge: { ...signal, method: file.strategy, delete_after_merge: file.deleteAfterMerge },
    update: { trigger: { labels: ['update me', 'update-me', 'update_me'] } },
  };
}

function isEnabled(signals: Mapping): boolean {
  return signalNames.some((name) => {
    const value = signals[name];
    return name === 'max_commits'
      ? Number(value ?? 0) > 0
      : name === 'auto_merge'
        ? value === true
        : listOf(value).length > 0;
  });
}

const triggers: Readonly<Record<string, (value: unknown, subject: Subject) => boolean>> = {
  labels: (value, { labels }) => listOf(value).some((name) => labels.some((label) => sameName(label, name))),
  comment_substrings: (value, subject) =>
    listOf(value).some((part) => textsOf(subject).some((text) => text.includes(part))),
  comments: (value, subject) => listOf(value).some((whole) => textsOf(subject).includes(whole)),
  pr_body_substrings: (value, { body }) => listOf(value).some((part) => body !== '' && body.includes(part)),
  branches: (value, { base }) => listOf(value).includes(base),
  branch_patterns: (value, { base }) => listOf(value).some((pattern) => matchesGo(`^${pattern}$`, base)),
  auto_merge: (value, { autoMerge }) => value === true && autoMerge,
};

/** The description and all comments; the texts of whole reviews do not count. */
function textsOf({ body, comments }: Subject): string[] {
  return [body, ...comments.map((comment) => comment.body)].filter((text) => text !== '');
}

const matchesAny = (signals: Mapping, subject: Subject): boolean =>
  Object.entries(triggers).some(([name, matches]) => matches(signals[name], subject));

function matchesAll(signals: Mapping, subject: Subject): boolean {
  if (!isEnabled(signals)) return false;
  return signalNames
    .filter((name) => isEnabled({ [name]: signals[name] }))
    .every((name) =>
      name === 'max_commits'
        ? subject.commits.length <= Number(signals[name])
        : triggers[name]?.(signals[name], subject) === true,
    );
}

function refuseMerge(merge: Mapping, subject: Subject): string | undefined {
  const [ignore, trigger] = [mappingOf(merge.ignore), mappingOf(merge.trigger)];
  if (isEnabled(ignore) && matchesAny(ignore, subject)) return 'ignored';
  if (isEnabled(trigger) && !matchesAny(trigger, subject)) return 'not triggered';
  const required = [...(subject.protection?.checks ?? []), ...listOf(merge.required_statuses)];
  if (required.length === 0 && merge.allow_merge_with_no_checks !== true) return 'no required statuses';
  const missing = missingStatuses(required, subject);
  return missing.length > 0 ? `missing ${missing.join(', ')}` : undefined;
}

function shouldUpdate(update: Mapping, subject: Subject): boolean {
  const [ignore, trigger] = [mappingOf(update.ignore), mappingOf(update.trigger)];
  const required = listOf(update.required_statuses);
  const drafts = update.ignore_drafts;
  if (!isEnabled(ignore) && !isEnabled(trigger) && drafts === undefined && required.length === 0)
    return false;
  if (isEnabled(ignore) && matchesAny(ignore, subject)) return false;
  if (isEnabled(trigger)) return matchesAny(trigger, subject);
  return !(drafts === true && subject.draft) && missingStatuses(required, subject).length === 0;
}

/** A status must be a success; a check run may be neutral or skipped. One of both kinds is enough. */
function missingStatuses(required: readonly string[], { checks }: Subject): string[] {
  const passed = new Set(
    checks
      .filter(
        ({ kind, state }) =>
          state === 'success' || (kind === 'run' && ['neutral', 'skipped'].includes(state)),
      )
      .map(({ name }) => name),
  );
  const travis = 'continuous-integration/travis-ci';
  if (passed.has(`${travis}/push`) || passed.has(`${travis}/pr`)) passed.add(travis);
  return [...new Set(required)].filter((name) => !passed.has(name));
}

function methodOf(merge: Mapping, subject: Subject): string {
  let method = mappingOf(merge.branch_method)[subject.base] ?? merge.method;
  for (const entry of Array.isArray(merge.merge_method) ? merge.merge_method.map(mappingOf) : []) {
    if (!matchesAll(mappingOf(entry.trigger), subject)) continue;
    method = entry.method;
    break;
  }
  if (method === 'ff-only') return 'fast-forward';
  return typeof method === 'string' && ['merge', 'squash', 'rebase'].includes(method) ? method : 'merge';
}

/** Returns whether a regular expression of Go matches anywhere in a text. A wrong one matches nothing. */
export function matchesGo(pattern: string, text: string): boolean {
  try {
    return RE2JS.compile(pattern).matcher(text).find();
  } catch {
    return false;
  }
}
