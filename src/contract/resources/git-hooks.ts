import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { flag, inRepository, list, resource, text } from '../shape.ts';

/** A program that git runs on each push. */
export const GitHook = resource({ name: text }, { is_active: flag, content: text });
export type GitHook = z.output<typeof GitHook>;

const path = '/repos/{owner}/{repo}/hooks/git';
const byName = z.object({ ...inRepository, id: text });
const inFile = 'routers/api/v1/repo/git_hook.go';
const refused =
  '403 unless the site administrator allows the account to edit git hooks; the embedded forge runs none.';

/** Fields shared by the git hook operations. */
const shared = { ...repositoryAs('admin'), switchedOff: 'must be allowed to edit Git hooks' } as const;

/** Git hooks: `pre-receive`, `update`, `post-receive`. */
export const gitHookOperations = {
  listGitHooks: defineOperation({
    id: 'git-hook.list',
    meaning: `Lists the git hooks of a repository. ${refused}`,
    method: 'GET',
    path,
    ...shared,
    success: 200,
    response: list(GitHook),
    errors: [403, 404],
    source: `${inFile} ListGitHooks`,
  }),
  getGitHook: defineOperation({
    id: 'git-hook.get',
    meaning: `Returns a git hook by name. ${refused}`,
    method: 'GET',
    path: `${path}/{id}`,
    ...shared,
    params: byName,
    success: 200,
    response: GitHook,
    errors: [403, 404],
    source: `${inFile} GetGitHook`,
  }),
  editGitHook: defineOperation({
    id: 'git-hook.edit',
    meaning: `Replaces the program of a git hook. ${refused}`,
    method: 'PATCH',
    path: `${path}/{id}`,
    ...shared,
    params: byName,
    body: z.strictObject({ content: text.optional() }),
    success: 200,
    response: GitHook,
    errors: [403, 404],
    source: `${inFile} EditGitHook`,
  }),
  deleteGitHook: defineOperation({
    id: 'git-hook.delete',
    meaning: `Empties a git hook. ${refused}`,
    method: 'DELETE',
    path: `${path}/{id}`,
    ...shared,
    params: byName,
    success: 204,
    errors: [403, 404],
    source: `${inFile} DeleteGitHook`,
  }),
} as const;
