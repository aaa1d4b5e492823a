import { createHash } from 'node:crypto';
import type { QueueKey } from '../../store/queue-rows.ts';
import type { QueueAttempt } from './state.ts';

/** Returns the id of the run that records an update or a merge. */
export function runIdOfAttempt({ kind, number, at }: QueueAttempt, place: QueueKey): string {
  return runIdOfRequest(place, `${kind} ${number} ${at}`);
}

/** Returns the id of the run that records a request of a queue, in the form of a UUID: the same for the same request. */
export function runIdOfRequest({ repositoryId, base }: QueueKey, request: string): string {
  const hex = createHash('sha256').update(`${repositoryId} ${base} ${request}`).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
