/**
 * chdsbd/kodiak. Read at github.com/chdsbd/kodiak 920c1c653eb811e4f1f5e0a7c21649b2c856e689: `V1` and its parts
 * (bot/kodiak/config.py), `mergeable`, `get_merge_method`, `get_blocking_title_regex`, `review_status`
 * (bot/kodiak/evaluation.py), `dep_versions_from_pr` and what it calls (bot/kodiak/dependencies.py).
 *
 * What surprises: a branch without protection is a configuration error; the label of a merge method
 * (`kodiak: merge.method = "rebase"`) wins over the file; the title `WIP:` blocks by default; a conflict removes the
 * label before the title is looked at; a label of the branch update lets ignored users update; the branch of a merged
 * pull request is deleted only while it still has the label; a required check run that is neutral is waited for if
 * anything else blocks.
 *
 * The decision is that of the whole passage: the evaluation that queues, then the one of the queue, without others in it.
 */
import { RE2JS } from 're2js';
import { parse } from 'smol-toml';
import { standingOf } from './standing.ts';
import {
  type Decision,
  decision,
  type Effect,
  listOf,
  type Mapping,
  mappingOf,
  nothing,
  type Subject,
} from './subject.ts';

const methods = ['merge', 'squash', 'rebase', 'rebase_fast_forward'];

export const decide = (configuration: string, subject: Subject, _now = 0): Decision => {
  const file: Mapping = parse(configuration);
  if (file.version !== 1) return nothing('the version is not 1');
  const merge = mappingOf(file.merge);
  const update = mappingOf(file.update);
  const approve = mappingOf(file.approve);
  const flag = (section: Mapping, name: string, otherwise: boolean): boolean =>
    typeof section[name] === 'boolean' ? section[name] : otherwise;
  const { protection, labels } = subject;
  const has = (label: string): boolean => labels.includes(label);
  const open = subject.state === 'open';

  // 1. Errors of the configuration.
  if (protection === null) return nothing('the branch has no protection');
  const method = methodOf(merge, subject);
  if (protection.signatures && method === 'rebase') return nothing('a rebase has no signatures');
  if (method !== 'rebase_fast_forward' && !subject.methods.includes(method as 'merge'))
    return nothing(`the method ${method} is off`);
  if (has(typeof file.disable_bot_label === 'string' ? file.disable_bot_label : 'kodiak:disabled'))
    return nothing('disabled by label');

  const automerge = listOf(merge.automerge_label ?? 'automerge');
  const found = automerge.filter(has);
  const requires = flag(merge, 'require_automerge_label', true);
  const dependencies = mappingOf(merge.automerge_dependencies);
  const dependency =
    listOf(dependencies.usernames).includes(subject.author) &&
    listOf(dependencies.versions).includes(versionStep(subject) ?? '');
  if (subject.mergeable === null && open) return nothing('the forge has not computed the merge yet');

  // 2. Approval and update, which need no readiness.
  const effects: Effect[] = [];
  const { review, state } = standingOf(subject);
  const wantsApproval =
    listOf(approve.auto_approve_usernames).includes(subject.author) ||
    listOf(approve.auto_approve_labels).some(has);
  if (wantsApproval && open && !subject.draft) {
    const own = subject.reviews
      .filter(({ author, state: of }) => author === 'kodiakhq' && of !== 'COMMENTED')
      .at(-1);
    if (own?.state !== 'APPROVED') effects.push('approve');
  }
  const outdated = open && protection.strict && state === 'BEHIND';
  const updateLabel = typeof update.autoupdate_label === 'string' && has(update.autoupdate_label);
  const updates =
    (flag(update, 'always', false) && (found.length > 0 || !flag(update, 'require_automerge_label', true))) ||
    updateLabel;
  const ignored = [...listOf(update.ignored_usernames), ...listOf(update.blacklist_usernames)];
  if (outdated && !updateLabel && ignored.includes(subject.author))
    return decision(effects, 'no updates for this author');
  if (outdated && updates) return decision([...effects, 'update-branch'], 'update before all else');

  // 3. What stops a merge.
  if (requires && found.length === 0 && !dependency) return decision(effects, 'no automerge label');
  if (open && subject.mergeable === false) {
    if (flag(merge, 'notify_on_conflict', true) && requires && found.length > 0) {
      for (const label of found) effects.push(`remove-label ${label}`);
      effects.push('comment');
    }
    return decision(effects, 'conflict');
  }
  if ([...listOf(merge.blacklist_labels), ...listOf(merge.blocking_labels)].some(has))
    return decision(effects, 'blocking label');
  const title =
    [merge.blocking_title_regex, merge.blacklist_title_regex].find((given) => typeof given === 'string') ??
    '^WIP:.*';
  if (title !== '') {
    let blocked = true;
    try {
      blocked = RE2JS.compile(String(title)).matcher(subject.title).find();
    } catch {
      return decision(effects, 'the regular expression of titles is wrong');
    }
    if (blocked) return decision(effects, 'blocking title');
  }
  if (subject.draft) return decision(effects, 'draft');
  const requested = subject.requestedUsers.length + subject.requestedTeams.length;
  if (flag(merge, 'block_on_reviews_requested', false) && requested > 0)
    return decision(effects, 'reviews requested');
  if (subject.merged) {
    const deletes =
      flag(merge, 'delete_branch_on_merge', false) &&
      !subject.fork &&
      !subject.targeted.includes(subject.head);
    return decision(deletes ? [...effects, 'delete-branch'] : effects, 'merged');
  }
  if (!open) return decision(effects, 'closed');

  const required = new Set(protection.checks);
  const runs = new Map(
    subject.checks.filter(({ kind }) => kind === 'run').map((check) => [check.name, check]),
  );
  if (
    flag(merge, 'block_on_neutral_required_check_runs', false) &&
    [...required].some((name) => runs.get(name)?.state === 'neutral')
  ) {
    return decision(effects, 'neutral required check');
  }

  // 4. Why the forge blocks, if it does.
  let waits = false;
  if (state === 'BLOCKED' || state === 'BEHIND') {
    if (review === 'REVIEW_REQUIRED' || review === 'CHANGES_REQUESTED')
      return decision(effects, `reviews: ${review}`);
    if (protection.resolution && subject.unresolvedThreads > 0)
      return decision(effects, 'unresolved conversations');
    const passing = new Set<string>();
    if (protection.checks.length > 0) {
      const failing = new Set<string>();
      let skippable = false;
      const notWaitedFor = listOf(merge.dont_wait_on_status_checks);
      for (const { name, state: of } of subject.checks.filter(({ kind }) => kind === 'status')) {
        if (notWaitedFor.includes(name) && of === 'pending') skippable = true;
        else if (of === 'error' || of === 'failure') failing.add(name);
        else if (of === 'success') passing.add(name);
      }
      for (const { name, state: of } of runs.values()) {
        if (notWaitedFor.includes(name) && (of === 'pending' || of === 'neutral')) skippable = true;
        else if (of === 'success' || of === 'skipped') passing.add(name);
        else if (of !== 'pending' && of !== 'neutral') failing.add(name);
      }
      const wrong = [...failing].some((name) => required.has(name));
      const travis = 'continuous-integration/travis-ci';
      const ofTravis = [`${travis}/pr`, `${travis}/push`];
      const wrongTravis = required.has(travis) && ofTravis.some((name) => failing.has(name));
      if (required.has(travis) && ofTravis.some((name) => passing.has(name))) required.delete(travis);
      if (wrong || wrongTravis) return decision(effects, 'failing required checks');
      if (skippable) return decision(effects, 'not waiting for a check');
    }
    waits = protection.checks.length > 0 && [...required].some((name) => !passing.has(name));
    if (flag(merge, 'update_branch_immediately', false) && outdated)
      return decision([...effects, 'update-branch'], 'immediate update');
    if (!waits && !outdated) return decision(effects, 'blocked for an unknown reason');
  }
  if (flag(merge, 'do_not_merge', false)) return decision(effects, 'do_not_merge');

  // 5. In the queue: an update comes before waiting, unless optimistic updates are off.
  if (outdated && (flag(merge, 'optimistic_updates', true) || !waits))
    return decision([...effects, 'update-branch'], 'update in the queue');
  if (waits) return decision(effects, 'waits for checks');
  return decision([...effects, `merge ${method === 'rebase_fast_forward' ? 'fast-forward' : method}`]);
};

function methodOf(merge: Mapping, subject: Subject): string {
  for (const label of subject.labels) {
    if (!label.startsWith('kodiak:')) continue;
    try {
      const method = mappingOf(mappingOf(parse(label.slice('kodiak:'.length))).merge).method;
      if (typeof method === 'string' && methods.includes(method)) return method;
    } catch {
      // Another label that starts like this, such as kodiak:disabled.
    }
  }
  if (typeof merge.method === 'string') {
    if (!methods.includes(merge.method)) throw new Error(`unknown merge method ${merge.method}`);
    return merge.method;
  }
  return (
    ['merge', 'squash', 'rebase'].find((method) => subject.methods.includes(method as 'merge')) ?? 'merge'
  );
}

type Step = 'major' | 'minor' | 'patch';

/** Returns the largest step of versions: from a table of Renovate, else the text of Dependabot, else the title. */
export function versionStep({ title, body }: Pick<Subject, 'title' | 'body'>): Step | undefined {
  const ranks: readonly Step[] = ['patch', 'minor', 'major'];
  const largest = (pattern: RegExp, text: string, least?: Step): Step | undefined => {
    let step = least;
    for (const [, before = '', after = ''] of text.matchAll(pattern)) {
      const next = compareVersions(before, after);
      if (next !== undefined && (step === undefined || ranks.indexOf(next) > ranks.indexOf(step)))
        step = next;
    }
    return step;
  };
  const renovate = largest(
    /`\^?v?(.*)` -> `\^?v?(.*)`/g,
    body,
    body.includes('| lockFileMaintenance |') ? 'patch' : undefined,
  );
  if (renovate !== undefined) return renovate;
  const dependabot = largest(/from (.*) to (.*)/g, body);
  if (dependabot !== undefined) return dependabot;
  const [, before, after] = /from (\S+) to (\S+)/.exec(title) ?? [];
  return before === undefined || after === undefined ? undefined : compareVersions(before, after);
}

function compareVersions(before: string, after: string): Step | undefined {
  const [old, next] = [before.split(/[.+]/), after.split(/[.+]/)];
  // `int` of Python takes a sign, white space around the digits, and single underscores between them.
  if ([...next.slice(0, 3), ...old.slice(0, 3)].some((part) => !/^\s*[+-]?\d+(?:_\d+)*\s*$/.test(part)))
    return undefined;
  if (old[0] !== next[0]) return 'major';
  return old[1] === next[1] ? 'patch' : 'minor';
}
