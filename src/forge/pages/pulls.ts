import type { FastifyInstance } from 'fastify';
import { formFieldsOf } from '../../platform/http/form.ts';
import { type Html, html } from '../../platform/http/html.ts';
import { escapePath } from '../code/commits-rows.ts';
import { findRepository } from '../platform/access/guards.ts';
import { findPull, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { findMergeBase, listCommits } from '../platform/git/history.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { IssueRow, PullRow, UserRow } from '../platform/rows.ts';
import { checkPull } from '../pulls/checks.ts';
import { openPull } from '../pulls/create.ts';
import { findByBranches, findPullBase } from '../pulls/list.ts';
import { mayKnow, type ReviewRow } from '../pulls/reviews-rows.ts';
import { viewChange, viewCommits } from './commits.ts';
import { type CodeVisit, enterCode, homeOf, repositoryNav, shownLines } from './navigation.ts';
import type { PageContent } from './page.ts';
import type { Act, FormGuard, PageVisit, Show } from './page-handler.ts';

/** Shows the parts of a pull request other than the discussion. `rest` is displayed after the comments. */
export async function viewPull(
  context: ForgeContext,
  { target, visit, issue }: { target: RepositoryTarget; visit: PageVisit; issue: IssueRow },
): Promise<{ readonly isMerged: boolean; readonly branches: Html; readonly rest: Html }> {
  const { pull: before } = findPull(context, target, issue.number);
  if (before.status === 'checking') await checkPull(context, before.id);
  const { pull } = findPull(context, target, issue.number);
  const home = homeOf(target);
  const branch = (name: string, isHere: boolean): Html =>
    isHere
      ? html`<a href="${home}/src/branch/${escapePath(name)}"><code>${name}</code></a>`
      : html`<code>${name}</code>`;
  const isHeadHere = pull.head_repo_id === pull.repo_id && pull.flow === 0 && pull.is_head_gone === 0;
  const branches = html`<p>${branch(pull.head_branch, isHeadHere)} into ${branch(pull.base_branch, true)}, ${pull.status}.
<a href="${home}/pulls/${issue.number}.diff">diff</a> <a href="${home}/pulls/${issue.number}.patch">patch</a></p>`;
  const git = context.git.open(target.repository.id);
  const rest = html`${viewReviews(context, pull, visit.caller)}${await viewPullChange(git, home, pull)}`;
  return { isMerged: pull.is_merged === 1, branches, rest };
}

async function viewPullChange(git: GitRepository, home: string, pull: PullRow): Promise<Html | undefined> {
  // There is nothing to compare without a common history, or if a branch was never pushed.
  if (pull.merge_base === '' || pull.head_sha === '') return undefined;
  const range = { from: pull.merge_base, to: pull.head_sha };
  return await viewRange(git, { home, whole: `${home}/pulls/${pull.number}.diff` }, range);
}

async function viewRange(
  git: GitRepository,
  { home, whole }: { readonly home: string; readonly whole: string | undefined },
  range: { readonly from: string; readonly to: string },
): Promise<Html> {
  const commits = await listCommits(git, range, { limit: shownLines + 1 });
  const more = commits.length > shownLines ? html`<p>The newest ${shownLines} commits.</p>` : undefined;
  return html`<h2>Commits</h2>${viewCommits(home, commits.slice(0, shownLines))}${more}
<h2>Changes</h2>${await viewChange(git, range, whole)}`;
}

/** Registers the page whose URL git prints after the push of a branch. The page opens a pull request for the branch. */
export function registerNewPullPages(
  app: FastifyInstance,
  context: ForgeContext,
  { show, act, guard }: { readonly show: Show; readonly act: Act; readonly guard: FormGuard },
): void {
  app.get('/:owner/:repo/pulls/new/*', (request, reply) =>
    show(request, reply, (visit) => newPullPage(context, guard, visit)),
  );
  app.post('/:owner/:repo/pulls/new/*', (request, reply) =>
    act(request, reply, async (visit) => {
      const fields = formFieldsOf(request.body);
      const { head, base, caller } = await enterNewPull(context, visit);
      guard.check(request, caller, purposeOf(head));
      if (base.repository.archived_at > 0)
        throw new ForgeProblem(423, `${homeOf(base).slice(1)} is archived`);
      const title = fields.get('title').trim();
      if (title === '') throw new ForgeProblem(422, 'a pull request needs a title');
      const isOwn = base.repository.id === head.repository.id;
      const issue = await openPull(
        { ...base, context, caller },
        {
          title,
          body: fields.get('body').replaceAll('\r\n', '\n'),
          base: fields.get('base'),
          head: isOwn ? head.name : `${head.owner.name}/${head.repository.name}:${head.name}`,
        },
      );
      return `${homeOf(base)}/pulls/${issue.number}`;
    }),
  );
}

type NewPullVisit = Awaited<ReturnType<typeof enterNewPull>>;

async function enterNewPull(context: ForgeContext, visit: PageVisit) {
  const entered = enterCode(context, visit);
  const { caller } = visit;
  // A browser sends credentials only after a challenge, which this status causes.
  if (caller === undefined) throw new ForgeProblem(401, 'sign in to open a pull request');
  const name = visit.names['*'];
  const commit = found(await readBranch(entered.git, name));
  const place = found(findPullBase(context, entered));
  const base = findRepository(context.db, place.owner.name, place.repository.name, caller, 'pulls');
  if (base.permission === 'none') throw new ForgeProblem(404, 'not found');
  return { head: { ...entered, name, commit }, base, caller };
}

/** Returns the purpose of the form, so that its CSRF token is valid only for this branch of this repository. */
function purposeOf({ repository, name }: NewPullVisit['head']): string {
  return `pull ${repository.id} ${name}`;
}

async function newPullPage(context: ForgeContext, guard: FormGuard, visit: PageVisit): Promise<PageContent> {
  const { head, base, caller } = await enterNewPull(context, visit);
  const into = base.repository.default_branch;
  const ends = { baseId: base.repository.id, base: into, headId: head.repository.id, head: head.name };
  const number = findByBranches(context, ends, { openOnly: true });
  const existing =
    number === undefined
      ? undefined
      : html`<p>There is <a href="${homeOf(base)}/pulls/${number}">pull request #${number}</a> into <code>${into}</code>.</p>`;
  const [title = ''] = head.commit.message.split('\n', 1);
  const content = html`<p><code>${head.name}</code> into ${homeOf(base).slice(1)}</p>${existing}
<form method="post"><input type="hidden" name="mark" value="${guard.csrfToken(caller, purposeOf(head))}">
<p><label>Into branch <input name="base" value="${into}" required></label></p>
<p><label>Title <input class="wide" name="title" value="${title}" maxlength="255" required></label></p>
<p><label>Description <textarea class="wide" name="body" rows="6"></textarea></label></p>
<p><button>Create pull request</button></p></form>${await viewNewChange(context, head, base)}`;
  return { title: 'New pull request', content, nav: repositoryNav(context, head, caller) };
}

/**
 * Shows the changes of a branch relative to the default branch of the base repository, if the branch's repository
 * contains the head commit of that default branch.
 */
async function viewNewChange(
  context: ForgeContext,
  { git, home, commit }: CodeVisit & { readonly commit: CommitData },
  { repository }: RepositoryTarget,
): Promise<Html | undefined> {
  const base = await readBranch(context.git.open(repository.id), repository.default_branch);
  if (base === undefined || (await git.objects.info(base.id)) === undefined) return undefined;
  const from = await findMergeBase(git, base.id, commit.id);
  if (from === undefined) return undefined;
  return await viewRange(git, { home, whole: undefined }, { from, to: commit.id });
}

/** Shows the reviews of a pull request and the commit statuses of its head. */
function viewReviews(context: ForgeContext, pull: PullRow, caller: UserRow | undefined): Html {
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
  // Only the latest status of each context counts.
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

/** Shows the branch protection rules of a repository, as stored. */
export function viewProtections(context: ForgeContext, repositoryId: number): Html {
  const rules = context.db.all<{ rule_name: string; terms: string }>(
    'SELECT rule_name, terms FROM branch_protections WHERE repo_id = ? ORDER BY priority, id',
    repositoryId,
  );
  const lines = rules.map(({ rule_name, terms }) => {
    // Only settings that the rule enables are shown: all others have their defaults.
    const members = Object.entries(JSON.parse(terms) as Record<string, unknown>).filter(
      ([, value]) => Boolean(value) && !(Array.isArray(value) && value.length === 0),
    );
    const said = members.map(([name, value]) => html`<li>${name}: ${JSON.stringify(value)}</li>`);
    return html`<tr><td><code>${rule_name}</code></td><td><ul>${said}</ul></td></tr>`;
  });
  return lines.length > 0 ? html`<table>${lines}</table>` : html`<p>No branch is protected.</p>`;
}
