import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Branch } from '../contract/resources/branches.ts';
import { BranchProtection, TagProtection } from '../contract/resources/protections.ts';
import { flag, list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { ways } from './ways.ts';
import { repositoryParams } from './where.ts';

/** All branches of the repository, most recently committed first. */
export const branches = defineFact({
  name: 'branches',
  meaning:
    'All branches of the repository with their newest commit, last committed first; empty for an empty repository. In a facts file, names are enough.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(Branch),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'branches.exists(b, b.name == "develop" && b.protected)',
  async ask({ client, subject }) {
    const found: Branch[] = [];
    for await (const one of client.items(operations.listBranches, { params: repositoryParams(subject) }))
      found.push(one);
    return found;
  },
});

export const branch = defineFact({
  name: 'branch',
  meaning: 'The current state of the branch. Not available after a `delete`.',
  shows: 'repository',
  visibleTo: 'code',
  shape: Branch,
  of: ['branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'branch.protected && branch.required_approvals < 2',
  ask: ({ client, subject }) => {
    if (subject.ref === undefined) throw new ReeveError('internal', `a ${subject.kind} has no ref`);
    return client.call(operations.getBranch, {
      params: { ...repositoryParams(subject), branch: subject.ref },
    });
  },
});

/** A branch of the repository by its name. */
export const namedBranch = defineFact({
  name: 'named_branch',
  meaning:
    'The branch of this name, with the id of its newest commit (`commit`), whether it is protected, and whether the account of Reeve may push to it (`can_push`); null if it does not exist.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z.object({ name: text, commit: text, protected: flag, can_push: flag }).nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'branch',
  requests: 1,
  example: 'named_branch("release") != null && named_branch("release").protected',
  complete: (written) =>
    typeof written === 'object' && written !== null
      ? { name: '', protected: false, can_push: true, ...written }
      : written,
  async ask({ client, subject }, name = '') {
    try {
      const params = { ...repositoryParams(subject), branch: name };
      const branch = await client.call(operations.getBranch, { params });
      return {
        name: branch.name,
        commit: branch.commit?.id ?? '',
        protected: branch.protected ?? false,
        can_push: branch.user_can_push ?? true,
      };
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
      throw error;
    }
  },
});

/** All branch protections of the repository, by priority. */
export const branchProtections = defineFact({
  name: 'branch_protections',
  meaning:
    'All branch protections of the repository, by priority. Their lists contain only names that can read the repository now.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(BranchProtection),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.protected],
  needs: { access: 'admin', scopes: ['repository'] },
  requests: 1,
  example: 'branch_protections.exists(p, p.rule_name == "main" && p.required_approvals > 0)',
  ask: ({ client, subject }) =>
    client.call(operations.listBranchProtections, { params: repositoryParams(subject) }),
});

export const tagProtections = defineFact({
  name: 'tag_protections',
  meaning:
    'All tag protections of the repository. Their lists contain only names that can read the repository now.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(TagProtection),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.protected],
  needs: { access: 'admin', scopes: ['repository'] },
  requests: 1,
  example: 'tag_protections.exists(p, p.name_pattern == "v*")',
  ask: ({ client, subject }) =>
    client.call(operations.listTagProtections, { params: repositoryParams(subject) }),
});
