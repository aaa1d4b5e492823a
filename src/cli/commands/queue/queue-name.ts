import { ReeveError } from '../../../platform/errors.ts';

/** Reads `OWNER/REPO`. Throws `usage`. */
export function readQueueName(text: string): { readonly repository: string } {
  if (!/^[^/\s#]+\/[^/\s#]+$/.test(text))
    throw new ReeveError('usage', `"${text}" names no repository: write OWNER/REPO`);
  return { repository: text };
}

/** Reads `OWNER/REPO#NUMBER`. Throws `usage`. */
export function readQueuedPull(text: string): { readonly repository: string; readonly number: number } {
  const [, repository, number] = /^([^/\s#]+\/[^/\s#]+)#([1-9]\d{0,9})$/.exec(text) ?? [];
  if (repository === undefined)
    throw new ReeveError('usage', `"${text}" names no pull request: write OWNER/REPO#NUMBER`);
  return { repository, number: Number(number) };
}

/** Reads a position in a queue, from 1. Throws `usage`. */
export function readPosition(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new ReeveError('usage', `"${text}" is no position: write a number, 1 is the first`);
  return Number(text);
}
