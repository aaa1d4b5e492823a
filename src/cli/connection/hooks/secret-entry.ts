import { createEntryScope, type SecretEntry } from '../../../server/receiver/secrets.ts';
import type { HookLocation } from './places.ts';

/**
 * Returns the entry of secrets whose values the hook of a place shall send: the first that may speak for everything the
 * hook hears. Undefined where none may.
 */
export function entryFor(location: HookLocation, entries: readonly SecretEntry[]): SecretEntry | undefined {
  return entries.find(({ scope }) => {
    const covers = createEntryScope(scope);
    if (location.level === 'system') return covers(undefined);
    // Any repository of an owner stands for all of them: a scope that names only some does not match this one.
    return covers(location.level === 'repository' ? location.name : `${location.name}/any-repository-of-it`);
  });
}
