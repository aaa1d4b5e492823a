import type { Client } from '../client/client.ts';
import type { RepositoryRef, Subject } from '../contract/events/subject.ts';
import type { Issue } from '../contract/resources/issues.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import type { Repository } from '../contract/resources/repositories.ts';
import { ReeveError } from '../platform/errors.ts';

/** Returns the subject's repository. Throws if the subject has none, which is a programming error. */
export function repositoryOf(subject: Subject): RepositoryRef {
  if (subject.repository === undefined)
    throw new ReeveError('forge-not-found', `this ${subject.kind} has no repository`);
  return subject.repository;
}

/** Returns `{ owner, repo }` of the subject's repository. */
export function repositoryParams(subject: Subject): { owner: string; repo: string } {
  const { owner, name } = repositoryOf(subject);
  return { owner, repo: name };
}

/**
 * Returns `{ org }`: the subject itself or, if it is not an organization, the owner of its repository, which may be a
 * user.
 */
export function organizationParams(subject: Subject): { org: string } {
  return { org: subject.organization ?? repositoryOf(subject).owner };
}

/** Returns `{ owner, repo, index }` of an issue or pull request. */
export function indexParams(subject: Subject): { owner: string; repo: string; index: number } {
  if (subject.index === undefined)
    throw new ReeveError('forge-not-found', `this ${subject.kind} is not about an issue or a pull request`);
  return { ...repositoryParams(subject), index: subject.index };
}

/** A repository and the client for requests about it. */
export type AskedRepository = {
  readonly client: Client;
  readonly params: { readonly owner: string; readonly repo: string };
};

/** Resolves to undefined if the forge returns 404. */
export async function absentAsUndefined<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}

/** Ignores errors that a later attempt would not resolve, such as a missing commit or a response that is too large. */
export function unlessLasting(error: unknown): undefined {
  if (error instanceof ReeveError && !error.keepsWork) return undefined;
  throw error;
}

/** Returns whether a repository is the subject's repository. A resource without a repository counts as foreign. */
function isHome(repository: { readonly id: number } | null | undefined, subject: Subject): boolean {
  return repository?.id !== undefined && repository.id === subject.repository?.id;
}

/** Returns whether an issue belongs to the subject's repository. */
export function isHomeIssue(issue: Issue | null | undefined, subject: Subject): boolean {
  return isHome(issue?.repository, subject);
}

/**
 * Returns an issue of the subject's repository unchanged, and only the number and state of any other issue, which may
 * be private.
 */
export function narrowIssue(issue: Issue, subject: Subject): Issue | Pick<Issue, 'number' | 'state'> {
  return isHomeIssue(issue, subject) ? issue : { number: issue.number, state: issue.state };
}

const identityMembers = ['id', 'name', 'full_name', 'owner', 'html_url'] as const;
const kindMembers = ['private', 'internal', 'fork', 'archived', 'mirror', 'template', 'empty'] as const;

/** Returns only the name and kind of a repository that is not the subject's, for example a private fork. */
function identityOf<Whole extends Partial<Repository>>(repository: Whole): Whole {
  const kept = [...identityMembers, ...kindMembers].flatMap((name) =>
    Object.hasOwn(repository, name) ? [[name, repository[name]]] : [],
  );
  // The cast is safe: forges need not send the omitted fields.
  return Object.fromEntries(kept) as Whole;
}

/** Returns the subject's repository without the texts of its parent. */
export function narrowRepository(repository: Repository): Repository {
  return repository.parent ? { ...repository, parent: identityOf(repository.parent) } : repository;
}

/**
 * Returns a pull request into the subject's repository without the texts of its head repository, if that is another
 * repository.
 */
export function narrowPull(pull: PullRequest, subject: Subject): PullRequest {
  const { base, head } = pull;
  const isFromHome = isHome(head?.repo, subject);
  const into = base?.repo && narrowRepository(base.repo);
  const from = head?.repo && (isFromHome ? narrowRepository(head.repo) : identityOf(head.repo));
  if (into === base?.repo && (isFromHome || !from)) return pull;
  return {
    ...pull,
    ...(base && { base: { ...base, repo: into } }),
    ...(head && { head: { ...head, repo: from } }),
  };
}

/**
 * Returns the payload of an event as rules see it: without the texts of other repositories (for example the private
 * fork from which a pull request comes) and of their issues. A forge sends these texts in full. The receiver limits the
 * depth of a payload, which bounds the recursion.
 */
export function narrowPayload(payload: object, subject: Subject): object {
  if (subject.repository === undefined) return payload;
  const walk = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(walk);
    const shown = narrowResource(value as Readonly<Record<string, unknown>>, subject);
    return Object.fromEntries(Object.entries(shown).map(([name, one]) => [name, walk(one)]));
  };
  return walk(payload) as object;
}

/**
 * Narrows a resource, which is recognized by its fields, because the resources in a payload differ between forges and
 * kinds of events.
 */
function narrowResource(
  value: Readonly<Record<string, unknown>>,
  subject: Subject,
): Readonly<Record<string, unknown>> {
  const { full_name: fullName, name, owner, number, title, repository, id } = value;
  // The repository of an issue matches too; it has only a few of these fields and none of the texts, so it stays
  // unchanged.
  const isRepository = typeof fullName === 'string' && typeof name === 'string' && owner !== undefined;
  if (isRepository) return id === subject.repository?.id ? value : identityOf(value as Partial<Repository>);
  const isIssue = typeof number === 'number' && typeof title === 'string';
  const isElsewhere = isIssue && typeof repository === 'object' && repository !== null;
  return isElsewhere ? { ...narrowIssue(value as unknown as Issue, subject) } : value;
}
