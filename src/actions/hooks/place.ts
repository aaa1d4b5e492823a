import { operations } from '../../contract/operations.ts';
import { type FactRequest, type Facts, requestOf } from '../../facts/fact.ts';
import { accountHooks, hooks, type SeenHook } from '../../facts/hooks.ts';
import { organizationParams, repositoryParams } from '../../facts/where.ts';

/** Location of hooks: a repository, an organization or the account, each with its own operations. */
export type HookPlace = {
  readonly fact: FactRequest<readonly SeenHook[]>;
  readonly params: Readonly<Record<string, unknown>>;
  readonly create: string;
  readonly edit: string;
  readonly delete: string;
  /** Only a repository's hooks can be tested. */
  readonly test?: string;
};

/** Returns the location of a step's hooks. */
export function hookPlace(ofAccount: boolean, { subject }: Pick<Facts, 'subject'>): HookPlace {
  if (ofAccount) {
    return {
      fact: requestOf(accountHooks),
      params: {},
      create: operations.createUserHook.id,
      edit: operations.editUserHook.id,
      delete: operations.deleteUserHook.id,
    };
  }
  const fact = requestOf(hooks);
  if (subject.kind === 'organization') {
    return {
      fact,
      params: organizationParams(subject),
      create: operations.createOrganizationHook.id,
      edit: operations.editOrganizationHook.id,
      delete: operations.deleteOrganizationHook.id,
    };
  }
  return {
    fact,
    params: repositoryParams(subject),
    create: operations.createHook.id,
    edit: operations.editHook.id,
    delete: operations.deleteHook.id,
    test: operations.testHook.id,
  };
}
