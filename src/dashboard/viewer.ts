import type { Delivery } from '../store/store.ts';

/** What somebody may see of a delivery: nothing; what readers of its repository see; what its administrators see. */
export type Sight = 'none' | 'reader' | 'administrator';

/** What a delivery is about, as far as sight depends on it. */
export type Place = Pick<Delivery, 'eventType' | 'repositoryId' | 'repository'>;

/** Who looks at the dashboard. */
export interface Viewer {
  /** As the pages greet them, and as it is kept with what they do. */
  readonly name: string;
  /** Operators see everything; others see what their account can read on the forge. As of the last `confirm`. */
  readonly isOperator: boolean;
  /** Asks whether they are still who they were, at every visit. Rejects as `sightOf` does. */
  confirm(): Promise<void>;
  /** Rejects with `SignedOut` where the forge does not know them any more, else with a `forge-…` error. */
  sightOf(place: Place): Promise<Sight>;
}

/** The forge no longer takes what a person allowed: they have to sign in again. */
export class SignedOut extends Error {}

/** Whoever has the password of the installation: sees everything. */
export const passwordHolder: Viewer = {
  name: 'operator',
  isOperator: true,
  confirm: async () => {},
  sightOf: async () => 'administrator',
};
