import type { Subject } from '../../contract/events/subject.ts';
import { nameOfRule } from '../../rules/verdict.ts';
import { type Deferral, deferralKey } from '../budget/deferral.ts';
import type { Plan } from '../proposal.ts';
import { isEnforcing, type PlannedChange, type RefusedChange } from '../proposal.ts';

/** Scope of a pause: all writes, writes to one repository, or writes of the rules with one name or identity. */
export type PauseScope =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'repository';
      /** `owner/name`. */
      readonly name: string;
      /** Set if known, so that the pause also applies after a rename. */
      readonly repositoryId?: number | undefined;
    }
  | {
      readonly kind: 'rule';
      /** Name of the rule, or its identity (`source path#rule name`). */
      readonly name: string;
    };

/** A pause in force. Deliveries are still accepted; those that have changes wait until the pause ends. */
export type Pause = { readonly scope: PauseScope; readonly at: Date; readonly by: string };

/** Returns the pauses in force. Read on every call, because another process may have just started one. */
export type ReadPauses = () => Promise<readonly Pause[]>;

/** Delay before a paused delivery is retried if the pause has not ended earlier: one day. */
const waitMs = 86_400_000;

/**
 * Returns why a change is paused; undefined if it may be sent. A change is sent if at least one of the rules that want
 * it is not paused.
 */
export function pausedReason(
  { change, proposals }: PlannedChange,
  subject: Subject,
  pauses: readonly Pause[],
): string | undefined {
  const rules = proposals.filter(isEnforcing).map(({ rule }) => rule);
  const { owner, repo } = change.input.params ?? {};
  const names = [
    `${owner}/${repo}`,
    ...(subject.repository ? [`${subject.repository.owner}/${subject.repository.name}`] : []),
  ];
  const id = subject.repository?.id;
  const stops = ({ scope }: Pause): boolean =>
    scope.kind === 'all' || names.some((name) => isOfRepository(scope, { name, id }));
  const whole = pauses.find(stops);
  if (whole) return pausedWords(whole);
  const stopping = rules.map(({ id, name }) =>
    pauses.find(({ scope }) => scope.kind === 'rule' && (scope.name === name || scope.name === id)),
  );
  const [first] = stopping;
  return first !== undefined && stopping.every((one) => one !== undefined) ? pausedWords(first) : undefined;
}

/** A repository by full name, and by id if known. */
type PausedRepository = { readonly name: string; readonly id?: number | undefined };

/** Returns whether a pause applies to this repository: by id, which also works after a rename, or by full name. */
export function isOfRepository(scope: PauseScope, { name, id }: PausedRepository): boolean {
  if (scope.kind !== 'repository') return false;
  const isSame = scope.repositoryId !== undefined && scope.repositoryId === id;
  return isSame || scope.name.toLowerCase() === name.toLowerCase();
}

/** Returns the first pause that stops the writes of a rule to a repository; undefined if there is none. */
export function findPause(
  pauses: readonly Pause[],
  { repository, rule }: { readonly repository: PausedRepository; readonly rule: string },
): Pause | undefined {
  return pauses.find(
    ({ scope }) =>
      scope.kind === 'all' ||
      isOfRepository(scope, repository) ||
      (scope.kind === 'rule' && (scope.name === rule || scope.name === nameOfRule(rule))),
  );
}

/** Pattern of a repository name, `owner/name`. A leading `#` distinguishes the rule of a pack, `include/rule`. */
export const repositoryName = /^[^/\s#]+\/[^/\s#]+$/;

/** Returns the scope of a pause in the form used on the command line. */
export function nameOfScope(scope: PauseScope): string {
  if (scope.kind === 'all') return 'all';
  return scope.kind === 'rule' && repositoryName.test(scope.name) ? `#${scope.name}` : scope.name;
}

/** Returns a description of a pause: scope, start, author, and how to end it. */
export function pausedWords({ scope, at, by }: Pause): string {
  const what = scope.kind === 'all' ? 'all writes are' : `${scope.kind} ${scope.name} is`;
  return `${what} paused since ${at.toISOString()} by ${by}; reeve resume ${nameOfScope(scope)} ends it`;
}

/** Returns the plan without the paused changes, and the resulting deferral of the run. */
export function refusePaused(
  plan: Plan,
  pauses: readonly Pause[],
  { subject, isSent }: { readonly subject: Subject; readonly isSent: (planned: PlannedChange) => boolean },
): { readonly plan: Plan; readonly deferral?: Deferral | undefined } {
  if (pauses.length === 0) return { plan };
  const changes: PlannedChange[] = [];
  const paused: RefusedChange[] = [];
  for (const planned of plan.changes) {
    const why = isSent(planned) ? pausedReason(planned, subject, pauses) : undefined;
    if (why === undefined) changes.push(planned);
    else paused.push({ planned, why, isLimited: true });
  }
  return {
    plan: { changes, refused: [...plan.refused, ...paused] },
    deferral: pauseDeferral(paused),
  };
}

/** Thrown before a request that a pause prevents. */
export class WritesPaused extends Error {}

/** Throws if a change is paused. Another process may have started a pause after the plan was made. */
export async function requireUnpaused(
  group: readonly PlannedChange[],
  subject: Subject,
  readPauses: ReadPauses | undefined,
): Promise<void> {
  const pauses = (await readPauses?.()) ?? [];
  for (const planned of pauses.length > 0 ? group : []) {
    const why = pausedReason(planned, subject, pauses);
    if (why !== undefined) throw new WritesPaused(why);
  }
}

/** Returns the deferral of a run with paused changes; undefined if there are none. */
export function pauseDeferral(paused: readonly RefusedChange[]): Deferral | undefined {
  const [first] = paused;
  if (first === undefined) return undefined;
  const key = deferralKey(paused.map(({ planned }) => planned));
  return { afterMs: waitMs, why: first.why, isPaused: true, ...key };
}
