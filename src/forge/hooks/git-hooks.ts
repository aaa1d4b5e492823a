import { ForgeProblem } from '../core/errors.ts';
import { defineHandlers } from '../http/handler.ts';

/**
 * Git hooks are programs that run as the account of the forge. The baseline leaves them switched off (`DISABLE_GIT_HOOKS`) and
 * answers 403 to every caller; here they cannot be switched on: an administrator's token would be a shell on the host.
 */
function refuse(): never {
  throw new ForgeProblem(403, 'must be allowed to edit Git hooks');
}

/** What answers for git hooks: after the guards of the repository, a refusal. */
export const gitHookHandlers = defineHandlers({
  listGitHooks: refuse,
  getGitHook: refuse,
  editGitHook: refuse,
  deleteGitHook: refuse,
});
