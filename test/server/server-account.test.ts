import { describe, expect, it } from 'vitest';
import {
  nameOfAccount,
  recallServerAccount,
  rememberServerAccount,
} from '../../src/server/server-account.ts';
import { storeKinds } from '../support/store-kinds.ts';

describe.each(storeKinds)('the account of the server in $title', ({ make }) => {
  it('is remembered with its login; a store of an earlier version has only its id', async () => {
    const { store, close } = await make({});
    expect(await recallServerAccount(store)).toBeUndefined();
    await store.remember('account of the server', 7);
    const former = await recallServerAccount(store);
    await rememberServerAccount(store, { id: 7, login: 'reeve' });
    const latter = await recallServerAccount(store);
    await close();

    expect([former, latter]).toEqual([{ id: 7 }, { id: 7, login: 'reeve' }]);
    expect([former, latter].map((account) => account && nameOfAccount(account))).toEqual([
      'the account 7',
      '@reeve',
    ]);
  });
});
