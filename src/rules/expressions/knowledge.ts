import type { FactRequest } from '../../facts/fact.ts';

/** What is known of one name: its value, or why it cannot be known. */
export type Known = { readonly value: unknown } | { readonly error: Error };

/** Answers the names of an expression. An absent answer means that the name does not apply here (no `event` on a clock). */
export interface Knowledge {
  find(request: FactRequest): Known | undefined;
}
