import type { FactRequest } from '../facts/fact.ts';
import type { Knowledge } from './knowledge.ts';
import type { Finding } from './verdict.ts';

/** The arguments of a step: as written, and what becomes of them once the facts they name are known. */
export type StepArguments = {
  /** The `with` of the file, checked by the action's schema: conditions and templates are still text. */
  readonly written: unknown;
  /** The facts that its conditions and templates name. */
  readonly facts: readonly FactRequest[];
  /** Returns the arguments as the action takes them, or why they cannot be known. Never throws. */
  readonly resolve: (knowledge: Knowledge) => ResolvedArguments;
};

export type ResolvedArguments = {
  readonly findings: readonly Finding[];
} & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly cause?: Error }
);
