import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isTestRepository,
  recallTestRepositories,
  rememberTestRepository,
} from '../../src/server/test-repositories.ts';
import { type MadeStore, storeKinds } from '../support/store-kinds.ts';

describe.each(storeKinds)('test repositories in $title', ({ make }) => {
  let made: MadeStore;
  beforeEach(async () => {
    made = await make({});
  });
  afterEach(() => made.close());
  const at = (id: number, name: string) => ({ id, owner: 'acme', name });

  it('are known before the forge has created them, and in another process', async () => {
    await rememberTestRepository(made.store, { name: 'acme/reeve-try-1' });
    const other = await made.open('reader');

    expect(await isTestRepository(other, at(7, 'reeve-try-1'))).toBe(true);
    await other.close();
  });

  it('are no others: neither one with such a name, nor a later one with the same name', async () => {
    await rememberTestRepository(made.store, { name: 'acme/reeve-try-1' });
    await rememberTestRepository(made.store, { name: 'acme/reeve-try-1', id: 7 });
    const answers = [
      at(7, 'reeve-try-1'),
      at(8, 'reeve-try-1'),
      at(7, 'reeve-try-2'),
      { ...at(7, 'reeve-try-1'), owner: 'eve' },
      at(7, 'demo'),
    ].map((repository) => isTestRepository(made.store, repository));

    expect(await Promise.all(answers)).toEqual([true, false, false, false, false]);
  });

  it('are the newest 50', async () => {
    for (let id = 1; id <= 60; id += 1)
      await rememberTestRepository(made.store, { name: `acme/reeve-try-${id}`, id });

    const known = await recallTestRepositories(made.store);
    expect(known.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, index) => 60 - index));
  });
});
