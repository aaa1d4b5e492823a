import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** Operations that generate repositories from templates. */
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
      /** Default: the default branch of the template. */
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
} as const;
