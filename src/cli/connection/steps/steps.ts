import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { type Finding, type Report, wrong } from '../finding.ts';

/**
 * Thrown to end a run of steps, because later steps depend on the failed one. The finding has already been reported.
 */
export class Stopped extends Error {}

/** Runs steps and reports their findings. */
export interface Steps {
  /** Prints a finding. With `mustBeRight`, a `wrong` finding ends the run. */
  tell(id: string, finding: Finding, options?: { mustBeRight?: boolean }): void;
  /**
   * Runs a function that may fail because of the forge, the disk or the settings. A failure is reported and ends the
   * run.
   */
  attempt<Value>(id: string, run: () => Promise<Value>): Promise<Value>;
  /** Like `attempt`, but a failure is only reported, and undefined is returned. */
  attemptAlone<Value>(id: string, run: () => Promise<Value>): Promise<Value | undefined>;
  /** Exit status: 0 without problems, otherwise that of the first problem. */
  readonly status: number;
}

/** Creates a run of steps whose findings are added to a report. */
export function createSteps(report: Report): Steps {
  let status = 0;
  const fail = (id: string, error: unknown): void => {
    const known = error instanceof ReeveError;
    report.add(id, wrong(messageOf(error), adviceOf(error)));
    status ||= known ? error.exit : 1;
  };
  return {
    get status() {
      return status;
    },
    tell(id, finding, { mustBeRight = false } = {}) {
      report.add(id, finding);
      if (finding.state !== 'wrong') return;
      status ||= mustBeRight ? 2 : 1;
      if (mustBeRight) throw new Stopped();
    },
    async attempt(id, run) {
      try {
        return await run();
      } catch (error) {
        if (error instanceof Stopped) throw error;
        fail(id, error);
        throw new Stopped();
      }
    },
    async attemptAlone(id, run) {
      try {
        return await run();
      } catch (error) {
        if (error instanceof Stopped) throw error;
        fail(id, error);
        return undefined;
      }
    },
  };
}

/** Returns the remedy for a failure, based on its code. */
export function adviceOf(error: unknown): string {
  if (!(error instanceof ReeveError)) return 'this is a defect of Reeve: report it with this line';
  if (error.code === 'forge-unauthorized') return 'create a new access token on the forge and use it';
  if (error.code === 'forge-forbidden') {
    // `required scope(s): [write:issue]`, or `required scope(s), required=[write:issue], token scope=…`.
    const named =
      /required scope(?:\(s\))?(?:: |, required=)\[?([a-z]+:[a-z]+(?:[ ,]{1,2}[a-z]+:[a-z]+){0,9})/;
    const scopes = named.exec(error.message)?.[1];
    if (scopes !== undefined)
      return `create a token that also has the scope ${scopes}, and use it: a token cannot be changed`;
    return 'set the token of an account with access: an administrator of the repository, an owner of the organization (--admin-token-file, SETUP_TOKEN)';
  }
  if (error.code === 'forge-not-found') return 'check the spelling, and whether the account has access';
  if (error.exit === 3) return 'check whether the forge is running and can be reached from this machine';
  return error.retryable ? 'run the command again' : 'correct that and run the command again';
}
