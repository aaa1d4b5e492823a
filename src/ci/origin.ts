import type { Client } from '../client/client.ts';
import type { Family } from '../contract/events/event-families.ts';
import type { Event } from '../contract/events/events.ts';
import { readMember } from '../contract/events/payload-members.ts';
import { operations } from '../contract/operations.ts';
import { messageOf } from '../platform/errors.ts';

/** Where the code that an event is about comes from. `reason`: why that cannot be told. */
type CodeOrigin =
  | { readonly from: 'repository' | 'fork' }
  | { readonly from: 'unknown'; readonly reason: string };

/** Families of events that nothing in a fork causes. */
const ofRepository: ReadonlySet<Family> = new Set([
  'push',
  'create',
  'delete',
  'fork',
  'repository',
  'release',
  'wiki',
  'package',
]);

/** Families whose subject may be a pull request without the payload saying whose: it is read from the forge. */
const ofConversation: ReadonlySet<Family> = new Set(['issues', 'issue_comment', 'pull_request_comment']);

/**
 * Returns where the code that an event is about comes from: of a pull request, whether its head is in another repository. A
 * comment is looked up on the forge. What cannot be told, or read, is `unknown`: the caller refuses that as well.
 */
export async function readOrigin(client: Client, event: Event): Promise<CodeOrigin> {
  const { family, payload } = event;
  if (family === undefined) return unknown('the kind of event is not known');
  if (ofRepository.has(family)) return { from: 'repository' };
  if (ofConversation.has(family)) return readConversation(client, event);
  if (family === 'workflow_run') {
    const head = readMember(readMember(payload.workflow_run, 'head_repository'), 'id');
    return compare(head, event.repository?.id);
  }
  if (payload.pull_request === undefined) return unknown(`${family} does not say which code it is about`);
  return originOfPull(payload.pull_request);
}

async function readConversation(client: Client, { repository, subject }: Event): Promise<CodeOrigin> {
  if (repository === undefined || subject?.index === undefined)
    return unknown('the event names no issue or pull request');
  const params = { owner: repository.owner, repo: repository.name, index: subject.index };
  try {
    const issue = await client.call(operations.getIssue, { params });
    if (!issue.pull_request) return { from: 'repository' };
    return originOfPull(await client.call(operations.getPull, { params }));
  } catch (error) {
    return unknown(messageOf(error));
  }
}

/** A head whose repository is gone may have been a fork: that cannot be known. */
function originOfPull(pull: unknown): CodeOrigin {
  const idOf = (side: string): unknown => readMember(readMember(readMember(pull, side), 'repo'), 'id');
  return compare(idOf('head'), idOf('base'));
}

function compare(head: unknown, base: unknown): CodeOrigin {
  if (typeof head !== 'number' || typeof base !== 'number')
    return unknown('the repository of its head is not named');
  return { from: head === base ? 'repository' : 'fork' };
}

function unknown(reason: string): CodeOrigin {
  return { from: 'unknown', reason };
}
