import type { Subject } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { Issue } from '../contract/resources/issues.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { atIndex } from './where.ts';

/** The issues and pull requests that must close before this one may. */
export const dependencies = defineFact({
  name: 'dependencies',
  meaning:
    'The issues and pull requests that must close before this one may, those of its own repository first. One that the account cannot read has `number` and `state` at most. Files of repositories and organizations see of those in other repositories the number and the state alone.',
  shows: 'repository',
  visibleTo: 'operators',
  shape: list(Issue),
  of: ['issue', 'pull_request'],
  requests: 1,
  example: 'dependencies.exists(i, i.state == "open")',
  async ask({ client, subject }) {
    const found: Issue[] = [];
    for await (const issue of client.items(operations.listDependencies, { params: atIndex(subject) })) {
      // What cannot be read may still be open: it is held for open, so that nothing is taken for free that is not.
      found.push({ ...issue, state: issue.state || 'open' });
    }
    return found;
  },
  narrow: (value, subject) =>
    Array.isArray(value)
      ? value.map((issue: Issue) => (isAtHome(issue, subject) ? issue : beyond(issue)))
      : value,
});

/** What says nothing of its repository is taken for one of another. */
function isAtHome({ repository }: Issue, subject: Subject): boolean {
  return repository?.id !== undefined && repository.id === subject.repository?.id;
}

function beyond({ number, state }: Issue) {
  return { number, state };
}
