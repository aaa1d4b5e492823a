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
 * Returns the plan without the changes that would leave what their rules are about, and those that no request can be made
 * of: they are refused with the reason, so that a plan shows what would be sent and nothing else. What is sent is held to
 * the same bounds again by `assertInScope`.
 */
export function refuseOutOfScope(
  plan: Plan,
  { repository }: Subject,
  defaultBranch: DefaultBranch | undefined,
): Plan {
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const { input } = planned.change;
    const why = outOfScopeReason(planned, input, { repository, defaultBranch }) ?? unsendable(planned);
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}

/**
 * The one choke point of writes. What a repository's file asks for goes to the event's repository, by owner and name in
 * the request and by id on the forge; what an organization's file asks for stays in the organization. Throws where a
 * write would not: an account that can push to a default branch must not gain the bot's rights elsewhere. Rules with more power
 * are held to the repository's identity as well, where they write to it.
 */
export async function assertInScope(planned: PlannedChange, input: AnyInput, facts: Facts): Promise<void> {
  const { repository } = facts.subject;
  const defaultBranch = await readDefaultBranch([planned], facts);
  const why = outOfScopeReason(planned, input, { repository, defaultBranch });
  if (why !== undefined) throw new ReeveError('forge-forbidden', why);
  if (repository && isHome(repository, input.params ?? {})) await holdIdentity(repository, facts);
}

/** Returns why none of the rules that want a change may send it: it is made with the powers of any of them. */
function outOfScopeReason(
  planned: PlannedChange,
  { params = {} }: AnyInput,
  {
    repository,
    defaultBranch,
  }: { readonly repository: RepositoryRef | undefined; readonly defaultBranch: DefaultBranch | undefined },
): string | undefined {
  const goesHome = repository !== undefined && isHome(repository, params);
  const refusals = planned.proposals.map(
    ({ rule }) =>
      outOfScopeReasonOf(rule, params, goesHome, repository) ??
      ungrantedReason(rule, { change: planned.change, params, defaultBranch }),
  );
  return refusals.every((refusal) => refusal !== undefined) ? refusals[0] : undefined;
}

/** A name that would lead out of its place in the path, such as `..`, is in no request. */
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

/** Returns why a write is none of this rule's, or undefined where it may be sent. */
function outOfScopeReasonOf(
  rule: LoadedRule,
  params: Readonly<Record<string, unknown>>,
  goesHome: boolean,
  repository: RepositoryRef | undefined,
): string | undefined {
  const { home, level } = rule;
  if (level === 'operator') return undefined;
  if (level === 'organization' && home && 'organization' in home) {
    // Whatever has neither owner nor organization in its path belongs to the instance, or to the account.
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

/** Owners and names are unique whatever their case. */
function same(given: unknown, name: string): boolean {
  return typeof given === 'string' && given.toLowerCase() === name.toLowerCase();
}

/** A repository that was deleted and made anew, or whose name another one took, is not the one the event spoke of. */
async function holdIdentity(home: RepositoryRef, facts: Facts): Promise<void> {
  const { id } = await facts.ask(requestOf(repositoryId));
  if (id === home.id) return;
  throw new ReeveError(
    'forge-not-found',
    `${home.owner}/${home.name} is another repository now (id ${id}, the event spoke of ${home.id}); nothing was written`,
  );
}
