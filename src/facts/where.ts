import type { Client } from '../client/client.ts';
import type { RepositoryRef, Subject } from '../contract/events/subject.ts';
import { ReeveError } from '../errors.ts';

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

/** Returns `{ org }`: the subject itself, otherwise the owner of its repository, which may be a user. */
export function organizationParams(subject: Subject): { org: string } {
  return { org: subject.organization ?? repositoryOf(subject).owner };
}

/** Returns `{ owner, repo, index }` of an issue or pull request. */
export function indexParams(subject: Subject): { owner: string; repo: string; index: number } {
  if (subject.index === undefined)
    throw new ReeveError('forge-not-found', `this ${subject.kind} is about nothing with a number`);
  return { ...repositoryParams(subject), index: subject.index };
}

/** A repository as it is asked. */
export type AskedRepository = {
  readonly client: Client;
  readonly params: { readonly owner: string; readonly repo: string };
};

/** Resolves to undefined where the forge answers 404. */
export async function absentAsUndefined<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
}

/** Absorbs what a later attempt does not change: a commit that is gone, or an answer that is too large. */
export function unlessLasting(error: unknown): undefined {
  if (error instanceof ReeveError && !error.keepsWork) return undefined;
  throw error;
}
