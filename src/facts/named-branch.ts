import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { flag, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** A branch of the repository by its name. */
export const namedBranch = defineFact({
  name: 'named_branch',
  meaning:
    'The branch of this name, with the id of its newest commit (`commit`), whether it is protected, and whether the account of Reeve may push to it (`can_push`); null if it does not exist.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z.object({ name: text, commit: text, protected: flag, can_push: flag }).nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'branch',
  requests: 1,
  example: 'named_branch("release") != null && named_branch("release").protected',
  complete: (written) =>
    typeof written === 'object' && written !== null
      ? { name: '', protected: false, can_push: true, ...written }
      : written,
  async ask({ client, subject }, name = '') {
    try {
      const params = { ...repositoryParams(subject), branch: name };
      const branch = await client.call(operations.getBranch, { params });
      return {
        name: branch.name,
        commit: branch.commit?.id ?? '',
        protected: branch.protected ?? false,
        can_push: branch.user_can_push ?? true,
      };
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
      throw error;
    }
  },
});
