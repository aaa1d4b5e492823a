import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import type { InputOf } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { at, timeoutMs } from './flow-names.ts';

/**
 * Merges a pull request of the repository as a person. After a push, a real server checks in the background whether the
 * pull request can be merged. Until the check is finished, the server responds with 405, so the merge is retried.
 */
export async function mergeByHand(
  person: Client,
  index: number,
  body: NonNullable<InputOf<typeof operations.mergePull>['body']>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      await person.call(operations.mergePull, { params: { ...at, index }, body });
      return;
    } catch (error) {
      if (!isUnchecked(error) || performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

function isUnchecked(error: unknown): boolean {
  return (
    error instanceof ReeveError && error.status === 405 && error.message.includes('Please try again later')
  );
}
