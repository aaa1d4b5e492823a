/** What can be wrong with an expression, by code; rules/problem.ts says what each means. */
export type ExpressionProblemCode =
  | 'expression'
  | 'expression-type'
  | 'unknown-name'
  | 'unknown-member'
  | 'needs-has'
  | 'null-member'
  | 'subject'
  | 'level'
  | 'value'
  | 'pattern'
  | 'template';

/** One thing wrong with an expression; `start` and `end` are offsets in its text. */
export type ExpressionProblem = {
  readonly code: ExpressionProblemCode;
  readonly message: string;
  readonly suggestion?: string;
  readonly start: number;
  readonly end: number;
};

/** Returns a message with its remedy, if there is one. */
export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}; ${hint}`;
}
