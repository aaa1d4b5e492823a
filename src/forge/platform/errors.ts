/**
 * Format of an error body: `error` is `{message, url}`; `message` is only `{message}` (account state, sudo); `empty`
 * has no body (a few 403s); `followed-by-null` is the `error` format followed by `null` (`contents-ext`); `text` is a
 * bare JSON string; `capital` is `{Message}` (a capitalized key in Gitea).
 */
type ProblemForm = 'error' | 'message' | 'empty' | 'followed-by-null' | 'text' | 'capital';

/** Thrown to end a request with this status. The message is sent to the caller. */
export class ForgeProblem extends Error {
  readonly status: number;
  readonly form: ProblemForm;
  readonly headers: Readonly<Record<string, string>>;
  /** Additional fields of the body. */
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

/** Returns the value, or ends the request with 404 if it is absent. */
export function found<T>(value: T | null | undefined, message = 'not found'): T {
  if (value === undefined || value === null) throw new ForgeProblem(404, message);
  return value;
}

/** Returns a 403 without a body, which a few operations send if the caller lacks the role. */
export function forbiddenInSilence(): ForgeProblem {
  return new ForgeProblem(403, '', 'empty');
}

/** Returns the response body of an error; undefined if the error has none. */
export function problemBody(problem: ForgeProblem, rootUrl: string): string | undefined {
  if (problem.form === 'empty') return undefined;
  if (problem.form === 'text') return JSON.stringify(problem.message);
  if (problem.form === 'capital') return JSON.stringify({ Message: problem.message });
  if (problem.form === 'message') return JSON.stringify({ ...problem.details, message: problem.message });
  const body = JSON.stringify({ message: problem.message, url: `${rootUrl}/api/swagger` });
  return problem.form === 'followed-by-null' ? `${body}null` : body;
}
