import { findAction } from '../../actions/actions.ts';
import type { ReadableUnit } from '../../contract/events/event-families.ts';
import type { Audience } from '../../facts/fact.ts';
import { findFact } from '../../facts/facts.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { Delivery } from '../../store/store.ts';

/**
 * Access of a viewer to a delivery: none, reader of its subject, or administrator of its repository. `unknown`: the
 * forge did not answer, so nothing is shown.
 */
export type DeliveryAccess = 'none' | 'unknown' | 'reader' | 'administrator';

/**
 * A viewer of the dashboard. Each method rejects with `SignedOut` if the forge no longer accepts the sign-in, and with
 * a `forge-…` error if the forge does not answer.
 */
export interface Viewer {
  /** Display name, which is also recorded with the viewer's actions. */
  readonly name: string;
  /**
   * Whether the viewer is an operator, as of the last `confirm`. Operators see everything; others see what their
   * account can read on the forge.
   */
  readonly isOperator: boolean;
  /** Verifies the identity again. Called for every request. */
  confirm(): Promise<void>;
  accessTo(subject: Delivery): Promise<DeliveryAccess>;
  /** Returns the units of the subject's repository that the viewer may read. */
  readableUnits(subject: Delivery): Promise<ReadonlySet<ReadableUnit>>;
  /** Returns the id of a readable repository by its full name; undefined if there is none. */
  findRepository(name: string): Promise<number | undefined>;
}

/** Returns the text that is recorded with a viewer's actions. */
export function viewerWords({ name }: Viewer): string {
  return `${name} by the dashboard`;
}

/** The forge no longer accepts a viewer's tokens, so the viewer must sign in again. */
export class SignedOut extends Error {}

const everyUnit: ReadonlySet<ReadableUnit> = new Set(['issues', 'pulls', 'code']);

/** The viewer who signs in with the installation's password and sees everything. */
export const passwordViewer: Viewer = {
  name: 'operator',
  isOperator: true,
  confirm: async () => {},
  accessTo: async () => 'administrator',
  readableUnits: async () => everyUnit,
  findRepository: async () => undefined,
};

/** Access of a viewer to a run, which may contain data that the viewer may not see. */
export type ViewerAccess = {
  readonly isOperator: boolean;
  readonly access: 'reader' | 'administrator';
  /** The repository that the viewer may see; absent for a run without a repository. */
  readonly repository: string | undefined;
  /** The units of that repository that the viewer may read. */
  readonly units: ReadonlySet<ReadableUnit>;
};

/** Access of an operator: everything. */
export const operatorAccess: ViewerAccess = {
  isOperator: true,
  access: 'administrator',
  repository: undefined,
  units: new Set(),
};

/** Returns a viewer's access to a delivery or, if there is none, to a run of a sweep. */
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

/** Variables that are not facts; `event` contains the subject of the delivery. */
const variables: ReadonlySet<string> = new Set(['event', 'sender', 'now']);

/**
 * Returns whether a value read by a condition may be shown, given the name under which the condition reads it. Values
 * of unknown names are hidden.
 */
export function maySeeValue(name: string, { isOperator, access, units }: ViewerAccess): boolean {
  if (isOperator) return true;
  const root = /^\w+/.exec(name)?.[0] ?? '';
  // A viewer of a delivery may read its subject. E-mail addresses of people are hidden, because the event may contain
  // more than the forge shows.
  if (variables.has(root)) return access === 'administrator' || !/\bemail\b/i.test(name);
  const audience = findFact(root)?.visibleTo;
  if (audience === undefined || audience === 'operators') return false;
  if (access === 'administrator') return true;
  return isForReaders(audience, units) && !/\bemail\b/i.test(name);
}

/**
 * Returns a value as text. E-mail addresses are omitted for readers, because the bot may be able to read addresses that
 * others may not.
 */
export function valueFor(value: unknown, { isOperator, access }: ViewerAccess): string {
  if (typeof value === 'string') return value;
  const isWhole = isOperator || access === 'administrator';
  const text = JSON.stringify(value, (key, one) => (!isWhole && /^email$/i.test(key) ? undefined : one));
  return text ?? 'nothing';
}

/** Returns whether the values of a change may be shown. Readers see only what the forge shows them. */
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

/** Returns whether the errors of a rule may be shown. A forge response may contain data that only the bot may read. */
export function maySeeErrors(verdict: Verdict, viewerAccess: ViewerAccess): boolean {
  if (viewerAccess.isOperator) return true;
  // Administrators of the repository see errors from the repository's own file.
  return viewerAccess.access === 'administrator' && isOfOwnFile(verdict, viewerAccess);
}

/**
 * Returns whether a rule comes from the viewed repository's own file; a run has no rules of other repositories. The
 * path does not show the origin, because a folder of the operator may have the name of a repository. Runs of earlier
 * versions do not record the origin.
 */
export function isOfOwnFile({ level }: Verdict, { repository }: ViewerAccess): boolean {
  return level === 'repository' && repository !== undefined;
}

/**
 * Returns whether a request of a run may be shown. Administrators see requests to their repository, because they could
 * send those themselves.
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
