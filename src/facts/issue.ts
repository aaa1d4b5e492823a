import { operations } from '../contract/operations.ts';
import { Issue } from '../contract/resources/issues.ts';
import { defineFact } from './fact.ts';
import { indexParams } from './where.ts';

/** The current state of the issue; for a pull request, its issue side. */
export const issue = defineFact({
  name: 'issue',
  meaning: 'The current state of the issue; for a pull request, its issue side.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Issue,
  of: ['issue', 'pull_request', 'notification'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'issue.state == "open" && issue.title.lower().contains("crash")',
  ask: ({ client, subject }) => client.call(operations.getIssue, { params: indexParams(subject) }),
});
