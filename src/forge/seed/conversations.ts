import { operations } from '../../contract/operations.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { Making } from './caller.ts';
import type { SeedIssue, SeedPull } from './shape.ts';

type Ids = { readonly labels: ReadonlyMap<string, number>; readonly milestones: ReadonlyMap<string, number> };

/** Makes the issues of a repository, then its pull requests, each as the person who opened it. */
export async function createConversations(making: Making): Promise<void> {
  const { issues = [], pulls = [] } = making.repository;
  if (issues.length + pulls.length === 0) return;
  const ids = await readIds(making);
  for (const issue of issues) await createIssue(making, ids, issue);
  for (const pull of pulls) await createPull(making, ids, pull);
}

/** Labels of the organization count too; where two have one name, the repository's wins. */
async function readIds({ caller, by, params, repository }: Making): Promise<Ids> {
  const wanted = new Set(
    [...(repository.issues ?? []), ...(repository.pulls ?? [])].flatMap(({ labels }) => labels ?? []),
  );
  const own = new Set(repository.labels?.map(({ name }) => name));
  const labels = new Map<string, number>();
  const milestones = new Map<string, number>();
  const isShared = [...wanted].some((name) => !own.has(name));
  if (isShared) {
    const at = { org: params.owner };
    await forEachPage(async (query) => {
      const page = await caller.call(by, operations.listOrganizationLabels, { params: at, query });
      for (const { name, id } of page) labels.set(name, id);
      return page.length;
    });
  }
  await forEachPage(async (query) => {
    const page = await caller.call(by, operations.listLabels, { params, query });
    for (const { name, id } of page) labels.set(name, id);
    return page.length;
  });
  for (const { title } of repository.milestones ?? []) {
    const at = { params: { ...params, id: title } };
    milestones.set(title, (await caller.call(by, operations.getMilestone, at)).id);
  }
  return { labels, milestones };
}

async function forEachPage(read: (query: { page: number; limit: number }) => Promise<number>): Promise<void> {
  for (let page = 1; (await read({ page, limit: 50 })) > 0; ) page += 1;
}

/** What stands in the body that opens an issue or pull request. */
function opening(issue: SeedIssue) {
  return { title: issue.title, body: issue.body, assignees: issue.assignees, due_date: issue.due_date };
}

/** Labels and milestone are given by the repository's owner: a mere reader's would be dropped in silence. */
async function dress(making: Making, ids: Ids, issue: SeedIssue, index: number): Promise<void> {
  const { caller, by, params } = making;
  const at = { ...params, index };
  const labels = (issue.labels ?? []).map((name) => idOf(ids.labels, name));
  if (labels.length > 0) await caller.call(by, operations.addIssueLabels, { params: at, body: { labels } });
  const body = {
    ...(issue.milestone === undefined ? {} : { milestone: idOf(ids.milestones, issue.milestone) }),
    ...(issue.assignees === undefined ? {} : { assignees: issue.assignees }),
    ...(issue.due_date === undefined ? {} : { due_date: issue.due_date }),
  };
  if (Object.keys(body).length > 0) await caller.call(by, operations.editIssue, { params: at, body });
  for (const comment of issue.comments ?? []) {
    const said = { body: comment.body };
    await caller.call(comment.by, operations.createComment, { params: at, body: said });
  }
}

function idOf(ids: ReadonlyMap<string, number>, name: string): number {
  const id = ids.get(name);
  if (id === undefined)
    throw new ReeveError('usage', `there is no "${name}" among the first of the repository`);
  return id;
}

async function createIssue(making: Making, ids: Ids, issue: SeedIssue): Promise<void> {
  const { caller, by, params } = making;
  const { title, body } = opening(issue);
  const { number } = await caller.call(issue.by, operations.createIssue, { params, body: { title, body } });
  await dress(making, ids, issue, number);
  if (issue.state === 'closed') {
    const at = { ...params, index: number };
    await caller.call(by, operations.editIssue, { params: at, body: { state: 'closed' } });
  }
}

async function createPull(making: Making, ids: Ids, pull: SeedPull): Promise<void> {
  const { caller, by, params, repository } = making;
  const { title, body } = opening(pull);
  const base = pull.base ?? repository.default_branch ?? 'main';
  const made = await caller.call(pull.by, operations.createPull, {
    params,
    body: { title, body, head: pull.head, base },
  });
  const at = { ...params, index: made.number };
  await dress(making, ids, pull, made.number);
  if (pull.reviewers) {
    await caller.call(by, operations.requestReviews, { params: at, body: { reviewers: pull.reviewers } });
  }
  for (const status of pull.statuses ?? []) {
    const commit = { ...params, sha: made.head?.sha ?? '' };
    await caller.call(by, operations.createStatus, { params: commit, body: status });
  }
  for (const { by: reviewer, ...review } of pull.reviews ?? []) {
    await caller.call(reviewer, operations.createReview, { params: at, body: review });
  }
  if (pull.merged) await caller.call(by, operations.mergePull, { params: at, body: { do: pull.merged } });
  else if (pull.state === 'closed')
    await caller.call(by, operations.editPull, { params: at, body: { state: 'closed' } });
}
