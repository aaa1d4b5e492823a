import { found } from '../core/errors.ts';
import { formatEventPayload, queueDelivery, wants } from '../events/emit.ts';
import { pushPayload } from '../events/payloads.ts';
import { hasNoBranch, resolveRef } from '../git/refs.ts';
import { defineHandlers } from '../http/handler.ts';
import { repositoryAddress, toPayloadCommit } from '../views/commit.ts';
import { toRepository } from '../views/repository.ts';
import { toUser } from '../views/user.ts';
import { findHook } from './hooks.ts';

/** Test deliveries: a push that never was, of the head of a ref. */
export const hookTestHandlers = defineHandlers({
  async testHook({ context, params, query, caller, ...target }) {
    const { repository, owner } = target;
    const hook = findHook({ context, repository, params });
    const git = context.git.open(repository.id);
    const given = query.ref ? await resolveRef(git, query.ref) : undefined;
    // A ref that is none counts as none given.
    const word = given && query.ref ? query.ref : `refs/heads/${repository.default_branch}`;
    const resolved = (await hasNoBranch(git)) ? undefined : (given ?? (await resolveRef(git, word)));
    const { commit } = found(resolved, 'repository is empty');
    // The baseline asks subscription and filter here too, so that 204 may mean that nothing was queued.
    if (!wants(hook, { type: 'push', ref: word })) return undefined;
    const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    const shape = toPayloadCommit(context.db, address, commit);
    const payload = pushPayload({
      ref: word,
      before: commit.id,
      after: commit.id,
      compareUrl: `${address.html}/compare/${commit.id}...${commit.id}`,
      commits: [shape],
      totalCommits: 1,
      headCommit: shape,
      repository: toRepository(context, repository, { owner, viewer: undefined, permission: 'none' }),
      sender: toUser(context, caller, undefined),
    });
    queueDelivery(context, hook.id, 'push', formatEventPayload('push', payload));
    context.deliveries.wake();
    return undefined;
  },
});
