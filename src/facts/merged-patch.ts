import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { int, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { indexParams } from './where.ts';

/** Maximum bytes of a patch whose text is kept. */
const maxPatchBytes = 1_048_576;

/** The changes of a merged pull request as a patch. */
export const mergedPatch = defineFact({
  name: 'merged_patch',
  meaning:
    'The changes of the merged pull request as one unified diff that git can apply, with the content of binary files, and its size in bytes; null before the merge. `text` is null above 1 MiB.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z.object({ text: text.nullable(), size: int }).nullable(),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'merged_patch != null && merged_patch.size < 100000',
  async ask({ client, subject, ask }) {
    const { merged, additions, deletions } = await ask(requestOf(pullRequest));
    if (!merged) return null;
    // Every changed line has at least its sign and its end: so many need not be read to know that they are too many.
    const leastBytes = 2 * ((additions ?? 0) + (deletions ?? 0));
    if (leastBytes > maxPatchBytes) return { text: null, size: leastBytes };
    const params = { ...indexParams(subject), diffType: 'diff' } as const;
    try {
      const patch = await client.call(operations.getPullDiff, { params, query: { binary: true } });
      const size = Buffer.byteLength(patch);
      return { text: size > maxPatchBytes ? null : patch, size };
    } catch (error) {
      // The client reads no longer answer than its limit, which is far above that of a patch.
      if (!(error instanceof ReeveError) || error.code !== 'forge-unexpected') throw error;
      return { text: null, size: maxPatchBytes + 1 };
    }
  },
});
