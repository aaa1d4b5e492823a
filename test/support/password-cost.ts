import crypto, { type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

// A derivation takes 40 ms of processor time and 16 MB, and the tests make some thousand accounts. With this in place of
// `scrypt` it takes none; processes that a test starts derive as always, and so
// do tests that ask for it.

const { scrypt } = crypto;
const cheap: ScryptOptions = { N: 2, r: 1, p: 1 };

type Cost = { isReal: boolean };
const key = Symbol.for('reeve.password-cost');
const shared = crypto as { [key]?: Cost };
if (shared[key] === undefined) {
  const cost: Cost = { isReal: false };
  Object.assign(crypto, {
    [key]: cost,
    scrypt: (
      password: string,
      salt: Buffer,
      length: number,
      done: (error: Error | null, derived: Buffer) => void,
    ) => scrypt(password, salt, length, cost.isReal ? {} : cheap, done),
  });
  syncBuiltinESMExports();
}

/** Gives this worker the derivation that the program has, or takes it away again. */
export function setPasswordCost(kind: 'real' | 'none'): void {
  if (shared[key]) shared[key].isReal = kind === 'real';
}
