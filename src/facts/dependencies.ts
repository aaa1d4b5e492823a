import { operations } from '../contract/operations.ts';
import { Issue } from '../contract/resources/issues.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams, narrowIssue } from './where.ts';

/** The issues and pull requests that must close before this one. */
export const dependencies = defineFact({
  name: 'dependencies',
  meaning:
    'The issues and pull requests that must close before this one, those of its own repository first. One that the account cannot read has at most `number` and `state`. Rules of repositories and organizations see only number and state of those in other repositories.',
  shows: 'repository',
  visibleTo: 'operators',
  shape: list(Issue),
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'dependencies.exists(i, i.state == "open")',
  async ask({ client, subject }) {
    const found: Issue[] = [];
    for await (const issue of client.items(operations.listDependencies, { params: indexParams(subject) })) {
      // An unreadable one may be open and counts as open, so that no blocked item looks unblocked.
      found.push({ ...issue, state: issue.state || 'open' });
    }
    return found;
  },
  narrow: (found, subject) => found.map((issue) => narrowIssue(issue, subject)),
});
