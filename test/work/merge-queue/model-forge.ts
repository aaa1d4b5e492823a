import type { QueueEvent, QueueRows } from '../../../src/store/queue-rows.ts';
import {
  type QueueAction,
  type QueueObservation,
  type QueueState,
  type QueueWrite,
  queueStateOf,
} from '../../../src/work/merge-queue/state.ts';
import type { QueuePorts } from '../../../src/work/merge-queue/work.ts';

/**
 * Commit of a model forge. The model has one repository and one base branch, covers what a merge queue sees, and checks
 * the promises of the queue at each merge.
 */

type ModelCommit = { readonly parents: readonly string[]; check: 'none' | 'pending' | 'success' | 'failure' };

export type ModelPull = {
  readonly number: number;
  head: string;
  state: 'open' | 'closed';
  merged: 'us' | 'person' | undefined;
  parent: string | undefined;
  conflicts: boolean;
  isFork: boolean;
  wanted: boolean;
  draft: boolean;
  priority: number;
  statuses: string[];
  comments: string[];
  /** Changes made by people: a push to the head, a removal from the queue, a deletion of the pull request. */
  isPushed: boolean;
  isRemoved: boolean;
  isDeleted: boolean;
  /** Time since which every look has found the pull request unmergeable. */
  unmergeableSince: number | undefined;
};

/** Merge that the forge performs later than its client waits for a response. */
type LateMerge = { readonly number: number; readonly head: string; readonly dueMs: number };

/** Thrown where a process is killed. */
export class Killed extends Error {}

export type Kill = 'before' | 'after' | undefined;

export class ModelForge {
  readonly commits = new Map<string, ModelCommit>([['c0', { parents: [], check: 'success' }]]);
  readonly pulls = new Map<number, ModelPull>();
  tip = 'c0';
  isFastForward = false;
  nowMs = Date.UTC(2026, 0, 1);
  /** Violated promises. */
  readonly violations: string[] = [];
  /** Kills of the next writes, one per write. */
  kills: Kill[] = [];
  /** Number of upcoming attempts whose responses are lost. */
  lostAnswers = 0;
  /** Delays of the next merges in milliseconds. The responses of these merges are lost. */
  lateMs: number[] = [];
  readonly #late: LateMerge[] = [];
  /** Number of upcoming looks at which the forge fails in a way that may be permanent. */
  problems = 0;
  /** Whether a person has changed the order. */
  isMoved = false;
  /** Number of upcoming merges that are refused. */
  refusals = 0;
  /** Number of upcoming merges just before which someone writes to the base. */
  races = 0;
  /** Number of looks before the forge reports a checked pull request as mergeable. */
  slowMergeable = 0;
  requests = 0;
  looks = 0;
  /** Foreign write that must be reported. Reset at the next merge, which must wait for the checks of the base. */
  #unseen: { readonly number: number; readonly at: number } | undefined;
  readonly raced: number[] = [];
  #names = 0;
  readonly #histories = new Map<string, ReadonlySet<string>>();

  now = (): Date => new Date(this.nowMs);

  commit(parents: readonly string[], check: ModelCommit['check'] = 'none'): string {
    this.#names += 1;
    const name = `c${this.#names}`;
    this.commits.set(name, { parents, check });
    return name;
  }

  open(more: Partial<ModelPull> = {}): ModelPull {
    const pull: ModelPull = {
      number: this.pulls.size + 1,
      head: this.commit([this.tip], 'success'),
      state: 'open',
      merged: undefined,
      parent: undefined,
      conflicts: false,
      isFork: false,
      wanted: true,
      draft: false,
      priority: 0,
      statuses: [],
      comments: [],
      isPushed: false,
      isRemoved: false,
      isDeleted: false,
      unmergeableSince: undefined,
      ...more,
    };
    this.pulls.set(pull.number, pull);
    return pull;
  }

  contains(head: string, commit: string): boolean {
    return this.#historyOf(head).has(commit);
  }

  /** Returns the history of a commit from a cache: commits never change, and looks need the same commits repeatedly. */
  #historyOf(head: string): ReadonlySet<string> {
    const known = this.#histories.get(head);
    if (known) return known;
    const parents = this.commits.get(head)?.parents ?? [];
    const history = new Set([head]);
    for (const parent of parents) for (const one of this.#historyOf(parent)) history.add(one);
    this.#histories.set(head, history);
    return history;
  }

  push(pull: ModelPull): void {
    if (pull.state !== 'open') return;
    pull.head = this.commit([pull.head], 'none');
    pull.isPushed = true;
  }

  writeToBase(): void {
    this.tip = this.commit([this.tip], 'none');
  }

  mergeByHand(pull: ModelPull): void {
    if (pull.state !== 'open' || pull.conflicts) return;
    this.#finish(pull, 'person');
  }

  #finish(pull: ModelPull, by: 'us' | 'person'): void {
    pull.parent = this.tip;
    pull.state = 'closed';
    pull.merged = by;
    this.tip = this.isFastForward && by === 'us' ? pull.head : this.commit([this.tip, pull.head], 'none');
  }

  /** Returns the ports of a worker on this forge. */
  ports(rows: QueueRows, more: Partial<QueuePorts> = {}): QueuePorts {
    return {
      rows,
      now: this.now,
      waitMs: async () => 0,
      look: async (state, about) => this.#look(state, about.number),
      write: async (write) => this.#sent(() => this.#write(write)),
      attempt: async (action) => this.#sent(() => this.#attempt(action, rows)),
      ...more,
    };
  }

  async #sent<Value>(send: () => Promise<Value> | Value): Promise<Value> {
    const kill = this.kills.shift();
    if (kill === 'before') throw new Killed('before a write');
    this.requests += 1;
    this.#arrive();
    const value = await send();
    if (kill === 'after') throw new Killed('after a write');
    return value;
  }

  #look(state: QueueState, number = state.entries[0]?.number): Omit<QueueObservation, 'branch'> {
    this.looks += 1;
    this.#arrive();
    const at = this.now();
    const pull = this.pulls.get(number ?? 0);
    if (pull === undefined) return { at };
    if (pull.isDeleted) return { at, gone: pull.number };
    if (this.problems > 0) {
      this.problems -= 1;
      const isAwaited = number === state.entries[0]?.number || number === state.attempt?.number;
      return isAwaited ? { at, problem: 'the base has no commit' } : { at };
    }
    const entry = state.entries.find((one) => one.number === number);
    const parents = this.commits.get(pull.head)?.parents ?? [];
    const isUpdate = parents.length === 2 && parents[0] === entry?.head;
    if (this.slowMergeable > 0) this.slowMergeable -= 1;
    const isMergeable = !pull.conflicts && this.slowMergeable === 0;
    pull.unmergeableSince = isMergeable ? undefined : (pull.unmergeableSince ?? this.nowMs);
    const baseCheck = this.commits.get(this.tip)?.check ?? 'none';
    const check = this.commits.get(pull.head)?.check ?? 'none';
    return {
      at,
      pull: {
        number: pull.number,
        state: pull.state,
        isDraft: pull.draft,
        head: pull.head,
        base: 'main',
        isFork: pull.isFork,
        isMergeable,
        merged: pull.merged && {
          isByUs: pull.merged === 'us',
          parent: this.isFastForward ? undefined : pull.parent,
        },
        updatedWith: isUpdate ? parents[1] : undefined,
        wanted: pull.wanted
          ? { state: 'yes', request: this.request(pull) }
          : { state: 'no', why: 'its conditions no longer hold' },
        containsBase: this.contains(pull.head, this.tip),
        checks: { state: check === 'none' ? 'pending' : check, context: 'ci' },
        contexts: ['ci'],
      },
      base: { commit: this.tip, checks: { state: baseCheck } },
    };
  }

  request({ priority }: ModelPull) {
    const method = this.isFastForward ? 'fast-forward-only' : 'merge';
    return { method, priority, timeoutMs: 3_600_000, forks: false } as const;
  }

  #write(write: QueueWrite): void {
    const pull = this.pulls.get(write.number);
    if (write.kind === 'comment') {
      // A real comment is found again by its marker.
      if (!pull?.comments.includes(write.text)) pull?.comments.push(write.text);
      return;
    }
    pull?.statuses.push(`${write.head} ${write.state}`);
  }

  async #attempt(action: Extract<QueueAction, { kind: 'update' | 'merge' }>, rows: QueueRows) {
    const answer = action.kind === 'update' ? this.#update(action) : await this.#merge(action, rows);
    if (this.lostAnswers > 0) {
      this.lostAnswers -= 1;
      return undefined;
    }
    return answer;
  }

  #update({ attempt }: Extract<QueueAction, { kind: 'update' | 'merge' }>): QueueObservation['answer'] {
    const pull = this.pulls.get(attempt.number);
    if (pull === undefined || pull.isDeleted || pull.state !== 'open') return refused('it is closed');
    if (pull.conflicts) return { kind: 'refused', why: 'conflict', isConflict: true };
    if (pull.isFork) this.violations.push(`#${pull.number} is of a fork and was updated`);
    if (!this.contains(pull.head, this.tip)) pull.head = this.commit([pull.head, this.tip], 'none');
    return { kind: 'taken' };
  }

  async #merge(
    { attempt }: Extract<QueueAction, { kind: 'update' | 'merge' }>,
    rows: QueueRows,
  ): Promise<QueueObservation['answer']> {
    const pull = this.pulls.get(attempt.number);
    // The base as the queue saw it. A write at the moment of the merge comes later.
    const seenBase = this.tip;
    const isRace = this.races > 0;
    if (isRace) {
      this.races -= 1;
      this.writeToBase();
    }
    if (this.refusals > 0) {
      this.refusals -= 1;
      return refused('not now');
    }
    if (pull === undefined || pull.isDeleted || pull.state !== 'open') return refused('it is closed');
    if (pull.head !== attempt.head) return refused('its head is another one');
    if (pull.conflicts) return refused('it conflicts');
    const hasBase = this.contains(pull.head, this.tip);
    if (this.isFastForward && !hasBase) return refused('the base has moved');
    if (!hasBase && !isRace) this.violations.push(`#${pull.number} was merged without its base`);
    if (this.commits.get(pull.head)?.check !== 'success')
      this.violations.push(`#${pull.number} was merged without green checks`);
    if (pull.statuses.at(-1) !== `${pull.head} success`)
      this.violations.push(`#${pull.number} was merged without its status: ${pull.statuses.at(-1)}`);
    await this.#checkOrder(pull, rows);
    this.#checkBlock(pull, seenBase);
    const lateMs = this.lateMs.shift();
    if (lateMs !== undefined) {
      this.#late.push({ number: pull.number, head: pull.head, dueMs: this.nowMs + lateMs });
      return undefined;
    }
    this.#take(pull, hasBase);
    return { kind: 'taken' };
  }

  #take(pull: ModelPull, hasBase: boolean): void {
    if (!hasBase) {
      this.raced.push(pull.number);
      this.#unseen = { number: pull.number, at: this.nowMs };
    }
    this.#finish(pull, 'us');
  }

  /** Performs delayed merges that are due. The forge drops a merge if the pull request has changed. */
  #arrive(): void {
    const due = this.#late.filter(({ dueMs }) => dueMs <= this.nowMs);
    for (const one of due) {
      this.#late.splice(this.#late.indexOf(one), 1);
      const pull = this.pulls.get(one.number);
      if (pull?.state !== 'open' || pull.isDeleted || pull.head !== one.head || pull.conflicts) continue;
      const hasBase = this.contains(pull.head, this.tip);
      if (hasBase || !this.isFastForward) this.#take(pull, hasBase);
    }
  }

  /** Records a violation if a pull request left for a reason that does not apply. */
  checkReason({ kind, reason, number = 0, at, turnAt, head }: QueueEvent): void {
    const pull = this.pulls.get(number);
    if (kind !== 'left' || pull === undefined) return;
    const unmergeableMs = at.getTime() - (pull.unmergeableSince ?? at.getTime());
    const isSo: Readonly<Record<string, boolean>> = {
      closed: pull.state === 'closed' || pull.isDeleted,
      'merged-elsewhere': pull.merged === 'person',
      checks: this.commits.get(pull.head)?.check === 'failure',
      conflict: pull.conflicts || unmergeableMs >= 60_000,
      pushed: pull.isPushed && head === pull.head,
      unwanted: !pull.wanted || pull.draft,
      timeout: turnAt !== undefined && at.getTime() - turnAt.getTime() >= 3_600_000,
      fork: pull.isFork,
      removed: pull.isRemoved,
      refused: true,
    };
    if (isSo[reason ?? ''] !== true) this.violations.push(`#${number} left for ${reason}, which is not so`);
  }

  async #checkOrder(pull: ModelPull, rows: QueueRows): Promise<void> {
    if (this.isMoved) return;
    const row = await rows.readQueue({ repositoryId: 1, base: 'main' });
    const { entries } = queueStateOf(row);
    const mine = entries.find(({ number }) => number === pull.number);
    for (const other of entries) {
      const isSame = mine && other.request.priority === mine.request.priority;
      if (isSame && Date.parse(other.enteredAt) < Date.parse(mine.enteredAt))
        this.violations.push(`#${pull.number} was merged before #${other.number}, which entered earlier`);
    }
  }

  /**
   * Checks that the next merge after a foreign write waits until the checks of the base pass, or until it is clear that
   * there are none.
   */
  #checkBlock(pull: ModelPull, base: string): void {
    if (this.#unseen === undefined) return;
    const { check } = this.commits.get(base) ?? { check: 'none' };
    const isAllowed = check === 'success' || (check === 'none' && this.nowMs - this.#unseen.at >= 120_000);
    if (!isAllowed)
      this.violations.push(`#${pull.number} was merged while the base had not passed since a foreign write`);
    const told = this.pulls.get(this.#unseen.number)?.comments.some((text) => text.includes('someone wrote'));
    if (!told) this.violations.push(`#${this.#unseen.number}: the foreign write was not told`);
    this.#unseen = undefined;
  }
}

function refused(why: string): QueueObservation['answer'] {
  return { kind: 'refused', why, isConflict: false };
}
