import type { Event } from '../contract/events/events.ts';
import type { Subject } from '../contract/events/subject.ts';
import { anyStatus } from '../facts/files.ts';
import type { Meter } from '../patterns/meter.ts';
import { costs } from './expressions/budget.ts';
import type { Listening, LoadedRule, Pattern } from './rule.ts';
import type { SkipReason } from './verdict.ts';

/**
 * Returns why a rule skips an event; undefined if the rule applies. Reasons: `kind` (another family or activity),
 * `filter` (branches and tags, read from the payload), `scope` (the rule's `in`). Path filters need a fact, which
 * `evaluateRule` requests. Patterns are charged to the meter; throws LimitExceeded if its budget is insufficient.
 */
export function skipReason(rule: LoadedRule, event: Event, meter: Meter): SkipReason | undefined {
  const heard = rule.on.filter((listening) => listensTo(listening, event));
  if (heard.length === 0) return 'kind';
  if (!heard.some((listening) => passesRefs(listening, event, meter))) return 'filter';
  return outOfScope(rule, scopeNameOf(event), meter) ? 'scope' : undefined;
}

/**
 * Returns whether a subject matches a rule's `in`. Used for items of a sweep and for subjects given on the command
 * line.
 */
export function isInScope(rule: LoadedRule, subject: Subject, meter: Meter): boolean {
  const { repository, organization } = subject;
  return !outOfScope(rule, repository ? `${repository.owner}/${repository.name}` : organization, meter);
}

/**
 * Returns the entries of `on` that match an event, without considering path filters. The rule applies if, for at least
 * one of these entries, the path filter matches too.
 */
export function listeningsFor(rule: LoadedRule, event: Event, meter: Meter): readonly Listening[] {
  return rule.on.filter((listening) => listensTo(listening, event) && passesRefs(listening, event, meter));
}

/** Returns whether an entry of `on` has a filter. */
export function isFiltered({ family: _family, activities: _activities, ...filters }: Listening): boolean {
  return Object.values(filters).some((filter) => filter !== undefined);
}

/** Returns whether the target branch of a pull request matches the filters of an entry. */
export function passesBranch(listening: Listening, branch: string, meter: Meter): boolean {
  const { branches, branchesIgnore, tags, tagsIgnore } = listening;
  return passesNames(branches, branchesIgnore, tags ?? tagsIgnore, (pattern) =>
    pattern.matches(branch, meter),
  );
}

/**
 * Returns whether a changed file matches the path filters of an entry. For a renamed file, both the old and the new
 * path count. `files` is the forge's list of changed files.
 */
export function passesPaths({ paths, pathsIgnore }: Listening, files: unknown, meter: Meter): boolean {
  if (paths) return somePath(files, (path) => paths.matches(path, meter), meter);
  return pathsIgnore === undefined || somePath(files, (path) => !pathsIgnore.matches(path, meter), meter);
}

function somePath(files: unknown, passes: (path: string) => boolean, meter: Meter): boolean {
  if (!Array.isArray(files)) return false;
  for (const file of files) {
    meter.charge(costs.item);
    if (typeof file !== 'object' || file === null) continue;
    // The forge cannot list the changes, so any file may have changed.
    if (file.status === anyStatus) return true;
    const path: unknown = file.filename;
    if (typeof path === 'string' && path !== '' && passes(path)) return true;
    const previous: unknown = file.previous_filename;
    if (typeof previous === 'string' && previous !== '' && passes(previous)) return true;
  }
  return false;
}

function listensTo({ family, activities }: Listening, event: Event): boolean {
  return event.family === family && (activities === undefined || activities.includes(event.activity));
}

function outOfScope(rule: LoadedRule, name: string | undefined, meter: Meter): boolean {
  // Subjects without an owner (a notification, a runner of the instance) match only a catch-all pattern.
  return rule.scopes.some(
    (scope) => !(name === undefined ? takesEverything(scope) : scope.matches(name, meter)),
  );
}

function takesEverything({ written }: Pattern): boolean {
  return written.some((pattern) => pattern === '*' || pattern === '**');
}

function scopeNameOf({ repository, subject, payload }: Event): string | undefined {
  if (repository) return `${repository.owner}/${repository.name}`;
  if (subject?.organization !== undefined) return subject.organization;
  const organization =
    memberAt(payload, ['organization', 'username']) ?? memberAt(payload, ['organization', 'name']);
  return typeof organization === 'string' ? organization : undefined;
}

/**
 * Returns whether an event passes the branch and tag filters of an entry. With filters for both branches and tags,
 * events of either kind may match; a filter for only one of them excludes events of the other kind.
 */
function passesRefs(listening: Listening, event: Event, meter: Meter): boolean {
  const { branches, branchesIgnore, tags, tagsIgnore } = listening;
  if (!branches && !branchesIgnore && !tags && !tagsIgnore) return true;
  const ref = eventRef(event);
  if (ref === undefined) return false;
  const matches = (pattern: Pattern): boolean => pattern.matches(ref.name, meter);
  if (ref.kind === 'tag') return passesNames(tags, tagsIgnore, branches ?? branchesIgnore, matches);
  return passesNames(branches, branchesIgnore, tags ?? tagsIgnore, matches);
}

function passesNames(
  only: Pattern | undefined,
  ignored: Pattern | undefined,
  ofOther: Pattern | undefined,
  matches: (pattern: Pattern) => boolean,
): boolean {
  if (only) return matches(only);
  if (ignored) return !matches(ignored);
  return ofOther === undefined;
}

type EventRef = { readonly kind: 'branch' | 'tag'; readonly name: string };

/**
 * Returns the ref of an event: the base branch of a pull request, or the ref of a push, create or delete event, which
 * is either a full name or has a `ref_type`.
 */
function eventRef({ family, payload }: Event): EventRef | undefined {
  const { ref, ref_type: type } = payload;
  if (typeof ref === 'string' && (family === 'push' || family === 'create' || family === 'delete')) {
    const isTag = type === 'tag' || ref.startsWith('refs/tags/');
    return { kind: isTag ? 'tag' : 'branch', name: ref.replace(/^refs\/(heads|tags)\//, '') };
  }
  const base = memberAt(payload, ['pull_request', 'base', 'ref']);
  return typeof base === 'string' ? { kind: 'branch', name: base } : undefined;
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let inner = value;
  for (const name of path) {
    if (typeof inner !== 'object' || inner === null) return undefined;
    inner = Reflect.get(inner, name);
  }
  return inner;
}
