import { z } from 'zod';
import type { Capability } from '../client/capabilities.ts';
import type { SubjectKind } from '../contract/events/subject.ts';
import type { Access, AnyInput, ScopeCategory } from '../contract/operation.ts';
import type { Audience, FactRequest, Facts } from '../facts/fact.ts';
import type { Adoption } from './adoption.ts';
import type { Change } from './change.ts';
import type { Inverse } from './inverses/inverse.ts';
import type { PlanContext } from './plan-context.ts';

/**
 * One thing that a step can do (`uses: NAME`). Planning reads facts and returns what is wanted, target by target: the
 * changes that are missing, and, marked `already`, what is so.
 *
 * Where a string of the arguments is a condition or a template is said in the schema (`condition()`, `template()`):
 * by the time `plan` is called each condition has become its answer and each template its text.
 */
export type Action<Arguments = unknown> = {
  readonly name: string;
  readonly meaning: string;
  /** YAML of a step, run by a test. */
  readonly example: string;
  readonly arguments: z.ZodType<Arguments>;
  /** Subjects it can work on. */
  readonly of: readonly SubjectKind[];
  readonly needs: { readonly access: Access; readonly scopes: readonly ScopeCategory[] };
  /**
   * Whether it describes a state: planned again, it wants nothing where that state is there. What does not (a message sent,
   * a workflow started) is not done for a repeated delivery.
   */
  readonly describesState: boolean;
  /** Whether files of repositories may use it without the operator's grant. */
  readonly granted: boolean;
  /** Who sees its applied changes to the repository on the dashboard; `administrators` see failed ones as well. */
  readonly visibleTo: Exclude<Audience, 'operators'>;
  /** How `reeve revert` takes a change back, by the id of its operation: one for every operation that its changes use. */
  readonly inverses: Readonly<Record<string, Inverse>>;
  /** Operation that creates a target with all its members in one request: its first change reverts the whole target. */
  readonly createsWhole?: string;
  /** How `reeve drift --adopt` declares live state as a step of this action; undefined where there is none to declare. */
  readonly adoption: Adoption | undefined;
  /** Names what else a repository's file may not say without a grant, as paths of arguments (`create`). */
  readonly operatorOnly?: readonly string[];
  /** Problems that the schema cannot say, found at load: path of the argument and text. */
  readonly examine?: (
    written: Arguments,
  ) => readonly { path: readonly (string | number)[]; message: string }[];
  /** The facts `plan` will ask, so that they can be asked in parallel before it. */
  readonly facts: (given: Arguments) => readonly FactRequest[];
  /** Called again immediately before a write; it reads and never writes. */
  readonly plan: (given: Arguments, facts: Facts, context: PlanContext) => Promise<readonly Change[]>;
  /** Returns why a change is wanted in the words of the step as written; undefined: its own reason will do. */
  readonly words?: (change: Change, written: unknown) => string | undefined;
  /** Returns the one input for changes that leave together (`Change.joins`). */
  readonly join?: (changes: readonly Change[], facts: Facts) => Promise<AnyInput>;
  /** Returns why the forge's answer to a write does not show the change, where it drops things in silence. */
  readonly confirm?: (change: Change, answer: unknown) => string | undefined;
  /**
   * Told of an answer that does not show the change: keeps in the memory what the forge made of it. Returns true where
   * trying again is in vain.
   */
  readonly learn?: (change: Change, answer: unknown, context: PlanContext) => Promise<boolean>;
  /** Keeps in the memory what cannot be read back, once the answer to a write has shown the change. */
  readonly remember?: (change: Change, answer: unknown, context: PlanContext) => Promise<void>;
  /** Arguments that not every forge can take, as paths (`hooks.name`; lists are passed through), for `reeve check`. */
  readonly requires?: Readonly<Record<string, Capability>>;
};

/** Returns its argument as a row of the table of actions. */
export function defineAction<Arguments>(action: Action<Arguments>): Action<Arguments> {
  return action;
}

/** What a string argument holds beyond plain text. */
type Holds = 'condition' | 'template';

/** An argument that is a condition: CEL text (or a plain bool) in the file, its answer when `plan` is called. */
export function condition(): z.ZodType<boolean> {
  // The border between file and plan: rules/ replaces the text by its answer before an action sees it.
  return z
    .union([z.string().min(1), z.boolean()])
    .meta({ holds: 'condition' satisfies Holds }) as unknown as z.ZodType<boolean>;
}

/** A string argument in which `${{ expression }}` inserts a value. */
export function template(): z.ZodString {
  return z.string().meta({ holds: 'template' satisfies Holds });
}
