import type { ForgeContext } from '../core/context.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import type { Signature } from '../git/commit.ts';
import { noReplyAddress } from './user.ts';

/**
 * Returns the signature, dated now, of commits and tags that the API writes for an account. Every reader of the repository
 * sees its address, so an account that is not public, or hides its address, signs with its no-reply address.
 */
export function signatureOf({ clock }: Pick<ForgeContext, 'clock'>, user: UserRow): Signature {
  const isShown = user.visibility === 'public' && user.email !== '' && user.keep_email_private === 0;
  return {
    name: user.full_name || user.name,
    email: isShown ? user.email : noReplyAddress(user),
    seconds: secondsOf(clock()),
    zone: '+0000',
  };
}
