import type { ForgeContext } from '../core/context.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import type { Signature } from '../git/commit.ts';
import { noReplyAddress } from './user.ts';

/**
 * Returns the signature, dated now, of commits and tags that the API writes for an account. Every reader of the repository
 * sees its address, so an account that is not public signs with its no-reply address.
 */
export function signatureOf({ clock }: Pick<ForgeContext, 'clock'>, user: UserRow): Signature {
  return {
    name: user.full_name || user.name,
    email: user.visibility === 'public' && user.email !== '' ? user.email : noReplyAddress(user),
    seconds: secondsOf(clock()),
    zone: '+0000',
  };
}
