import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** Repositories and what they begin from: templates, and the repositories that forks come from. */
export const generateOperations = {
  generateRepository: defineOperation({
    id: 'repository.generate',
    meaning:
      'Creates a repository from a template: the files of its default branch as one commit, and what else is chosen; at least one item is needed. Names in files that `.gitea/template` lists are expanded. The embedded forge copies webhooks for administrators of the template alone.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/generate',
    ...codeAs('reader'),
    body: z.strictObject({
      /** Account or organization of the new repository. */
      owner: text.optional(),
      name: text,
      /** Default: that of the template. */
      default_branch: text.optional(),
      description: text.optional(),
      private: flag.optional(),
      git_content: flag.optional(),
      topics: flag.optional(),
      git_hooks: flag.optional(),
      webhooks: flag.optional(),
      avatar: flag.optional(),
      labels: flag.optional(),
      protected_branch: flag.optional(),
    }),
    success: 201,
    response: Repository,
    errors: [403, 404, 409, 422],
    source: 'routers/api/v1/repo/repo.go Generate',
  }),
  mergeUpstream: defineOperation({
    id: 'branch.merge-upstream',
    meaning:
      'Brings a branch of a fork up to date with the branch of the same name, or the default branch, of the repository that it comes from. 400 where the branches have diverged and `ff_only` is set; 409 where they conflict.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/merge-upstream',
    ...codeAs('writer'),
    body: z.strictObject({ branch: text.optional(), ff_only: flag.optional() }),
    success: 200,
    /** `up-to-date`, `fast-forward` or `merge`. */
    response: resource({ merge_type: text }, {}),
    errors: [400, 403, 404, 409, 423],
    archived: 'before-role',
    baseline: { 'a repository that is no fork': 500, conflict: 500 },
    source: 'routers/api/v1/repo/branch.go MergeUpstream',
  }),
} as const;
