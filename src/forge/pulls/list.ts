import { userNamed } from '../platform/access/redirects.ts';
import type { FoundPull, RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { PageRange } from '../platform/paging.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';

type PullFilter = {
  readonly state?: string | undefined;
  readonly sort?: string | undefined;
  readonly milestone?: number | undefined;
  readonly labels?: readonly number[] | undefined;
  readonly poster?: string | undefined;
  readonly base_branch?: string | undefined;
};

const orders: Readonly<Record<string, string>> = {
  oldest: 'i.created_at, i.id',
  recentupdate: 'i.updated_at DESC, i.id DESC',
  leastupdate: 'i.updated_at, i.id',
  recentclose: 'i.closed_at DESC, i.id DESC',
  mostcomment: 'i.num_comments DESC, i.id DESC',
  leastcomment: 'i.num_comments, i.id',
  priority: 'i.pin_order DESC, i.created_at DESC, i.id DESC',
};

/**
 * Returns a page of the repository's pull requests, and the total count. A pull request with two matching labels is
 * listed twice.
 */
export function listPullRows(
  { db }: ForgeContext,
  { repository }: RepositoryTarget,
  filter: PullFilter,
  page: PageRange,
): { readonly pulls: readonly FoundPull[]; readonly total: number } {
  const conditions = ['i.repo_id = ?', 'i.is_pull = 1'];
  const values: (string | number)[] = [repository.id];
  const add = (condition: string, value: string | number): void => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.state === 'open' || filter.state === 'closed') {
    add('i.is_closed = ?', filter.state === 'closed' ? 1 : 0);
  }
  if (filter.milestone) add('i.milestone_id = ?', filter.milestone);
  if (filter.base_branch) add('p.base_branch = ?', filter.base_branch);
  if (filter.poster) {
    const poster = userNamed(db, filter.poster);
    if (!poster) throw new ForgeProblem(400, `user does not exist [name: ${filter.poster}]`);
    add('i.poster_id = ?', poster.id);
  }
  const labels = filter.labels ?? [];
  if (labels.length > 0) add('l.label_id IN (SELECT value FROM json_each(?))', JSON.stringify(labels));
  const from = `FROM issues i JOIN pulls p ON p.issue_id = i.id
    ${labels.length > 0 ? 'JOIN issue_labels l ON l.issue_id = i.id' : ''} WHERE ${conditions.join(' AND ')}`;
  const total = db.get<{ total: number }>(`SELECT count(*) AS total ${from}`, ...values)?.total ?? 0;
  const order = Object.hasOwn(orders, filter.sort ?? '') ? orders[filter.sort ?? ''] : undefined;
  const rows = db.all<{ id: number }>(
    `SELECT i.id ${from} ORDER BY ${order ?? 'i.created_at DESC, i.id DESC'} LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  const pulls = loadPulls(
    db,
    rows.map(({ id }) => id),
  );
  return { pulls, total };
}

function loadPulls(db: ForgeContext['db'], issueIds: readonly number[]): readonly FoundPull[] {
  const given = JSON.stringify(issueIds);
  const issues = db.all<IssueRow>('SELECT * FROM issues WHERE id IN (SELECT value FROM json_each(?))', given);
  const sides = db.all<PullRow>(
    'SELECT * FROM pulls WHERE issue_id IN (SELECT value FROM json_each(?))',
    given,
  );
  const byId = new Map(issues.map((issue) => [issue.id, issue]));
  const byIssue = new Map(sides.map((pull) => [pull.issue_id, pull]));
  return issueIds.flatMap((id) => {
    const [issue, pull] = [byId.get(id), byIssue.get(id)];
    return issue && pull ? [{ issue, pull }] : [];
  });
}

/** The two branches of a pull request. */
type PullBranches = {
  readonly baseId: number;
  readonly base: string;
  readonly headId: number;
  readonly head: string;
};

/** Returns the number of the oldest pull request between two branches; with `openOnly`, of the open one. */
export function findByBranches(
  { db }: ForgeContext,
  { baseId, base, headId, head }: PullBranches,
  options: { openOnly: boolean },
): number | undefined {
  const row = db.get<{ number: number }>(
    `SELECT p.number FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE p.repo_id = ? AND p.base_branch = ? AND p.head_repo_id = ? AND p.head_branch = ? AND p.flow = 0
       ${options.openOnly ? 'AND i.is_closed = 0' : ''} ORDER BY p.id LIMIT 1`,
    baseId,
    base,
    headId,
    head,
  );
  return row?.number;
}

type PullBase = Pick<RepositoryTarget, 'repository' | 'owner'>;

/** Returns the parent of a fork if it accepts pull requests; otherwise the repository itself if it accepts them. */
export function findPullBase({ db }: ForgeContext, own: PullBase): PullBase | undefined {
  const source = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', own.repository.fork_id);
  const owner = source && db.get<UserRow>('SELECT * FROM users WHERE id = ?', source.owner_id);
  if (source && owner && settingsOf(source).has_pull_requests) return { repository: source, owner };
  return settingsOf(own.repository).has_pull_requests ? own : undefined;
}
