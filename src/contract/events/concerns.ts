import type { Family } from './event-families.ts';
import type { Event } from './events.ts';
import { readMember } from './payload-members.ts';

/** Head commit or base branch of the pull requests that an event affects without naming them. */
export type Concern = { readonly head: string } | { readonly base: string };

/** Path of the payload field that contains the commit id, by family. */
const commits: Partial<Readonly<Record<Family, readonly string[]>>> = {
  status: ['sha'],
  workflow_run: ['workflow_run', 'head_sha'],
  workflow_job: ['workflow_job', 'head_sha'],
  action_run_failure: ['run', 'commit_sha'],
  action_run_recover: ['run', 'commit_sha'],
  action_run_success: ['run', 'commit_sha'],
};

/** Returns whether events of a family can affect pull requests that they do not name. */
export function concernsPulls(family: Family): boolean {
  return family === 'push' || commits[family] !== undefined;
}

/** Returns which pull requests an event affects; undefined if none, for example for a push to a tag. */
export function concernOf({ family, payload, subject }: Event): Concern | undefined {
  if (family === undefined) return undefined;
  if (family === 'push') {
    return subject?.ref === undefined || subject.isTag ? undefined : { base: subject.ref };
  }
  const path = commits[family];
  if (path === undefined) return undefined;
  const commit = path.reduce<unknown>(readMember, payload);
  return typeof commit === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(commit)
    ? { head: commit }
    : undefined;
}
