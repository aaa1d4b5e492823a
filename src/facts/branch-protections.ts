import { operations } from '../contract/operations.ts';
import { BranchProtection } from '../contract/resources/protections.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** All branch protections of the repository, by priority. */
export const branchProtections = defineFact({
  name: 'branch_protections',
  meaning:
    'All branch protections of the repository, by priority. Their lists contain only names that can read the repository now.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(BranchProtection),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'admin', scopes: ['repository'] },
  requests: 1,
  example: 'branch_protections.exists(p, p.rule_name == "main" && p.required_approvals > 0)',
  ask: ({ client, subject }) =>
    client.call(operations.listBranchProtections, { params: repositoryParams(subject) }),
});
