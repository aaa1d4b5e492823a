import { messageOperation } from '../actions/sent-messages.ts';
import type { RepositoryRef, Subject } from '../contract/events/subject.ts';
import { type AnyInput, fillPath } from '../contract/operation.ts';
import { findOperation } from '../contract/operations.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { repositoryId } from '../facts/repository.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { type DefaultBranch, readDefaultBranch, ungrantedReason } from './bounds/grants.ts';
import type { Plan, PlannedChange, RefusedChange } from './proposal.ts';

/**
 * Returns the plan without changes outside the scope of their rules, and without changes that cannot be sent as a
 * request. They are refused with the reason, so that a plan shows exactly what would be sent. `assertInScope` checks
 * the same conditions again before each request.
 */
export function refuseOutOfScope(
  plan: Plan,
  subject: Subject,
  defaultBranch: DefaultBranch | undefined,
): Plan {
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const { input } = planned.change;
    const why = outOfScopeReason(planned, input, { subject, defaultBranch }) ?? unsendable(planned);
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}

/**
 * Throws if a write is out of scope. All scope checks before a request are made here. Changes of a repository's file
 * are limited to the event's repository, by owner and name in the request and by id on the forge. Changes of an
 * organization's file are limited to the organization: an account that can push to a default branch must not gain the
 * bot's permissions elsewhere. For more powerful rules, the id of the event's repository is also checked when they
 * write to it.
 */
export async function assertInScope(planned: PlannedChange, input: AnyInput, facts: Facts): Promise<void> {
  const { subject } = facts;
  const { repository } = subject;
  const defaultBranch = await readDefaultBranch([planned], facts);
  const why = outOfScopeReason(planned, input, { subject, defaultBranch });
  if (why !== undefined) throw new ReeveError('forge-forbidden', why);
  if (repository && isHome(repository, input.params ?? {})) await holdIdentity(repository, facts);
}

/** Returns why none of the rules that want a change may send it; undefined if at least one of the rules may. */
function outOfScopeReason(
  planned: PlannedChange,
  { params = {} }: AnyInput,
  {
    subject: { repository, isArchived },
    defaultBranch,
  }: { readonly subject: Subject; readonly defaultBranch: DefaultBranch | undefined },
): string | undefined {
  const goesHome = repository !== undefined && isHome(repository, params);
  if (isArchived && goesHome && !planned.change.unarchives)
    return `${repository.owner}/${repository.name} is archived: only archived: false is written there`;
  const refusals = planned.proposals.map(
    ({ rule }) =>
      outOfScopeReasonOf(rule, params, goesHome, repository) ??
      ungrantedReason(rule, { change: planned.change, params, defaultBranch }),
  );
  return refusals.every((refusal) => refusal !== undefined) ? refusals[0] : undefined;
}

/**
 * Returns why a change cannot be sent, if a name in it would leave its segment of the request's path (such as `..`).
 */
function unsendable({ change }: PlannedChange): string | undefined {
  if (change.operation === messageOperation) return undefined;
  const operation = findOperation(change.operation);
  if (operation === undefined) return `there is no operation "${change.operation}"`;
  try {
    fillPath(operation, change.input.params);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns why a write is outside the scope of a rule; undefined if it may be sent. */
function outOfScopeReasonOf(
  rule: LoadedRule,
  params: Readonly<Record<string, unknown>>,
  goesHome: boolean,
  repository: RepositoryRef | undefined,
): string | undefined {
  const { home, level } = rule;
  if (level === 'operator') return undefined;
  if (level === 'organization' && home && 'organization' in home) {
    // A path that has neither an owner nor an organization belongs to the whole instance, or to the account.
    const owner = params.owner ?? params.org;
    if (same(owner, home.organization)) return undefined;
    return `a rule of ${home.organization} must not write anywhere else`;
  }
  if (!goesHome || repository === undefined) {
    const where = repository ? `${repository.owner}/${repository.name}` : rule.source;
    return `a rule of ${where} must not write anywhere else`;
  }
  const isOther = home !== undefined && 'repositoryId' in home && home.repositoryId !== repository.id;
  return isOther ? `a rule of ${rule.source} must not write to another repository` : undefined;
}

function isHome(home: RepositoryRef, params: Readonly<Record<string, unknown>>): boolean {
  return same(params.owner, home.owner) && same(params.repo, home.name);
}

/** Compares names of owners or repositories, which are case-insensitive. */
function same(given: unknown, name: string): boolean {
  return typeof given === 'string' && given.toLowerCase() === name.toLowerCase();
}

/**
 * Checks the id of the repository: if the repository was deleted and recreated, or another repository took its name,
 * this is not the repository of the event.
 */
async function holdIdentity(home: RepositoryRef, facts: Facts): Promise<void> {
  const { id } = await facts.ask(requestOf(repositoryId));
  if (id === home.id) return;
  throw new ReeveError(
    'forge-not-found',
    `${home.owner}/${home.name} is now a different repository (id ${id}, not ${home.id} as in the event); nothing was written`,
  );
}
