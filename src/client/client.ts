import type { AnswerOf, AnyInput, InputOf, Operation } from '../contract/operation.ts';

/** Asks one forge. Every method sends the credential in the `Authorization` header alone, to that forge alone. */
export interface Client {
  /** Sends one call and returns its answer as the row's shape reads it. Rejects with a `forge-…` ReeveError. */
  call<O extends Operation>(operation: O, input: InputOf<O>): Promise<AnswerOf<O>>;
  /** Sends a call known only at run time (a change). */
  send(operation: Operation, input: AnyInput): Promise<unknown>;
  /** Yields the items of a paged list, page by page, in the forge's order. */
  items<O extends Operation>(operation: O, input: InputOf<O>): AsyncGenerator<ItemOf<O>>;
  /** Requests sent so far, retries included. */
  readonly requests: number;
}

/** One item of a list answer. */
export type ItemOf<O extends Operation> =
  NonNullable<AnswerOf<O>> extends readonly (infer I)[]
    ? I
    : NonNullable<AnswerOf<O>> extends { runners: readonly (infer I)[] }
      ? I
      : never;
