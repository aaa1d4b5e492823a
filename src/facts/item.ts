import type { z } from 'zod';
import { Issue } from '../contract/resources/issues.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { defineFact, requestOf } from './fact.ts';
import { issue } from './issue.ts';
import { pullRequest } from './pull-request.ts';
import { itemWays } from './ways.ts';

/** The members that issues and pull requests share, with the same meaning on every forge. */
const Item = Issue.pick({
  number: true,
  title: true,
  body: true,
  state: true,
  user: true,
  labels: true,
  assignees: true,
  milestone: true,
  comments: true,
  is_locked: true,
  html_url: true,
  created_at: true,
  updated_at: true,
  closed_at: true,
  due_date: true,
});
type Item = z.output<typeof Item>;

/** Returns the shared members of an issue or a pull request, in its full or its listed form. */
export function itemOf(carrier: Issue | PullRequest): Item {
  const shared = Object.entries(carrier).filter(([name]) => Object.hasOwn(Item.shape, name));
  // The cast is safe: both resources have every member of the shape, with the same type.
  return Object.fromEntries(shared) as Item;
}

/** What issues and pull requests share, of the issue or pull request that the run is about. */
export const item = defineFact({
  name: 'item',
  meaning:
    'The current state of the issue or pull request, with the members that both have, for rules about both. It is read with `issue` or `pull_request`, without a request of its own.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Item,
  of: ['issue', 'pull_request'],
  changes: itemWays,
  needs: { access: 'reader', scopes: ['issue', 'repository'] },
  requests: 1,
  example: 'item.state == "open" && timestamp(item.updated_at) < now - duration("1440h")',
  async ask({ subject, ask }) {
    return itemOf(
      subject.kind === 'pull_request' ? await ask(requestOf(pullRequest)) : await ask(requestOf(issue)),
    );
  },
});
