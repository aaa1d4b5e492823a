/**
 * One request that goes to both servers. In `path` and `body`, `$name` stands for a value that an earlier answer of the same
 * server gave, because numbers of rows differ between servers; a text that is nothing else keeps the type of the value.
 */
export type Step = {
  /** A person of the scenario, `admin`, or `anonymous` for a request without credentials. */
  readonly as: string;
  readonly method: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly body?: unknown;
  /** A body that is sent as it stands, with its content type; in place of `body`. */
  readonly raw?: { readonly type: string; readonly text: string };
  /** A file that is sent as a form, in the part of this name. */
  readonly upload?: { readonly part: string; readonly name: string; readonly text: string };
  /** Values of the answer that later steps use: by name, the path of members to it (`commit.sha`, `0.id`). */
  readonly keep?: Readonly<Record<string, string>>;
  /** Lists of the whole instance contain what others made: only rows with the names of this run are compared. */
  readonly isInstanceWide?: boolean;
  /** Rows of the same second come in any order. */
  readonly isUnordered?: boolean;
  /** What came before has its effects first: a real server notifies after its answer. */
  readonly isSettled?: boolean;
};

/** Returns a step; the arguments are in the order in which one reads a request. */
export function step(
  as: string,
  method: string,
  path: string,
  more: Omit<Step, 'as' | 'method' | 'path'> = {},
): Step {
  return { as, method, path, ...more };
}
