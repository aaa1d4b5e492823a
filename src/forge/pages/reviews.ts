import { type Html, html } from '../../platform/http/html.ts';
import type { ForgeContext } from '../core/context.ts';
import type { PullRow, ReviewRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { mayKnow } from '../reviews/queries.ts';

/** Shows the reviews of a pull request, and what was reported of its head. */
export function viewReviews(context: ForgeContext, pull: PullRow, caller: UserRow | undefined): Html {
  const { db } = context;
  const reviews = db
    .all<ReviewRow & { who: string }>(
      `SELECT v.*, coalesce(u.name, t.name, 'ghost') AS who FROM reviews v LEFT JOIN users u ON u.id = v.reviewer_id
       LEFT JOIN teams t ON t.id = v.team_id WHERE v.issue_id = ? ORDER BY v.id`,
      pull.issue_id,
    )
    .filter((review) => mayKnow(review, caller));
  const lines = reviews.map(
    ({ who, type, body, official, stale, dismissed }) => html`<tr><td>${who}</td><td>${type}
${official ? 'official' : undefined} ${stale ? 'stale' : undefined} ${dismissed ? 'dismissed' : undefined}</td>
<td>${body}</td></tr>`,
  );
  // The last word of each context counts.
  const statuses = db.all<{ context: string; state: string; description: string; target_url: string }>(
    `SELECT context, state, description, target_url FROM commit_statuses WHERE id IN (
       SELECT max(id) FROM commit_statuses WHERE repo_id = ? AND sha = ? GROUP BY context) ORDER BY context`,
    pull.repo_id,
    pull.head_sha,
  );
  const checks = statuses.map(
    ({ context: name, state, description, target_url }) => html`<tr>
<td>${/^https?:\/\//i.test(target_url) ? html`<a href="${target_url}">${name}</a>` : html`${name}`}</td>
<td class="short ${state}">${state}</td><td>${description}</td></tr>`,
  );
  return html`${lines.length > 0 ? html`<h2>Reviews</h2><table>${lines}</table>` : undefined}
${checks.length > 0 ? html`<h2>Checks</h2><table>${checks}</table>` : undefined}`;
}

/** Shows the rules for branches of a repository, as they are stored. */
export function viewProtections(context: ForgeContext, repositoryId: number): Html {
  const rules = context.db.all<{ rule_name: string; terms: string }>(
    'SELECT rule_name, terms FROM branch_protections WHERE repo_id = ? ORDER BY priority, id',
    repositoryId,
  );
  const lines = rules.map(({ rule_name, terms }) => {
    // What the rule switches on: everything else is as without it.
    const members = Object.entries(JSON.parse(terms) as Record<string, unknown>).filter(
      ([, value]) => Boolean(value) && !(Array.isArray(value) && value.length === 0),
    );
    const said = members.map(([name, value]) => html`<li>${name}: ${JSON.stringify(value)}</li>`);
    return html`<tr><td><code>${rule_name}</code></td><td><ul>${said}</ul></td></tr>`;
  });
  return lines.length > 0 ? html`<table>${lines}</table>` : html`<p>No branch is protected.</p>`;
}
