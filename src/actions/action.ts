import { z } from 'zod';
import type { Capability } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import type { SubjectKind } from '../contract/events/subject.ts';
import type { Access, AnyInput, ScopeCategory } from '../contract/operation.ts';
import type { Audience, FactRequest, Facts } from '../facts/fact.ts';
import type { Way } from '../facts/ways.ts';
import type { Change } from './change.ts';
import type { Inverse } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';

/** Location of live state for `reeve drift --adopt`: a repository, or an organization if `repo` is absent. */
export type AdoptedPlace = { readonly owner: string; readonly repo?: string | undefined };

/**
 * Live state in the form of a step's arguments. `arguments` is absent if there is nothing to declare; `left` lists the
 * parts of the state that the step cannot express.
 */
export type Adopted = {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly left?: readonly string[];
};

/** How `reeve drift --adopt` turns live state into a step of an action. A run with that step plans no changes. */
export type Adoption = {
  /**
   * Name of the data, for the message shown if the account may not read it. If absent, the command fails in that case.
   */
  readonly what?: string;
  readonly read: (client: Client, place: AdoptedPlace) => Promise<Adopted>;
};

/** Returns the items of a list, from all pages. */
export async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Where a step is: the level of the file, the subjects of its rule, and the `in` of the file and of the rule as written. */
export type StepPlace = {
  readonly level: PlanContext['level'];
  readonly subjects: readonly SubjectKind[];
  readonly scopes: readonly (readonly string[])[];
};

/** A problem with an argument, and the argument's path. */
export type ArgumentProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/**
 * Something that a step can do (`uses: NAME`). Planning reads facts and returns the desired state of each target: the
 * missing changes, and, marked `already`, the targets that are already in the desired state.
 *
 * The schema marks string arguments that are conditions or templates (`condition()`, `template()`, `forgeText()`):
 * before `plan` is called, each condition is replaced by its result, and each template by its text.
 */
export type Action<Arguments = unknown> = {
  readonly name: string;
  readonly meaning: string;
  /** Example step in YAML; a test loads it. */
  readonly example: string;
  readonly arguments: z.ZodType<Arguments>;
  /** Supported kinds of subjects. */
  readonly of: readonly SubjectKind[];
  readonly needs: { readonly access: Access; readonly scopes: readonly ScopeCategory[] };
  /** Access that individual arguments require in addition to `needs`, by argument name (`locked`). */
  readonly moreAccess?: Readonly<Record<string, Access>>;
  /**
   * Whether the action is idempotent: if the desired state is already reached, it plans no change. Other actions (such
   * as sending a message or starting a workflow) are not executed again for a repeated delivery.
   */
  readonly describesState: boolean;
  /**
   * Set if only a memory tells that the change was made before, because the forge does not show it. Without a memory
   * that outlives the process, the action is refused.
   */
  readonly needsMemory?: true;
  /** Whether rule files of repositories may use the action without the operator's grant. */
  readonly granted: boolean;
  /**
   * For actions that keep a state of an issue or pull request: the ways in which values change by what the action writes
   * (`writes`), and those after which its plan may differ, apart from those of the facts in its arguments (`after`).
   * Absent: rules with `on: auto` must not use the action.
   */
  readonly ways?: { readonly writes: readonly Way[]; readonly after?: readonly Way[] };
  /**
   * Set if the head of the pull request must be read before any other fact, because the result applies to that head
   * commit.
   */
  readonly pinsHead?: true;
  /** Set if the changes of the action may prevent their subject from being merged (`Change.protects`). */
  readonly protects?: true;
  /**
   * Set if the action decides about a commit, which may be the head of several pull requests. The action's changes are
   * combined with those for the other pull requests, and are sent only if the head has not moved since before the first
   * fact was read.
   */
  readonly ofCommit?: CommitJudgement;
  /**
   * Set if the action's rule is re-evaluated while its conditions fail only because of checks or `mergeable`, since not
   * every forge sends events for these.
   */
  readonly awaitsChecks?: true;
  /**
   * Lowest level of rule files that may use the action, independently of grants: operator or organization. Absent: any
   * level.
   */
  readonly onlyFor?: 'operator' | 'organization';
  /** Audience of the action's applied changes on the dashboard; `administrators` also see failed changes. */
  readonly visibleTo: Exclude<Audience, 'operators'>;
  /**
   * How `reeve revert` reverts a change, by the id of the change's operation. Has one entry for every operation that
   * the action uses.
   */
  readonly inverses: Readonly<Record<string, Inverse>>;
  /**
   * Operation that creates a target with all its members in one request. Reverting the first change of the target
   * reverts the whole target.
   */
  readonly createsWhole?: string;
  /**
   * How `reeve drift --adopt` declares live state as a step of this action; undefined if there is nothing to declare.
   */
  readonly adoption: Adoption | undefined;
  /** Arguments that rule files of repositories may not use without a grant, as argument paths (`create`). */
  readonly operatorOnly?: readonly string[];
  /**
   * Arguments that rule files of repositories and organizations may use only with a grant of its own besides that of the
   * action: the name of that grant, by argument name (`closed`). The changes name it as `alsoNeeds`.
   */
  readonly ownGrants?: Readonly<Record<string, string>>;
  /** Returns load-time problems that the schema cannot express, each with the argument's path. */
  readonly examine?: (written: Arguments) => readonly ArgumentProblem[];
  /** Returns load-time problems that depend on the place of the step. */
  readonly examineAt?: (written: Arguments, place: StepPlace) => readonly ArgumentProblem[];
  /** Returns load-time problems for files below the operator level, independently of grants. */
  readonly examineBelowOperator?: (written: Arguments) => readonly ArgumentProblem[];
  /**
   * Returns whether a sweep also visits archived repositories for a step with these arguments. Nothing is written there
   * but what ends the archived state (`Change.unarchives`). Absent: it does not.
   */
  readonly visitsArchived?: (written: Arguments) => boolean;
  /** Returns the facts that `plan` will read, so that they can be requested in parallel beforehand. */
  readonly facts: (given: Arguments) => readonly FactRequest[];
  /** Plans the changes. Only reads, and is called again immediately before a write. */
  readonly plan: (given: Arguments, facts: Facts, context: PlanContext) => Promise<readonly Change[]>;
  /**
   * Returns the reason for a change, derived from the texts of the step. If undefined, the change's own reason is used.
   */
  readonly words?: (change: Change, written: unknown) => string | undefined;
  /** Returns the common input of changes that are sent as one request (`Change.joins`). */
  readonly join?: (changes: readonly Change[], facts: Facts) => Promise<AnyInput>;
  /**
   * Returns the input to record in runs: the request's input without parts that may be as large as a file. Absent: the
   * whole input is recorded.
   */
  readonly recorded?: (input: AnyInput) => AnyInput;
  /**
   * Returns why the forge's response to a write does not show the change, if the forge silently dropped part of the
   * request.
   */
  readonly confirm?: (change: Change, answer: unknown) => string | undefined;
  /**
   * Called with a response that does not show the change. Stores the actual result in the memory; returns true if a
   * retry cannot succeed.
   */
  readonly learn?: (change: Change, answer: unknown, context: PlanContext) => Promise<boolean>;
  /**
   * Called if the forge refused a change that has `reconsiders` with 422 or 500, and refused it again after a new plan.
   * If the refusal is a result of the step rather than a failure, stores the result in the memory and returns the
   * reason; otherwise returns undefined.
   */
  readonly refused?: (change: Change, context: PlanContext) => Promise<string | undefined>;
  /**
   * Returns parts of the result that only the response contains, such as the id of a commit. `reeve revert` compares
   * them with live state.
   */
  readonly made?: (change: Change, answer: unknown) => Readonly<Record<string, unknown>> | undefined;
  /**
   * Plans, from fresh facts, the changes that the results of sent changes make necessary. Changes that were planned
   * before are left out, because a failed change is not retried here.
   */
  readonly followUp?: (
    given: Arguments,
    facts: Facts,
    context: PlanContext,
    planned: readonly Change[],
  ) => Promise<readonly Change[]>;
  /**
   * Called with fresh facts after a change. Returns the problem with the result, if any: the change then counts as
   * failed, and the text is posted as a comment.
   */
  readonly misplaced?: (change: Change, facts: Facts) => Promise<string | undefined>;
  /**
   * Stores in the memory the values that cannot be read back. Called once the response to a write has shown the change.
   */
  readonly remember?: (change: Change, answer: unknown, context: PlanContext) => Promise<void>;
  /**
   * Stores in the memory the change that is about to be sent, immediately before the request, because the result cannot
   * be read back if the response is lost. Returns a function that removes this record; it is called if the forge
   * refuses the request.
   */
  readonly intend?: (change: Change, context: PlanContext) => Promise<() => Promise<void>>;
  /**
   * Arguments that not every forge supports, as paths (`hooks.name`; list indexes are omitted). Used by `reeve check`.
   */
  readonly requires?: Readonly<Record<string, Capability>>;
};

/** How to compare the changes of an action that decides about a commit. */
type CommitJudgement = {
  /** Returns whether the other pull requests with this head commit must be evaluated before the change is made. */
  readonly isBetter: (change: Change) => boolean;
  /** Returns the rank of a change; a larger rank is more favourable. */
  readonly rankOf: (change: Change) => number;
  /** Returns whether a change has the most favourable result. */
  readonly passes: (change: Change) => boolean;
  /** Returns the change with the result of the least favourable pull request, which is the holder. */
  readonly heldBackBy: (change: Change, holder: Holder) => Change;
  /** Returns the arguments to use for a step whose rule cannot be evaluated, derived from the arguments in the file. */
  readonly unjudged: (written: unknown) => unknown;
};

/** A pull request that holds back other pull requests with the same head commit. */
export type Holder = {
  readonly number: number;
  /** URL of the pull request's web page. */
  readonly url: string;
  /** The change that the rule planned for this pull request; absent if unknown. */
  readonly change: Change | undefined;
};

/** Defines a row of the table of actions; returns its argument. */
export function defineAction<Arguments>(action: Action<Arguments>): Action<Arguments> {
  return action;
}

/** Member of `command("NAME")` that an argument takes: names of labels, users, or the title of a milestone. */
export type CommandMember = 'args' | 'users' | 'milestone';

/** Kind of a string argument that is not plain text. */
export type Holds = 'condition' | 'template' | 'base-template' | 'forge-text' | `command-${CommandMember}`;

/**
 * Schema of an argument that is a condition: CEL text (or a bool) in the file, and its result when `plan` is called.
 */
export function condition(): z.ZodType<boolean> {
  // The cast is safe: rules/ replaces the text with its result before an action reads the argument.
  return z
    .union([z.string().min(1), z.boolean()])
    .meta({ holds: 'condition' satisfies Holds }) as unknown as z.ZodType<boolean>;
}

/** Purpose of a text, which determines how inserted values are sanitized; see `compileTemplate`. */
type TextPurpose = {
  /** A multi-line text, in which inserted values keep their line breaks. Absent: a single line. */
  readonly lines?: true;
  /** The text becomes part of git history, where mentions have no effect. */
  readonly commit?: true;
};

/** Schema of a string argument in which `${{ expression }}` inserts a value. */
export function template(purpose: TextPurpose = {}): z.ZodString {
  return z.string().meta({ holds: 'template' satisfies Holds, ...purpose });
}

/**
 * Schema of a string argument in which the action itself inserts the base branch of the pull request. No other
 * expressions are allowed.
 */
export function baseTemplate(): z.ZodString {
  return z
    .string()
    .min(1)
    .meta({ holds: 'base-template' satisfies Holds });
}

/**
 * Schema of a template for a title, text or commit message, in which forges look for references. References in inserted
 * values have no effect.
 */
export function forgeText(purpose: TextPurpose = {}): z.ZodString {
  return z.string().meta({ holds: 'forge-text' satisfies Holds, ...purpose });
}
