import { operations } from '../contract/operations.ts';
import { Branch } from '../contract/resources/branches.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** All branches of the repository, last committed first. */
export const branches = defineFact({
  name: 'branches',
  meaning:
    'All branches of the repository with their newest commit, last committed first; empty for an empty repository.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(Branch),
  of: ['repository', 'pull_request', 'issue', 'branch'],
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
