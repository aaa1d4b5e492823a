import type { ReadableUnit } from '../../contract/events/event-families.ts';
import type { Delivery } from '../../store/store.ts';

/**
 * What a viewer may see of a delivery: nothing; what readers see of its subject; what administrators of its repository
 * see. `unknown`: the forge did not say, and nothing is shown.
 */
export type DeliveryAccess = 'none' | 'unknown' | 'reader' | 'administrator';

/** What a delivery is about, as far as access depends on it. */
export type DeliverySubject = Pick<Delivery, 'eventType' | 'repositoryId' | 'repository'>;

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
export function viewerWords({ name }: Pick<Viewer, 'name'>): string {
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
