import type { Change } from '../actions/change.ts';
import { type NamedSecrets, namesSecret } from '../actions/secrets.ts';
import type { Client } from '../client/client.ts';
import type { AnyInput } from '../contract/operation.ts';
import { findOperation } from '../contract/operations.ts';
import { ReeveError } from '../errors.ts';
import type { FactRequest, Facts } from '../facts/fact.ts';
import { adviseOn } from './permission-hint.ts';
import { levelOf, type PlannedChange, type Wish } from './proposal.ts';
import type { Outcome } from './record.ts';
import { refuseEscape } from './write-scope.ts';

/** What became of the changes. */
export type Applied = {
  readonly outcomes: readonly Outcome[];
  /** Change → what was really sent, where that was computed immediately before the write. */
  readonly sent: ReadonlyMap<string, AnyInput>;
  /** Set where a write failed and a later attempt, planned anew, may succeed. */
  readonly retry?: ReeveError | undefined;
  /** Set where the forge says that the repository is called otherwise now. */
  readonly moved?: true;
};

/**
 * An answer this young, with no write of ours since, was read immediately before the write. Reading the same labels twice
 * in a row costs a request and tells nothing: whatever happens between a read and a write happens after the second too.
 */
const freshMs = 250;

/**
 * Writes what is planned, in order. A change that rests on reads is planned again from fresh ones immediately before its
 * write; if that fails, nothing is sent. One failed change does not stop the others, but a step's later ones.
 */
export async function applyPlan(options: {
  changes: readonly PlannedChange[];
  facts: Facts;
  client: Client;
  /** Absent: a change that names a secret fails. */
  secrets?: NamedSecrets | undefined;
}): Promise<Applied> {
  const { facts, client, secrets } = options;
  const outcomes = new Map<string, Outcome>();
  const sent = new Map<string, AnyInput>();
  const failedSteps = new Set<Wish>();
  let wrote = false;
  let retry: ReeveError | undefined;
  let isMoved = false;

  for (const group of together(options.changes)) {
    const open: PlannedChange[] = [];
    for (const planned of group) {
      if (planned.wishes.every((wish) => failedSteps.has(wish)))
        settle(planned, 'skipped', 'an earlier change of its step failed');
      else open.push(planned);
    }
    await writeTogether(open);
  }
  return {
    outcomes: options.changes.flatMap(({ id }) => outcomes.get(id) ?? []),
    sent,
    retry,
    ...(isMoved ? { moved: true } : {}),
  };

  function settle(planned: PlannedChange, status: Outcome['status'], error?: string): void {
    const told = error === undefined ? {} : { error: withoutSecrets(error) };
    outcomes.set(planned.id, { change: planned.id, status, ...told });
  }

  function fail(planned: PlannedChange, error: unknown): void {
    const needs = planned.wishes[0]?.action.needs;
    settle(planned, 'failed', `${planned.change.target}: ${adviseOn(error, needs)}`);
    if (error instanceof ReeveError && error.code === 'forge-moved') isMoved = true;
    for (const wish of planned.wishes) failedSteps.add(wish);
    if (error instanceof ReeveError && error.keepsWork) {
      const { code, retryAfterMs, status } = error;
      retry ??= new ReeveError(code, withoutSecrets(error.message), { retryAfterMs, status });
    }
  }

  async function writeTogether(group: readonly PlannedChange[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    try {
      const now = facts.fresh(readsOf(group), wrote ? -1 : freshMs);
      let open = await stillWanted(group, now);
      if (open.length === 0) return;
      let answer = await write(open, now);
      let unshown = open.filter((planned) => unconfirmed(planned, answer) !== undefined);
      const inVain = unshown.length > 0 && (await isInVain(unshown, answer));
      if (unshown.length > 0 && !inVain) {
        // What was remembered no longer fits, for example a label made anew under its old name: once more from live.
        const again = facts.fresh([...readsOf(group), ...(await factsOf(group))]);
        open = await stillWanted(open, again);
        if (open.length > 0) answer = await write(open, again);
        unshown = open.filter((planned) => unconfirmed(planned, answer) !== undefined);
      }
      for (const planned of open) {
        // What the forge dropped, and is known to drop, keeps nothing that comes after it from being done.
        if (inVain && unshown.includes(planned)) settle(planned, 'failed', unconfirmed(planned, answer));
        else if (unshown.includes(planned)) fail(planned, new Error(unconfirmed(planned, answer)));
        else if (!(await isSo(planned)))
          fail(planned, new Error('the forge took the request, yet it is not so'));
        else {
          await keep(planned, answer);
          settle(planned, 'applied');
        }
      }
    } catch (error) {
      for (const planned of group) if (!outcomes.has(planned.id)) fail(planned, error);
    }
  }

  /** Every action is told what came of its changes; a request is tried again where one of them may gain by it. */
  async function isInVain(unshown: readonly PlannedChange[], answer: unknown): Promise<boolean> {
    let inVain = true;
    for (const { change, wishes } of unshown) {
      const [wish] = wishes;
      if (!(await wish?.action.learn?.(change, answer, wish.context))) inVain = false;
    }
    return inVain;
  }

  /** Where the answer shows nothing, what is read afterwards decides. */
  async function isSo(planned: PlannedChange): Promise<boolean> {
    const { verify, reads } = planned.change;
    return !verify || (await planAgain(planned, facts.fresh(reads ?? []))) === undefined;
  }

  async function keep({ change, wishes }: PlannedChange, answer: unknown): Promise<void> {
    const [wish] = wishes;
    await wish?.action.remember?.(change, answer, wish.context);
  }

  function withoutSecrets(text: string): string {
    return secrets?.redact(text) ?? text;
  }

  /** The choke point of secrets: their values go into requests that the operator's own rules ask for, nowhere else. */
  function reveal(group: readonly PlannedChange[], input: AnyInput): AnyInput {
    if (!namesSecret(input.body)) return input;
    if (secrets === undefined || group.some((planned) => levelOf(planned) !== 'operator')) {
      throw new ReeveError('forge-forbidden', 'only rules of the operator may name secrets');
    }
    return secrets.reveal(input);
  }

  /** Plans again from fresh reads and keeps what is still missing; the rest is settled as it was found. */
  async function stillWanted(group: readonly PlannedChange[], now: Facts): Promise<readonly PlannedChange[]> {
    const open: PlannedChange[] = [];
    for (const planned of group) {
      if (planned.change.reads === undefined) {
        open.push(planned);
        continue;
      }
      const again = await planAgain(planned, now);
      if (again === undefined || again.already) settle(planned, 'skipped', 'it is so already');
      else open.push({ ...planned, change: again });
    }
    return open;
  }

  async function planAgain(planned: PlannedChange, now: Facts): Promise<Change | undefined> {
    for (const wish of planned.wishes) {
      const changes = await wish.action.plan(wish.arguments, now, wish.context);
      const same = changes.find(
        ({ target, value }) =>
          target === planned.change.target && JSON.stringify(value) === JSON.stringify(planned.change.value),
      );
      if (same && !same.already) return same;
    }
    return undefined;
  }

  async function write(group: readonly PlannedChange[], now: Facts): Promise<unknown> {
    const input = await inputOf(group, now);
    for (const planned of group) await refuseEscape(planned, input, facts);
    const operation = findOperation(group[0]?.change.operation ?? '');
    if (operation === undefined)
      throw new ReeveError('internal', `no operation "${group[0]?.change.operation}"`);
    wrote = true;
    for (const planned of group) sent.set(planned.id, input);
    const answer = await client.send(operation, reveal(group, input));
    facts.forget(group.flatMap((planned) => planned.change.forgets ?? []));
    return answer;
  }

  function unconfirmed(planned: PlannedChange, answer: unknown): string | undefined {
    return planned.wishes[0]?.action.confirm?.(planned.change, answer);
  }
}

/** Returns the input of changes that leave as one request. */
export async function inputOf(group: readonly PlannedChange[], facts: Facts): Promise<AnyInput> {
  const [first] = group;
  if (first === undefined) throw new ReeveError('internal', 'a request without a change');
  const join = first.change.joins === undefined ? undefined : first.wishes[0]?.action.join;
  return join
    ? join(
        group.map((planned) => planned.change),
        facts,
      )
    : first.change.input;
}

/** Returns the changes in order, those that leave as one request together at the place of their first. */
export function together(changes: readonly PlannedChange[]): readonly (readonly PlannedChange[])[] {
  const groups = new Map<string, PlannedChange[]>();
  for (const planned of changes) {
    const { joins, operation } = planned.change;
    const key = joins === undefined ? planned.id : `${operation} ${joins}`;
    const group = groups.get(key);
    if (group) group.push(planned);
    else groups.set(key, [planned]);
  }
  return [...groups.values()];
}

function readsOf(group: readonly PlannedChange[]): readonly FactRequest[] {
  return group.flatMap((planned) => planned.change.reads ?? []);
}

async function factsOf(group: readonly PlannedChange[]): Promise<readonly FactRequest[]> {
  return group.flatMap((planned) => planned.wishes.flatMap((wish) => wish.action.facts(wish.arguments)));
}
