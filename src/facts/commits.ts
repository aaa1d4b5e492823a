import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { CommitEntry } from '../contract/resources/branches.ts';
import { flag, list, resource, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact } from './fact.ts';
import { comparePush } from './push-range.ts';
import { parseTrailers } from './trailers.ts';
import { indexParams } from './where.ts';

/** A commit with what is derived from it. */
const FactCommit = CommitEntry.extend({
  verification: resource({ verified: flag }, { reason: text }),
  trailers: list(z.object({ name: text, value: text })),
});
type FactCommit = z.output<typeof FactCommit>;

/** The commits of a pull request, or of a push, newest first. */
export const commits = defineFact({
  name: 'commits',
  meaning:
    'The commits of a pull request, or of a push, newest first. `author` and `committer` are accounts, null if no account has the address; `commit.author` has the name and address that the commit itself gives. `verification.verified` says whether the forge has verified the signature; `trailers` are the lines such as `Signed-off-by: …` at the end of the message.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(FactCommit),
  of: ['pull_request', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'commits.all(c, c.trailers.exists(t, t.name == "Signed-off-by"))',
  complete: (written) => (Array.isArray(written) ? written.map(completeCommit) : written),
  async ask(context: AskContext) {
    const { client, subject } = context;
    if (subject.kind === 'branch') {
      const pushed = await comparePush(context);
      if (pushed !== undefined && pushed.commits === undefined)
        throw new ReeveError('forge-not-found', 'the forge cannot list the commits of this push');
      return (pushed?.commits ?? []).map(toFactCommit);
    }
    const found: FactCommit[] = [];
    for await (const commit of client.items(operations.listPullCommits, { params: indexParams(subject) })) {
      found.push(toFactCommit(commit));
    }
    return found;
  },
});

function toFactCommit(commit: CommitEntry): FactCommit {
  const { verified, reason } = commit.commit?.verification ?? {};
  return {
    ...commit,
    // A forge that says nothing of a signature has verified none.
    verification: { verified: verified ?? false, reason: reason ?? '' },
    trailers: [...parseTrailers(commit.commit?.message ?? '')],
  };
}

/** A commit of a facts file may leave out what follows from its message. */
function completeCommit(written: unknown): unknown {
  if (typeof written !== 'object' || written === null || 'trailers' in written) return written;
  const known = CommitEntry.safeParse(written);
  return known.success ? { ...toFactCommit(known.data), ...written } : written;
}
