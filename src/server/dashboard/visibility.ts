import { findAction } from '../../actions/actions.ts';
import type { ReadableUnit } from '../../contract/events/event-families.ts';
import type { Audience } from '../../facts/fact.ts';
import { findFact } from '../../facts/facts.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { Delivery } from '../../store/store.ts';

/**
 * Access of a viewer to a delivery: none, reader of its subject, or administrator of its repository. `unknown`: the
 * forge did not answer, and nothing is shown.
 */
export type DeliveryAccess = 'none' | 'unknown' | 'reader' | 'administrator';

/**
 * A viewer of the dashboard. Each method rejects with `SignedOut` if the forge no longer accepts the sign-in, and with
 * a `forge-…` error if it does not answer.
 */
export interface Viewer {
  /** Display name, also recorded with their actions. */
  readonly name: string;
  /** Operators see everything; others see what their account can read on the forge. As of the last `confirm`. */
  readonly isOperator: boolean;
  /** Verifies the identity again, on every request. */
  confirm(): Promise<void>;
  accessTo(subject: Delivery): Promise<DeliveryAccess>;
  /** Returns the parts of the repository that they may read. */
  readableUnits(subject: Delivery): Promise<ReadonlySet<ReadableUnit>>;
  /** Returns the id of a readable repository by its full name; undefined if there is none. */
  findRepository(name: string): Promise<number | undefined>;
}

/** Returns a viewer as recorded with their actions. */
export function viewerWords({ name }: Viewer): string {
  return `${name} by the dashboard`;
}

/** The forge no longer accepts the tokens of a person, who must sign in again. */
export class SignedOut extends Error {}

const everyUnit: ReadonlySet<ReadableUnit> = new Set(['issues', 'pulls', 'code']);

/** A viewer with the password of the installation, who sees everything. */
export const passwordViewer: Viewer = {
  name: 'operator',
  isOperator: true,
  confirm: async () => {},
  accessTo: async () => 'administrator',
  readableUnits: async () => everyUnit,
  findRepository: async () => undefined,
};

/** Access of a viewer to a run, which may contain data that they may not see. */
export type ViewerAccess = {
  readonly isOperator: boolean;
  readonly access: 'reader' | 'administrator';
  /** The repository that they may see; absent for a run without one. */
  readonly repository: string | undefined;
  /** The units of it that they may read. */
  readonly units: ReadonlySet<ReadableUnit>;
};

/** Access of an operator: everything. */
export const operatorAccess: ViewerAccess = {
  isOperator: true,
  access: 'administrator',
  repository: undefined,
  units: new Set(),
};

/** Returns a viewer's access to a delivery, or, without one, to a run of a sweep. */
export async function resolveAccess(
  viewer: Viewer,
  found: { readonly delivery: Delivery; readonly access: 'reader' | 'administrator' } | undefined,
): Promise<ViewerAccess> {
  const { isOperator } = viewer;
  if (found === undefined)
    return { isOperator, access: 'administrator', repository: undefined, units: new Set() };
  const { delivery, access } = found;
  const units = isOperator ? new Set<ReadableUnit>() : await viewer.readableUnits(delivery);
  return { isOperator, access, repository: delivery.repository, units };
}

/** Names that are not facts; `event` contains the subject of the delivery. */
const variables: ReadonlySet<string> = new Set(['event', 'sender', 'now']);

/** Returns whether a value read by a condition may be shown, by its name as written. Unknown names are hidden. */
export function maySeeValue(name: string, { isOperator, access, units }: ViewerAccess): boolean {
  if (isOperator) return true;
  const root = /^\w+/.exec(name)?.[0] ?? '';
  // A viewer of a delivery may read its subject; e-mail addresses of people are hidden, because the event may have more
  // than the forge shows.
  if (variables.has(root)) return access === 'administrator' || !/\bemail\b/i.test(name);
  const audience = findFact(root)?.visibleTo;
  if (audience === undefined || audience === 'operators') return false;
  if (access === 'administrator') return true;
  return isForReaders(audience, units) && !/\bemail\b/i.test(name);
}

/** Returns a value as text; readers do not see e-mail addresses, which the bot may read but others may not. */
export function valueFor(value: unknown, { isOperator, access }: ViewerAccess): string {
  if (typeof value === 'string') return value;
  const isWhole = isOperator || access === 'administrator';
  const text = JSON.stringify(value, (key, one) => (!isWhole && /^email$/i.test(key) ? undefined : one));
  return text ?? 'nothing';
}

/** Returns whether the values of a change may be shown. A reader sees a change as on the forge. */
export function maySeeChange(
  { path, action }: { readonly path: string; readonly action: string },
  status: string,
  { isOperator, access, repository, units }: ViewerAccess,
): boolean {
  if (isOperator) return true;
  const home = `/repos/${repository}/`.toLowerCase();
  if (repository === undefined || !path.toLowerCase().startsWith(home)) return false;
  if (access === 'administrator') return true;
  const audience = findAction(action)?.visibleTo;
  return audience !== undefined && status === 'applied' && isForReaders(audience, units);
}

/** Returns whether a reader of the delivery's subject belongs to an audience, given the units that they can read. */
function isForReaders(audience: Audience, units: ReadonlySet<ReadableUnit>): boolean {
  if (audience === 'administrators' || audience === 'operators') return false;
  return audience === 'subject' || audience === 'repository' || units.has(audience);
}

/**
 * Returns whether errors of a rule may be shown: an answer of the forge may contain data that only the bot may read.
 */
export function maySeeErrors(verdict: Verdict, viewerAccess: ViewerAccess): boolean {
  if (viewerAccess.isOperator) return true;
  // Administrators of the repository see errors of its own file.
  return viewerAccess.access === 'administrator' && isOfOwnFile(verdict, viewerAccess);
}

/**
 * Returns whether a rule comes from the viewed repository's own file: a run has no rules of other repositories. The
 * path does not show the origin, because a folder of the operator may be named like a repository. Runs of earlier
 * versions do not record the origin.
 */
export function isOfOwnFile({ level }: Verdict, { repository }: ViewerAccess): boolean {
  return level === 'repository' && repository !== undefined;
}

/**
 * Returns whether a request of a run may be shown: administrators see those to their repository, which they could send
 * as well.
 */
export function maySeeRequest(
  { path }: { readonly path: string },
  { isOperator, access, repository }: ViewerAccess,
): boolean {
  if (isOperator) return true;
  if (access !== 'administrator' || repository === undefined) return false;
  const [home] = path.split('?', 1);
  return `${home}/`.toLowerCase().startsWith(`/repos/${repository}/`.toLowerCase());
}
