import { operations } from '../contract/operations.ts';
import { TagProtection } from '../contract/resources/protections.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

export const tagProtections = defineFact({
  name: 'tag_protections',
  meaning:
    'All tag protections of the repository. Their lists contain only names that can read the repository now.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(TagProtection),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'admin', scopes: ['repository'] },
  requests: 1,
  example: 'tag_protections.exists(p, p.name_pattern == "v*")',
  ask: ({ client, subject }) =>
    client.call(operations.listTagProtections, { params: repositoryParams(subject) }),
});
