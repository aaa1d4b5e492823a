import type { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { Subject, SubjectKind } from '../contract/subject.ts';

/**
 * Who may see what a fact tells: `repository` anyone who may write there, `admin` its administrators,
 * `beyond` other repositories, the organization, the instance.
 */
export type Shows = 'repository' | 'admin' | 'beyond';

/** One fact that an expression or an action asks for. Two requests are the same when name and argument are. */
export type FactRequest = { readonly name: string; readonly argument?: string };

/** What a fact needs to be asked. `memory` outlives the run; entries are dropped by key. */
export type AskContext = {
  readonly client: Client;
  readonly subject: Subject;
  readonly memory: FactMemory;
  /** Asks another fact of the same run (asked once, however many need it). */
  readonly ask: (request: FactRequest) => Promise<unknown>;
};

/** Answers that stay true across runs until something says otherwise, such as label definitions. Keys begin with the repository's id. */
export interface FactMemory {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  /** Drops every entry whose key starts with `prefix`. */
  drop(prefix: string): void;
}

/**
 * Something known of the subject, asked for lazily, complete over all pages, at most once a run.
 * `shape` is what conditions see; the loader checks every member chain against it.
 */
export type Fact = {
  readonly name: string;
  readonly meaning: string;
  readonly shows: Shows;
  readonly shape: z.ZodType;
  /** Subjects that have this fact. */
  readonly of: readonly SubjectKind[];
  /** What its literal argument names (`contents("path")`); absent: the fact takes none. */
  readonly argument?: string;
  /** Requests it costs with one page, for the reference page. */
  readonly requests: number;
  readonly example: string;
  readonly ask: (context: AskContext, argument: string | undefined) => Promise<unknown>;
};

/** Returns its argument, checked as a row of the table. */
export function defineFact(fact: Fact): Fact {
  return fact;
}

/**
 * The facts of one run. `ask` rejects when the fact cannot be asked: the finding is then `error`, and whether a later
 * attempt may help is the error's `retryable`.
 */
export interface Facts {
  readonly subject: Subject;
  ask(request: FactRequest): Promise<unknown>;
  /** Returns facts that ask the named ones anew and share the others. */
  fresh(requests: readonly FactRequest[]): Facts;
}
