import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs, organizationAs, repositoryAs, teamAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';
import { Comment } from './comments.ts';
import { Repository } from './repositories.ts';
import { User } from './users.ts';

/** An activity of an account in a repository. */
const Activity = resource(
  { id: int },
  {
    /** Id of the account whose feed contains the activity. */
    user_id: int,
    /** `create_repo`, `commit_repo`, `create_issue`, and others. */
    op_type: text,
    act_user_id: int,
    act_user: User,
    repo_id: int,
    repo: Repository,
    comment_id: int,
    comment: Comment,
    ref_name: text,
    is_private: flag,
    /** `NUMBER|TEXT` for an issue or pull request, JSON for a push, otherwise a text. */
    content: text,
    created: instant,
  },
);

/** `date` is a day in UTC, for example `2026-01-31`; any other text is ignored. */
const ofDay = { ...pages, date: text.optional() };

/** Feeds of activities in repositories that the caller can read, newest first. */
export const activityOperations = {
  listUserActivities: defineOperation({
    id: 'user.list-activities',
    meaning:
      'Lists the feed of an account: what it did, and what others did in repositories that it watches. Activities in private repositories are for the account itself and administrators.',
    method: 'GET',
    path: '/users/{username}/activities/feeds',
    ...accountAs('anyone'),
    query: z.object({ ...ofDay, 'only-performed-by': flag.optional() }),
    success: 200,
    response: list(Activity),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/user/user.go ListUserActivityFeeds',
  }),
  listOrganizationActivities: defineOperation({
    id: 'organization.list-activities',
    meaning:
      'Lists the feed of an organization: what happened in its repositories; in private ones for members alone.',
    method: 'GET',
    path: '/orgs/{org}/activities/feeds',
    ...organizationAs('anyone'),
    query: z.object(ofDay),
    success: 200,
    response: list(Activity),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/org/org.go ListOrgActivityFeeds',
  }),
  listTeamActivities: defineOperation({
    id: 'team.list-activities',
    meaning: 'Lists what happened in the repositories of a team.',
    method: 'GET',
    path: '/teams/{id}/activities/feeds',
    ...teamAs('signed-in'),
    query: z.object(ofDay),
    success: 200,
    response: list(Activity),
    errors: [403, 404],
    paging: 'link',
    source: 'routers/api/v1/org/team.go ListTeamActivityFeeds',
  }),
  listRepositoryActivities: defineOperation({
    id: 'repository.list-activities',
    meaning: 'Lists what happened in a repository.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/activities/feeds',
    ...repositoryAs('reader'),
    query: z.object(ofDay),
    success: 200,
    response: list(Activity),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/repo/repo.go ListRepoActivityFeeds',
  }),
  getHeatmap: defineOperation({
    id: 'user.heatmap',
    meaning:
      'Counts what an account did, or what happened in the repositories of an organization, in each quarter of an hour of the last 373 days, as far as the caller can read the repositories.',
    method: 'GET',
    path: '/users/{username}/heatmap',
    ...accountAs('anyone'),
    success: 200,
    response: list(resource({ timestamp: int, contributions: int }, {})),
    errors: [404],
    source: 'routers/api/v1/user/user.go GetUserHeatmapData',
  }),
} as const;
