import { gitHookOperations } from '../../contract/resources/git-hooks.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';

/**
 * Refuses an operation on git hooks, which are programs that run as the forge's account. Gitea disables them
 * (`DISABLE_GIT_HOOKS`) and responds with 403 to every caller. Here they cannot be enabled, because an administrator's
 * token would give shell access to the host. The guards of the operations already refuse every caller before the body
 * is read; this is a second safeguard.
 */
function refuse(): never {
  throw new ForgeProblem(403, gitHookOperations.editGitHook.switchedOff);
}

/** Refuses every operation on git hooks. */
export const gitHookHandlers = defineHandlers({
  listGitHooks: refuse,
  getGitHook: refuse,
  editGitHook: refuse,
  deleteGitHook: refuse,
});
