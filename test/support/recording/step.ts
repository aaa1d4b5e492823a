import type { HookName } from './fixture.ts';

/** One thing that is done on a forge, and what it is known to bring. */
export type Step = {
  /** In kebab case; with the kind it names the fixtures. */
  readonly name: string;
  /** The kinds that are waited for at each hook; one named twice comes twice. More may come and is recorded. */
  readonly expects: readonly string[];
  /** The hooks that hear it; default: repository, organization and system. */
  readonly hooks?: readonly HookName[];
  /** Keeps each hook's delivery, where otherwise the first of those with the same bytes stands for all. */
  readonly keepsAll?: boolean;
  /** Seconds to wait, where the server takes its time; default as the recording says. */
  readonly timeoutSeconds?: number;
  perform(): Promise<void>;
};

/** A part of the recording: what it is about, and its steps in order. Later steps build on earlier ones. */
export type Topic = { readonly name: string; readonly steps: readonly Step[] };
