import { operations } from '../contract/operations.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { flag } from '../contract/shape.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { indexParams, repositoryOf } from './where.ts';

/** Waits between reads. Their sum is the time after which a forge that still says false means a conflict. */
const waitsMs = [1_000, 2_000, 3_000, 4_100];
const settledMs = 10_000;

/** Whether the pull request can be merged without a conflict. */
export const mergeable = defineFact({
  name: 'pull_request.mergeable',
  meaning:
    'Whether the pull request can be merged without a conflict. A forge says false until it has computed this, and has no word for unknown: false is read again for over 10 s before it is believed. Drafts and closed pull requests are not mergeable.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: flag,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  isPolled: true,
  requests: 1,
  example: 'pull_request.mergeable',
  async ask(context) {
    const { client, subject, memory, clock, ask, anew } = context;
    const read = () => client.call(operations.getPull, { params: indexParams(subject) });
    let pull = anew ? await read() : await ask(requestOf(pullRequest));
    const sinceMs = firstSeenMs(pull, context);
    for (const waitMs of waitsMs) {
      if (pull.mergeable) break;
      if (pull.state === 'closed' || pull.draft || clock.monotonicMs() - sinceMs > settledMs) return false;
      // A stop ends the next request; without a clock that can wait, the first answer counts.
      if (clock.sleep === undefined) return false;
      await clock.sleep(waitMs).catch(() => {});
      pull = await read();
    }
    if (pull.mergeable) memory.drop(keyOf(pull, context));
    return pull.mergeable ?? false;
  },
});

/** Returns when this head was first seen not to be mergeable onto this base, so that later runs do not wait again. */
function firstSeenMs(pull: PullRequest, context: AskContext): number {
  const { memory, clock } = context;
  const key = keyOf(pull, context);
  // What this key holds was set below.
  const known = memory.get(key) as number | undefined;
  if (known !== undefined) return known;
  const now = clock.monotonicMs();
  if (!pull.mergeable) memory.set(key, now);
  return now;
}

function keyOf({ head, base }: PullRequest, { subject }: AskContext): string {
  return `${repositoryOf(subject).id}/mergeable/${subject.index}/${head?.sha}/${base?.sha}`;
}
