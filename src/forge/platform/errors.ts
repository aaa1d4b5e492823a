/**
 * How an error's body is written: `error` is `{message, url}`, `message` is `{message}` alone (account state, sudo),
 * `empty` has no body (a handful of 403s), `followed-by-null` is the first with junk behind it (`contents-ext`), `text` is
 * a bare JSON text, `capital` is `{Message}` (a forgotten spelling of Gitea).
 */
type ProblemForm = 'error' | 'message' | 'empty' | 'followed-by-null' | 'text' | 'capital';

/** Thrown by anything that answers a request to end it with this status. The message is for the caller to read. */
export class ForgeProblem extends Error {
  readonly status: number;
  readonly form: ProblemForm;
  readonly headers: Readonly<Record<string, string>>;
  /** More members of the body. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    message: string,
    form: ProblemForm = 'error',
    headers: Readonly<Record<string, string>> = {},
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ForgeProblem';
    this.status = status;
    this.form = form;
    this.headers = headers;
    this.details = details;
  }
}

/** Returns the value, or answers 404 where there is none. */
export function found<T>(value: T | null | undefined, message = 'not found'): T {
  if (value === undefined || value === null) throw new ForgeProblem(404, message);
  return value;
}

/** Returns the 403 without a body that a few operations answer where the role is missing. */
export function forbiddenInSilence(): ForgeProblem {
  return new ForgeProblem(403, '', 'empty');
}

/** Returns the body of an error as it goes over the wire, undefined where there is none. */
export function problemBody(problem: ForgeProblem, rootUrl: string): string | undefined {
  if (problem.form === 'empty') return undefined;
  if (problem.form === 'text') return JSON.stringify(problem.message);
  if (problem.form === 'capital') return JSON.stringify({ Message: problem.message });
  if (problem.form === 'message') return JSON.stringify({ ...problem.details, message: problem.message });
  const body = JSON.stringify({ message: problem.message, url: `${rootUrl}/api/swagger` });
  return problem.form === 'followed-by-null' ? `${body}null` : body;
}
