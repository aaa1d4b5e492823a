import type { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { instant, int, list, resource, text } from '../contract/shape.ts';
import { type AskContext, defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** Pull requests that are looked at. */
const maxPulls = 50;
/** Requests for timelines in progress at a time. */
const width = 5;
const perPage = 50;
const maxPages = 20;

/** One request for a review; of a user or, where a team was asked, of that team. */
const RecentReviewRequest = resource({ number: int, requested_at: instant }, { login: text, team: text });
type RecentReviewRequest = z.output<typeof RecentReviewRequest>;

/** Who was asked for a review in the newest pull requests, as their timelines tell it. */
export const reviewRequests = defineFact({
  name: 'review_requests',
  meaning: `The requests for a review in the newest ${maxPulls} pull requests of the repository, open or closed, as their timelines show them. A request that was withdrawn is included.`,
  shows: 'repository',
  visibleTo: 'pulls',
  shape: list(RecentReviewRequest),
  of: ['repository', 'pull_request'],
  needs: { access: 'reader', scopes: ['repository', 'issue'] },
  requests: maxPulls + 1,
  example: 'review_requests.filter(r, r.login == "ada").size() < 10',
  async ask(context) {
    const { client, subject } = context;
    const query = { state: 'all', page: 1, limit: maxPulls };
    const pulls = await client.call(operations.listPulls, { params: repositoryParams(subject), query });
    const numbers = pulls.map(({ number }) => number);
    const found: (readonly RecentReviewRequest[])[] = [];
    for (let at = 0; at < numbers.length; at += width) {
      const some = numbers.slice(at, at + width).map((number) => requestsOf(number, context));
      found.push(...(await Promise.all(some)));
    }
    return found.flat();
  },
});

async function requestsOf(
  number: number,
  { client, subject }: AskContext,
): Promise<readonly RecentReviewRequest[]> {
  const params = { ...repositoryParams(subject), index: number };
  const found: RecentReviewRequest[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const entries = await client.call(operations.listTimeline, { params, query: { page, limit: perPage } });
    for (const { type, removed_assignee, assignee, assignee_team, created_at } of entries) {
      if (type !== 'review_request' || removed_assignee || !created_at) continue;
      const login = assignee?.login || undefined;
      const team = assignee_team?.name || undefined;
      if (login ?? team) found.push({ number, requested_at: created_at, login, team });
    }
    // Forges remove single entries from a page, never half of it: two more requests to be sure would triple the cost.
    if (entries.length < perPage / 2) break;
  }
  return found;
}
