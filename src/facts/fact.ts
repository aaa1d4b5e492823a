import type { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { Subject, SubjectKind } from '../contract/events/subject.ts';

/**
 * Who may see what a fact tells: `repository` anyone who may write there, `admin` its administrators,
 * `beyond` other repositories, the organization, the instance.
 */
export type Shows = 'repository' | 'admin' | 'beyond';

/**
 * Who sees a value of a fact, or a change of an action, on the dashboard, from most to fewest people: `repository` everyone who
 * can read the repository, `subject` everyone who can read what the delivery is about, a unit everyone who can read that unit,
 * `administrators` administrators of the repository, `operators` operators of Reeve. Each includes those after it.
 */
export type Audience =
  | 'repository'
  | 'subject'
  | 'code'
  | 'issues'
  | 'pulls'
  | 'administrators'
  | 'operators';

/** One fact that an expression or an action asks for. Two requests are the same when name and argument are. */
export type FactRequest = { readonly name: string; readonly argument?: string };

/** What a fact needs to be asked. `memory` outlives the run; entries are dropped by key. */
export type AskContext = {
  readonly client: Client;
  readonly subject: Subject;
  readonly memory: FactMemory;
  /** True where a remembered answer will not do: the fact is asked because something did not fit. */
  readonly anew: boolean;
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
  /** Who sees its values on the dashboard. One that shows what is beyond the repository, or that is narrowed, is for operators. */
  readonly visibleTo: Audience;
  readonly shape: z.ZodType;
  /** Subjects that have this fact. */
  readonly of: readonly SubjectKind[];
  /** What its literal argument names (`contents("path")`); absent: the fact takes none. */
  readonly argument?: string;
  /** Requests it costs with one page, for the reference page. */
  readonly requests: number;
  readonly example: string;
  /**
   * Facts whose answer holds this one as a member of its name: where one of them was asked in this run, this one costs no
   * request of its own, and is as old as that answer.
   */
  readonly within?: readonly string[];
  /** Completes what a facts file may write shorter (a label by its name alone). Absent: values are taken as written. */
  readonly complete?: (written: unknown) => unknown;
  /** Returns what rules that are not the operator's see of a value. Absent: all of it. */
  readonly narrow?: (value: unknown, subject: Subject) => unknown;
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
  /** Returns facts that ask the named ones anew, where their answer is older than `maxAgeMs`, and share the others. */
  fresh(requests: readonly FactRequest[], maxAgeMs?: number): Facts;
  /** Drops what is remembered of these facts beyond this run, because a write made it untrue. */
  forget(names: readonly string[]): void;
}

/** Returns a text that two requests share only when they ask the same. */
export function keyOf(request: FactRequest): string {
  return request.argument === undefined
    ? request.name
    : `${request.name}(${JSON.stringify(request.argument)})`;
}
