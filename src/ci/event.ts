import { readFileSync } from 'node:fs';
import type { Event } from '../contract/events/events.ts';
import { namedEvent } from '../contract/events/named-event.ts';
import { readMember } from '../contract/events/payload-members.ts';
import { messageOf } from '../platform/errors.ts';
import type { RunnerEnvironment } from './runner.ts';

/** What a workflow was started by. */
export type Started = {
  /** As the runner calls it: `push`, `pull_request`, `schedule`. */
  readonly name: string;
  /** Undefined for what is no event of a repository: a clock, a person. */
  readonly event: Event | undefined;
  /** True where what is checked out is the default branch, as far as the runner says. */
  readonly isOnDefaultBranch: boolean;
};

/** Names under which a runner gives what rules know by another one. */
const otherNames: Readonly<Record<string, string>> = {
  gollum: 'wiki',
  pull_request_review_comment: 'pull_request_review',
  pull_request_target: 'pull_request',
  registry_package: 'package',
};
/** What starts a workflow without anything having happened in the repository. */
const noEvents: ReadonlySet<string> = new Set(['schedule', 'workflow_dispatch', 'workflow_call']);
/** Events whose workflow runs on a branch of the repository itself. */
const ofBranches: ReadonlySet<string> = new Set(['push', ...noEvents]);

/** Reads the event of a workflow: on Gitea and Forgejo it is the payload of the webhook. Throws where it cannot be used. */
export function readStarted(environment: RunnerEnvironment): Started {
  const name = environment.GITHUB_EVENT_NAME ?? '';
  const path = environment.GITHUB_EVENT_PATH;
  if (name === '' || !path)
    throw new Error('the runner names no event: GITHUB_EVENT_NAME, GITHUB_EVENT_PATH');
  const payload = readPayload(path);
  // Workflows know one kind of comment; a forge says of which it is.
  const isOfPull = name === 'issue_comment' && payload.is_pull === true;
  const kind = isOfPull ? 'pull_request_comment' : (otherNames[name] ?? name);
  const event = noEvents.has(name) ? undefined : namedEvent(kind, payload);
  const branch = readMember(payload.repository, 'default_branch');
  return {
    name,
    event,
    isOnDefaultBranch: ofBranches.has(name) && environment.GITHUB_REF === `refs/heads/${String(branch)}`,
  };
}

function readPayload(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`the event of the runner cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error('the event of the runner is no map');
}
