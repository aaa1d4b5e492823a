import type { Capability } from '../client/capabilities.ts';
import type { FactRequest } from '../facts/fact.ts';
import type { Change } from './change.ts';
import { distinctNames, isKnownDropped, isSame, rememberDropped, toLowerCase, toNames } from './names.ts';
import type { PlanContext } from './plan-context.ts';

type ProtectionFields = Readonly<Record<string, unknown>>;
type ProtectionCall = { readonly operation: string; readonly params: ProtectionFields };

/** A protection as declared by a rule, with its live state. */
type WantedProtection = {
  readonly action: string;
  /** Target of the protection (`protection:main`); for a single field, the field's name is appended. */
  readonly target: string;
  /** The field that contains the protection's name, for the request that creates the protection. */
  readonly naming: ProtectionFields;
  readonly wanted: ProtectionFields;
  readonly live: ProtectionFields | undefined;
  readonly create: ProtectionCall;
  readonly edit: ProtectionCall;
  readonly reads: readonly FactRequest[];
  readonly requires: (member: string) => Capability | undefined;
};

/**
 * Returns one change per field of a protection, so that conflicts are detected per field; all changes are sent as one
 * request.
 */
export async function planProtection(
  one: WantedProtection,
  context: PlanContext,
): Promise<readonly Change[]> {
  const { live, wanted, target } = one;
  const changes: Change[] = [presence(one)];
  for (const [member, written] of Object.entries(wanted)) {
    // Names of accounts and teams contain no white space.
    const isNames = Array.isArray(written) && /_(usernames?|teams)$/.test(member);
    const value = isNames ? distinctNames(written) : written;
    const before = live?.[member] ?? null;
    const isUpToDate = live !== undefined && isSame(before, value);
    const isDropped =
      !isUpToDate &&
      live !== undefined &&
      (await isKnownDropped(droppedKey(one, member), value, before, context));
    const capability = one.requires(member);
    changes.push({
      ...head(one, { [member]: value }),
      target: `${target}.${member}`,
      value,
      before,
      after: value,
      reason: isUpToDate
        ? 'already in the desired state'
        : isDropped
          ? 'the forge drops the missing names'
          : live === undefined
            ? 'the rule requires it'
            : 'the rule requires another value',
      ...(capability ? { requires: [capability] } : {}),
      ...(isUpToDate || isDropped ? { already: true } : {}),
    });
  }
  return changes;
}

function head(one: WantedProtection, body: ProtectionFields) {
  const { operation, params } = one.live === undefined ? one.create : one.edit;
  const { action, reads, target: joins } = one;
  return { action, operation, input: { params, body }, reads, joins, protects: 'may-tighten' } as const;
}

function presence(one: WantedProtection): Change {
  return {
    ...head(one, one.live === undefined ? one.naming : {}),
    target: one.target,
    value: 'present',
    before: one.live === undefined ? 'absent' : 'present',
    after: 'present',
    reason: one.live === undefined ? 'there is no such protection' : 'the protection already exists',
    ...(one.live === undefined ? {} : { already: true }),
  };
}

function droppedKey({ edit, target }: WantedProtection, member: string): string {
  return keyFor(edit.params, `${target}.${member}`);
}

function keyFor({ owner, repo }: ProtectionFields, target: string): string {
  return `${owner}/${repo} ${target}`;
}

/** Returns the deletion of a protection that the rule does not list. */
export function pruneProtection(options: {
  action: string;
  target: string;
  call: ProtectionCall;
  live: unknown;
  reads: readonly FactRequest[];
  from: string;
  there: number;
}): Change {
  const { action, target, call, live, reads, from, there } = options;
  return {
    action,
    operation: call.operation,
    input: { params: call.params },
    target,
    value: 'absent',
    before: live,
    after: null,
    reason: 'the rule does not list it, and prune is set',
    reads,
    stage: 2,
    removes: { from, there },
  };
}

/** Returns the combined request body of several changes. */
export function mergeBodies(changes: readonly Change[]): Record<string, unknown> {
  return Object.assign({}, ...changes.map((change) => change.input.body));
}

/** Returns why a response does not show a change; undefined if it does. */
export function unshown({ input }: Change, answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || typeof input.body !== 'object') return undefined;
  for (const [member, value] of Object.entries(input.body ?? {})) {
    const got: unknown = Reflect.get(answer, member);
    if (isSame(got, value)) continue;
    const missing = Array.isArray(value)
      ? value.filter((name) => !toNames(got).includes(toLowerCase(name)))
      : [];
    return missing.length > 0
      ? `the forge dropped ${missing.join(', ')} silently: no access here; it is not retried for a week`
      : `the forge did not accept ${member}: the response contains ${JSON.stringify(got ?? null)}`;
  }
  return undefined;
}

/**
 * Records the list that the forge returned instead of the wanted list. Returns true for a list, because a retry cannot
 * succeed.
 */
export async function learnDropped(change: Change, answer: unknown, context: PlanContext): Promise<boolean> {
  if (!Array.isArray(change.value) || typeof answer !== 'object' || answer === null) return false;
  const member = change.target.slice(change.target.lastIndexOf('.') + 1);
  const got: unknown = Reflect.get(answer, member);
  await rememberDropped(keyFor(change.input.params ?? {}, change.target), change.value, got, context);
  return true;
}
