import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Organizations, accounts, tokens and teams. */
export const people: readonly Difference[] = [
  onForgejo(
    'Forgejo states the least permission among the units of a team: `read` for a member who may push, and `write` for one who may only write issues.',
    'write access through teams > is not stated to administrators, whatever team they are in',
  ),
  onForgejo(
    'Forgejo encodes the number and the text of an activity as a JSON list, and omits the prefix of refs.',
    'activities > record what happens to issues',
    'activities > record what happens to branches, tags and releases',
    'activities > record what happens to pull requests',
    'activities > feeds > of an account include its own activities and those of repositories that it watches',
    'activities > feeds > of private repositories are shown only to accounts that can read them',
    'activities > feeds > of a team include those of its repositories',
  ),
  onForgejo(
    'Forgejo shows private activities of the account to a token limited to public resources.',
    'activities > feeds > are hidden if the account hides them, and show no private repositories to tokens limited to public resources',
  ),
  onForgejo(
    'Forgejo blocks accounts at other paths (`/user/block/{username}`, `/orgs/{org}/block/{username}`), and with other effects.',
    'blocks > *',
  ),
  onForgejo(
    'Forgejo lists followers and keys without links.',
    'followers > are listed page by page, without those that the caller cannot see',
    'public keys of accounts > come in pages',
  ),
  onForgejo('Forgejo has no badges.', 'badges > are granted to and removed from accounts by administrators'),
  onForgejo(
    'Forgejo omits the account name from the signer of a commit.',
    'OpenPGP keys > identify the signer of a commit',
  ),
  onForgejo(
    'Forgejo does not return when a key was last used.',
    'public keys of accounts > are added, shown, listed and removed',
  ),
  onForgejo(
    'Forgejo removes the metadata of a JPEG, and returns 500 for a file without metadata.',
    'avatars > can be set to image/jpeg, which is then served at their URL',
  ),
  onForgejo(
    'Forgejo does not forbid content type sniffing of an avatar.',
    'avatars > are served without content type sniffing',
  ),
  onForgejo(
    'Forgejo accepts an email address that begins with a dash.',
    'account settings > email addresses > are validated',
  ),
  onForgejo(
    'Forgejo accepts the deletion of email addresses that the account does not have, and keeps the former primary address as an additional one.',
    'account settings > email addresses > can be deleted, except the primary one',
    'account settings > email addresses > replace the primary address and free the old one',
  ),
  onForgejo(
    'Forgejo lets a token limited to public resources read email addresses and settings.',
    'account settings > are closed to strangers and to tokens limited to public resources',
  ),
  onForgejo(
    'Forgejo shows the starred and watched repositories of hidden organizations to everyone, including repositories that the account itself can no longer read.',
    'stars > A6: of a limited organization are shown only to the account that gave them',
    'stars > A6: of a private organization are shown only to the account that gave them',
    'stars > A6: are dropped once the account can no longer read the repository',
  ),
  onForgejo(
    'Forgejo lets no account publish the membership of another account, not even owners, and returns 403.',
    'organizations and accounts > members > can publish and hide their own membership; owners can do so for others',
  ),
  onForgejo(
    'Forgejo finds only the teams of the caller, even for owners.',
    'organizations and accounts > members > are removed from every team by owners; the last owner cannot be removed',
  ),
  onForgejo(
    'Forgejo lists only the public organizations of another account.',
    'organizations and accounts > are listed only to those who may see them',
  ),
  onForgejo(
    'Forgejo has no operation that deletes all repositories of an organization at once, and returns 405.',
    'organizations and accounts > can be deleted once they own nothing',
  ),
  onForgejo(
    'Forgejo ignores q and visibility when it lists accounts for administrators.',
    'organizations and accounts > accounts > are found by name, and listed for administrators',
  ),
  onForgejo(
    'Forgejo accepts an empty login_name.',
    'organizations and accounts > accounts > are changed by administrators',
  ),
  onForgejo(
    'Forgejo has no operations for the token in use, and returns 404.',
    'organizations and accounts > accounts > can read and revoke the token they use',
  ),
  onForgejo(
    'Forgejo creates tokens only with a password, and returns 401 for a token in place of the password.',
    'accounts > tokens > cannot create a token with a wider scope than their own',
  ),
  onForgejo(
    'Forgejo returns 403 instead of 404 for a write to a private organization that the caller cannot see.',
    'accounts > organizations > are hidden from strangers when private, although edits by strangers are refused with 403',
  ),
  onForgejo(
    'Forgejo clears the text fields of an organization that an edit omits.',
    'accounts > organizations > keep the fields that an edit omits',
  ),
  onForgejo(
    'Forgejo accepts a token in the query without a warning.',
    'credentials > accept the query parameter token, with a warning',
    'credentials > accept the query parameter access_token, with a warning',
  ),
  onForgejo(
    'Forgejo returns 401 for Basic credentials without a colon.',
    'credentials > with a Basic value without a colon count as anonymous',
  ),
  onForgejo(
    'Forgejo lets a token limited to public resources read the hooks of its account.',
    'credentials > scopes of a token > hide the hooks of the account from a token limited to public resources',
  ),
  onForgejo(
    'Forgejo has no visibility of teams: it ignores and omits the field.',
    'teams > are created with a permission per unit',
    'teams > are refused with an unknown visibility',
    'teams > change the fields that an edit contains, and the Owners team only its description',
    'teams > that are private are visible only to the permitted roles',
    'teams > that are limited are visible only to the permitted roles',
    'teams > that are public are visible only to the permitted roles',
  ),
  onForgejo(
    'Forgejo sends no links with the teams of an organization.',
    'teams > are listed with a count and found by members of the organization',
  ),
  onForgejo(
    'Forgejo returns 404 instead of 403 for a team of an organization that the caller does not belong to.',
    'teams > add and remove members, who leave the organization with their last team',
  ),
  onForgejo(
    'Forgejo hides public repositories from a restricted account without access to them, and returns 404.',
    'access by role > A9: shows a restricted account only public repositories, itself, and what it was granted access to',
  ),
];
