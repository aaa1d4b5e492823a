import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import type { Client } from '../client/client.ts';
import type { Subject } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { commits } from '../facts/commits.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { files } from '../facts/files.ts';
import { head } from '../facts/head.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import { BoundedMap } from '../platform/cache/bounded-map.ts';
import { ReeveError } from '../platform/errors.ts';
import { evaluateRule } from '../rules/evaluate.ts';
import { RunBudget } from '../rules/expressions/budget.ts';
import { budgetSourceOf, type LoadedRule } from '../rules/rule.ts';

/**
 * A decision about a commit is made jointly for all open pull requests with this commit as their head, in any branch or
 * fork, because a status that one of them earns also applies to the others. The decision must apply to the commit that
 * was evaluated: a push between two reads would mix facts of two commits.
 */

/** The open pull requests of a repository, as seen by a run. */
export interface OpenPulls {
  /**
   * Returns all open pull requests, in ascending order. With `isAnew`, reads the current list instead of the cached
   * list of the run. Rejects if the list cannot be read completely.
   */
  list(isAnew: boolean): Promise<readonly PullRequest[]>;
  /** Returns the facts of one open pull request. */
  factsOf(number: number): Facts;
  /**
   * Returns a text that changes with each push to a pull request since an instant (RFC 3339); undefined if the account
   * may not read pushes.
   */
  pushesSince(number: number, since: string | undefined): Promise<string | undefined>;
}

/**
 * Maximum number of pull requests with the same head commit that are evaluated. If there are more, none of them passes.
 */
const maxJudged = 50;
const maxReadings = 3;

/** The open pull requests on the forge. `createFactsOf` creates the facts of one of them. */
export class LiveOpenPulls implements OpenPulls {
  readonly #subject: Subject;
  readonly #client: Client;
  readonly #createFactsOf: (number: number) => Facts;
  readonly #facts = new BoundedMap<number, Facts>(maxJudged);
  #reading: Promise<OpenList> | undefined;

  constructor(subject: Subject, client: Client, createFactsOf: (number: number) => Facts) {
    this.#subject = subject;
    this.#client = client;
    this.#createFactsOf = createFactsOf;
  }

  async list(isAnew: boolean): Promise<readonly PullRequest[]> {
    if (this.#reading === undefined || !isAnew) return (await (this.#reading ?? this.#read())).pulls;
    const { pulls, first } = await this.#reading;
    const isKnown = first.total !== undefined;
    const params = repositoryParams(this.#subject);
    const isSame = isKnown && (await readFirst(this.#client, params)).digest === first.digest;
    return isSame ? pulls : (await this.#read()).pulls;
  }

  factsOf(number: number): Facts {
    const known = this.#facts.get(number) ?? this.#createFactsOf(number);
    this.#facts.set(number, known);
    return known;
  }

  async pushesSince(number: number, since: string | undefined): Promise<string | undefined> {
    const params = indexParams({ ...this.#subject, index: number });
    const query = since === undefined ? {} : { since };
    const pushes: number[] = [];
    try {
      for await (const { id, type } of this.#client.items(operations.listTimeline, { params, query })) {
        if (type === 'pull_push') pushes.push(id);
      }
    } catch (error) {
      // Reading the timeline requires the scope read:issue, which writing statuses does not.
      if (error instanceof ReeveError && error.code === 'forge-forbidden') return undefined;
      throw error;
    }
    return pushes.join(' ');
  }

  #read(): Promise<OpenList> {
    const now = readOpenPulls(this.#client, repositoryParams(this.#subject));
    this.#reading = now;
    // A failed read is not cached, so that the next call reads again.
    now.catch(() => {
      if (this.#reading === now) this.#reading = undefined;
    });
    return now;
  }
}

/** The open pull requests, in ascending order, with the first page of the list. */
type OpenList = { readonly pulls: readonly PullRequest[]; readonly first: FirstPage };
/** `total` is undefined if the forge does not return a count. */
type FirstPage = {
  readonly items: readonly PullRequest[];
  readonly total: number | undefined;
  readonly digest: string;
};

/**
 * Reads the list of open pull requests. Pages shift while pull requests are opened and closed, so a pull request may be
 * missing from every page. A pull request that is opened or changed appears on the first page, and a pull request that
 * is closed changes the count: if the first page is the same at the end, the list is complete. If the forge returns no
 * count, two complete reads must be equal.
 */
async function readOpenPulls(
  client: Client,
  params: { readonly owner: string; readonly repo: string },
): Promise<OpenList> {
  let before = '';
  for (let readings = 0; readings < maxReadings; readings += 1) {
    const first = await readFirst(client, params);
    const { items, total, digest } = first;
    if (total !== undefined && items.length >= total) return { pulls: inOrder(items), first };
    const found = new Map(items.map((pull) => [pull.number, pull]));
    for await (const page of client.pages(operations.listPulls, { params, query: openQuery }, 2))
      for (const pull of page.items) found.set(pull.number, pull);
    const pulls = inOrder([...found.values()]);
    if (total === undefined) {
      const whole = digestOf(pulls, total);
      if (whole === before) return { pulls, first };
      before = whole;
    } else if (pulls.length === total && (await readFirst(client, params)).digest === digest) {
      return { pulls, first };
    }
  }
  throw new ReeveError(
    'forge-paging',
    `the list of open pull requests of ${params.owner}/${params.repo} could not be read completely: it changed during each of ${maxReadings} reads, or is shorter than the count that the forge reports`,
  );
}

const openQuery = { state: 'open', sort: 'recentupdate' } as const;

async function readFirst(
  client: Client,
  params: { readonly owner: string; readonly repo: string },
): Promise<FirstPage> {
  for await (const { items, total } of client.pages(operations.listPulls, { params, query: openQuery })) {
    return { items, total, digest: digestOf(items, total) };
  }
  return { items: [], total: 0, digest: '' };
}

function digestOf(pulls: readonly PullRequest[], total: number | undefined): string {
  const members = pulls.map(({ number, head: from, base, updated_at }) => [
    number,
    from?.sha,
    base?.ref,
    updated_at,
  ]);
  return JSON.stringify([total, members]);
}

function inOrder(pulls: readonly PullRequest[]): readonly PullRequest[] {
  return pulls.toSorted((a, b) => a.number - b.number);
}

/** The head of a subject before any other fact was read. */
export type HeadPin = {
  readonly sha: string;
  /** For a pull request: the time of its last change; `pushes` contains the pushes since that time. */
  readonly updatedAt?: string | undefined;
  readonly pushes?: string | undefined;
};

/** Reads the head of a subject before any other fact, so that the other facts belong to that commit or a newer one. */
export async function pinHead(facts: Facts, pulls: OpenPulls | undefined): Promise<HeadPin> {
  const { kind, index } = facts.subject;
  const { sha } = await facts.ask(requestOf(head));
  if (kind !== 'pull_request' || index === undefined || pulls === undefined) return { sha };
  const updatedAt = (await facts.ask(requestOf(pullRequest))).updated_at ?? undefined;
  return { sha, updatedAt, pushes: await pulls.pushesSince(index, updatedAt) };
}

/**
 * Returns whether the head is still the pinned commit and has not changed in between: after a push to another commit
 * and back, the commit is the same, but each push has a timeline entry. If the account may not read these entries, the
 * time of the last change is compared.
 */
export async function isPinned(pin: HeadPin, facts: Facts, pulls: OpenPulls | undefined): Promise<boolean> {
  const { kind, index } = facts.subject;
  if (kind === 'pull_request' && !(await areOfHead(pin.sha, facts))) return false;
  const now = facts.anew();
  const { sha } = await now.ask(requestOf(head));
  if (sha !== pin.sha) return false;
  if (kind !== 'pull_request' || index === undefined || pulls === undefined) return true;
  if (pin.pushes !== undefined) return (await pulls.pushesSince(index, pin.updatedAt)) === pin.pushes;
  return ((await now.ask(requestOf(pullRequest))).updated_at ?? undefined) === pin.updatedAt;
}

/** Matches the commit in the URL of a changed file. */
const commitInAddress = /(?:\/commit\/|[?&]ref=)([0-9a-f]{40,64})\b/;

/**
 * Returns whether the lists of commits and files that were read belong to the pinned head. The requests for these lists
 * do not name a commit, and a forge may add a push to the timeline with a delay. The responses, however, contain the
 * commit: as the newest commit in one list, and in the URL of each file in the other list. A list that could not be
 * read did not affect the decision; another rule of the run may have requested it.
 */
async function areOfHead(sha: string, facts: Facts): Promise<boolean> {
  if (facts.has(requestOf(commits))) {
    const [newest] = await facts.ask(requestOf(commits)).catch(() => []);
    if (newest !== undefined && newest.sha !== sha) return false;
  }
  if (!facts.has(requestOf(files))) return true;
  return (await facts.ask(requestOf(files)).catch(() => [])).every(({ raw_url, contents_url }) => {
    const [, commit] = commitInAddress.exec(raw_url || contents_url || '') ?? [];
    return commit === undefined || commit === sha;
  });
}

/** The step whose change is combined with those for other pull requests. */
type JudgedStep = {
  readonly rule: LoadedRule;
  readonly step: string;
  readonly action: Action;
  readonly context: PlanContext;
};

/** A change that is combined with the changes for other pull requests. */
export type JointChange = {
  readonly change: Change;
  /** Numbers of the other open pull requests with this head commit. */
  readonly others: readonly number[];
  /** Set if the head of another pull request moved while that pull request was evaluated. */
  readonly hasMoved?: true;
};

/**
 * Returns a change that decides about a commit, combined over all open pull requests with that commit as their head.
 * The same step is evaluated for each of them. Pull requests outside the scope of the rule do not count, and the least
 * favourable result is used. Rejects if the pull requests cannot be listed, or if one of them cannot be evaluated now
 * but a later attempt may succeed.
 */
export async function judgeJointly(
  change: Change,
  judged: JudgedStep,
  {
    facts,
    pulls,
    isAnew,
  }: { readonly facts: Facts; readonly pulls: OpenPulls | undefined; readonly isAnew: boolean },
): Promise<JointChange> {
  const { ofCommit } = judged.action;
  const { kind, index } = facts.subject;
  const isAlone = kind !== 'pull_request' || index === undefined || pulls === undefined;
  if (ofCommit === undefined || isAlone || change.already) return { change, others: [] };
  // A what-if may omit the pull request or its state; the pull request then counts as open.
  const live = await facts.ask(requestOf(pullRequest)).catch(() => undefined);
  const isClosed = live !== undefined && 'state' in live && live.state === 'closed';
  if (!isClosed && !ofCommit.isBetter(change)) return { change, others: [] };
  const sha = change.input.params?.sha;
  const open = await pulls.list(isAnew);
  const same = open.filter((pull) => pull.head?.sha === sha && pull.number !== index);
  const others = same.map(({ number }) => number);
  if (same.length === 0) return { change, others };
  if (isClosed) {
    const why = `it is closed, and the status of its head commit is that of #${others.join(', #')}`;
    return { change: { ...change, waits: { why, polls: false } }, others };
  }
  const own = open.find(({ number }) => number === index) ?? live;
  const results: (Judged & { readonly number: number; readonly url: string })[] = [
    { number: index, url: own?.html_url ?? '', change },
  ];
  for (const { number, html_url } of same.slice(0, maxJudged)) {
    const result = await judgeOne(change, judged, { facts: pulls.factsOf(number), pulls, isAnew });
    if (result === 'moved') return { change, others, hasMoved: true };
    if (result !== 'left out') results.push({ ...result, number, url: html_url ?? '' });
  }
  const tooMany = same[maxJudged];
  if (tooMany) results.push({ number: tooMany.number, url: tooMany.html_url ?? '', change: undefined });
  // The first of the least favourable results, so that each of these pull requests gets the same result.
  const [worst] = results.toSorted((a, b) => rank(a, ofCommit) - rank(b, ofCommit) || a.number - b.number);
  const isHeld = worst && results.length > 1 && !(worst.change && ofCommit.passes(worst.change));
  if (!isHeld) return { change, others };
  if (!judged.context.dryRun)
    await noteHeld(judged.context, facts.subject, { numbers: [index, ...others], sha: String(sha) });
  return { change: ofCommit.heldBackBy(change, worst), others };
}

/** `change` is undefined if the pull request cannot be evaluated. */
type Judged = { readonly change: Change | undefined };

function rank({ change }: Judged, { rankOf }: NonNullable<Action['ofCommit']>): number {
  return change === undefined ? 0.5 : rankOf(change);
}

/** Returns the result of a rule's step for another pull request, from live state. */
async function judgeOne(
  change: Change,
  { rule, step: name, action, context }: JudgedStep,
  { facts, pulls, isAnew }: { readonly facts: Facts; readonly pulls: OpenPulls; readonly isAnew: boolean },
): Promise<Judged | 'left out' | 'moved'> {
  const now = isAnew ? facts.anew() : facts;
  const pin = isAnew ? await pinHead(now, pulls) : undefined;
  const meter = new RunBudget([budgetSourceOf(rule)]).meterFor(budgetSourceOf(rule), rule.name);
  const { verdict, steps, retry } = await evaluateRule(rule, {
    facts: now,
    now: context.now,
    meter,
    isBeforeWrite: true,
  });
  if (retry) throw retry;
  if (verdict.verdict === 'skipped' || verdict.verdict === 'unmatched') return 'left out';
  const step = steps.find((one) => one.step.name === name);
  if (step?.state === 'unmatched') return 'left out';
  if (step?.state !== 'ready') return { change: undefined };
  try {
    const planned = await action.plan(step.arguments, now, { ...context, meter });
    const same = planned.find(({ target }) => target === change.target);
    // The status has a different name for this pull request, or the pull request's head has moved.
    if (same === undefined || same.input.params?.sha !== change.input.params?.sha) return 'left out';
    if (pin && !(await isPinned(pin, now, pulls))) return 'moved';
    return { change: same };
  } catch (error) {
    if (error instanceof ReeveError && error.keepsWork) throw error;
    return { change: undefined };
  }
}

/**
 * Returns the memory key of a pull request that shares its head commit with others. It is set when one of them holds
 * back the rest, because events of that pull request may change the result for the others.
 */
const heldKey = (repositoryId: number | undefined, number: number): string =>
  `same-commit ${repositoryId}#${number}`;

async function noteHeld(
  { memory }: PlanContext,
  { repository }: Subject,
  { numbers, sha }: { readonly numbers: readonly number[]; readonly sha: string },
): Promise<void> {
  for (const number of numbers.slice(0, maxJudged + 1))
    await memory.set(heldKey(repository?.id, number), sha);
}

/**
 * Returns the head commit that a pull request shares with others and on which it may hold them back, with the memory
 * key; undefined if there is none.
 */
export async function findHeld(
  memory: PlanContext['memory'],
  { repository, index }: Subject,
): Promise<{ readonly sha: string; readonly key: string } | undefined> {
  if (index === undefined) return undefined;
  const key = heldKey(repository?.id, index);
  const sha = await memory.get(key);
  return typeof sha === 'string' ? { sha, key } : undefined;
}

/**
 * Returns all open pull requests of a subject's repository, in ascending order. Rejects if the list cannot be read
 * completely.
 */
export async function listOpenPulls(client: Client, subject: Subject): Promise<readonly PullRequest[]> {
  return (await readOpenPulls(client, repositoryParams(subject))).pulls;
}
