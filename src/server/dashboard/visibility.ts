import { findAction } from '../../actions/actions.ts';
import type { ReadableUnit } from '../../contract/events/event-families.ts';
import type { Audience } from '../../facts/fact.ts';
import { findFact } from '../../facts/facts.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { Delivery } from '../../store/store.ts';

/**
 * What a viewer may see of a delivery: nothing; what readers see of its subject; what administrators of its repository
 * see. `unknown`: the forge did not say, and nothing is shown.
 */
export type DeliveryAccess = 'none' | 'unknown' | 'reader' | 'administrator';

/** What a delivery is about, as far as access depends on it. */
export type DeliverySubject = Delivery;

/**
 * Who looks at the dashboard. Each question rejects with `SignedOut` where the forge does not know them any more, and with a
 * `forge-…` error where it does not answer.
 */
export interface Viewer {
  /** As the pages greet them, and as it is kept with what they do. */
  readonly name: string;
  /** Operators see everything; others see what their account can read on the forge. As of the last `confirm`. */
  readonly isOperator: boolean;
  /** Asks whether they are still who they were, at every visit. */
  confirm(): Promise<void>;
  accessTo(subject: DeliverySubject): Promise<DeliveryAccess>;
  /** Returns the parts of the repository that they may read. */
  readableUnits(subject: DeliverySubject): Promise<ReadonlySet<ReadableUnit>>;
  /** Returns the id of a repository that they may read, by its full name; undefined where there is none. */
  findRepository(name: string): Promise<number | undefined>;
}

/** Returns a viewer as the store keeps them with what they did. */
export function viewerWords({ name }: Viewer): string {
  return `${name} by the dashboard`;
}

/** The forge no longer takes what a person allowed: they have to sign in again. */
export class SignedOut extends Error {}

const everyUnit: ReadonlySet<ReadableUnit> = new Set(['issues', 'pulls', 'code']);

/** A viewer with the password of the installation: sees everything. */
export const passwordViewer: Viewer = {
  name: 'operator',
  isOperator: true,
  confirm: async () => {},
  accessTo: async () => 'administrator',
  readableUnits: async () => everyUnit,
  findRepository: async () => undefined,
};

/** Who looks at a run: what it saw and did may be more than they may see. */
export type ViewerAccess = {
  readonly isOperator: boolean;
  readonly access: 'reader' | 'administrator';
  /** The repository that they may see; absent where the run is about none. */
  readonly repository: string | undefined;
  /** The parts of it that they may read. */
  readonly units: ReadonlySet<ReadableUnit>;
};

/** Who sees everything. */
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

/** What a run is given beside facts: the event is what the delivery is about. */
const variables: ReadonlySet<string> = new Set(['event', 'sender', 'now']);

/** Returns whether a value that a condition saw may be shown, by its name as written. An unknown one is not shown. */
export function maySeeValue(name: string, { isOperator, access, units }: ViewerAccess): boolean {
  if (isOperator) return true;
  const root = /^\w+/.exec(name)?.[0] ?? '';
  // A viewer who reads a delivery reads its subject; about people it may show more than the forge does.
  if (variables.has(root)) return access === 'administrator' || !/\bemail\b/i.test(name);
  const audience = findFact(root)?.visibleTo;
  if (audience === undefined || audience === 'operators') return false;
  if (access === 'administrator') return true;
  return isForReaders(audience, units) && !/\bemail\b/i.test(name);
}

/** Returns a value as text, for a reader without the addresses of people: the bot may see some that others do not. */
export function valueFor(value: unknown, { isOperator, access }: ViewerAccess): string {
  if (typeof value === 'string') return value;
  const isWhole = isOperator || access === 'administrator';
  const text = JSON.stringify(value, (key, one) => (!isWhole && /^email$/i.test(key) ? undefined : one));
  return text ?? 'nothing';
}

/** Returns whether what a change decides may be shown. A reader sees what was done, as they see it on the forge. */
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

/** Returns whether errors of a rule may be shown: a forge's answer to the bot may name what only the bot may know. */
export function maySeeErrors(verdict: Verdict, viewerAccess: ViewerAccess): boolean {
  if (viewerAccess.isOperator) return true;
  // Of the repository's own file its administrators hear what is wrong.
  return viewerAccess.access === 'administrator' && isOfOwnFile(verdict, viewerAccess);
}

/**
 * Returns whether a rule is of the repository that the viewer looks at: a run has no rules of other repositories. The path of a
 * file says nothing of its origin, a folder of the operator may be called like a repository. A run of an earlier version does not
 * record the origin of its rules.
 */
export function isOfOwnFile({ level }: Verdict, { repository }: ViewerAccess): boolean {
  return level === 'repository' && repository !== undefined;
}

/** Returns whether a request of a run may be shown: administrators see those to their repository, which they can make as well. */
export function maySeeRequest(
  { path }: { readonly path: string },
  { isOperator, access, repository }: ViewerAccess,
): boolean {
  if (isOperator) return true;
  if (access !== 'administrator' || repository === undefined) return false;
  const [home] = path.split('?', 1);
  return `${home}/`.toLowerCase().startsWith(`/repos/${repository}/`.toLowerCase());
}
