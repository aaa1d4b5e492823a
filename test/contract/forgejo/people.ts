import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Organizations, accounts, tokens and teams. */
export const people: readonly Difference[] = [
  onForgejo(
    'Forgejo writes the number and the text of an activity as a JSON list, and refs without their beginning.',
    'activities > are what happens to issues',
    'activities > are what happens to branches, tags and releases',
    'activities > are what happens to pull requests',
    'activities > in feeds > of an account are its own, and those of repositories that it watches',
    'activities > in feeds > of private repositories are for those who can read them',
    'activities > in feeds > of a team are those of its repositories',
  ),
  onForgejo(
    'Forgejo shows a token for public things the private activities of its account.',
    'activities > in feeds > are hidden where the account wants so, and for tokens for public things',
  ),
  onForgejo(
    'Forgejo blocks accounts at other addresses (`/user/block/{username}`, `/orgs/{org}/block/{username}`), and with other effects.',
    'blocks > *',
  ),
  onForgejo(
    'Forgejo lists followers and keys without links.',
    'followers > are listed page by page, those that a caller cannot see left out',
    'public keys of accounts > come in pages',
  ),
  onForgejo('Forgejo has no badges.', 'badges > are given to accounts and taken by administrators'),
  onForgejo(
    'Forgejo leaves the name of the account out of the signer of a commit.',
    'keys of OpenPGP > give the signer of a commit',
  ),
  onForgejo(
    'Forgejo does not say when a key was used last.',
    'public keys of accounts > are added, shown, listed and removed',
  ),
  onForgejo(
    'Forgejo removes the metadata of a JPEG, and answers 500 for a file without any.',
    'avatars > are set to a file of image/jpeg, which their address answers',
  ),
  onForgejo(
    'Forgejo does not forbid a browser to guess the type of an avatar.',
    'avatars > come with a type that no browser guesses again',
  ),
  onForgejo(
    'Forgejo takes an address that begins with a dash.',
    'settings of an account > addresses > must be addresses',
  ),
  onForgejo(
    'Forgejo deletes addresses that the account does not have, and keeps the former primary address as a further one.',
    'settings of an account > addresses > are deleted, but for the primary one',
    'settings of an account > addresses > follow a new primary address',
  ),
  onForgejo(
    'Forgejo lets a token for public things read addresses and settings.',
    'settings of an account > are closed to strangers and to tokens for public things',
  ),
  onForgejo(
    'Forgejo shows everybody the starred and watched repositories of hidden organizations, and those that the account itself can no longer read.',
    'stars > A6: of a limited organization are shown to their giver alone',
    'stars > A6: of a private organization are shown to their giver alone',
    'stars > A6: of a repository that the giver can no longer read are gone',
  ),
  onForgejo(
    'Forgejo lets no account publish the membership of another, not even owners, and answers 403.',
    'organizations and accounts > members > hide and show themselves, others only for owners',
  ),
  onForgejo(
    'Forgejo finds only the teams that the caller is in, for owners too.',
    'organizations and accounts > members > are let go by owners, out of every team, but the last owner is not',
  ),
  onForgejo(
    'Forgejo lists the organizations of another account only where these are public.',
    'organizations and accounts > are listed as far as they may be seen',
  ),
  onForgejo(
    'Forgejo has no operation that removes all repositories of an organization at once, and answers 405.',
    'organizations and accounts > go once they own nothing',
  ),
  onForgejo(
    'Forgejo reads neither q nor visibility where it lists accounts for administrators.',
    'organizations and accounts > accounts > are found by name and listed for administrators',
  ),
  onForgejo(
    'Forgejo takes an empty login_name.',
    'organizations and accounts > accounts > are changed by administrators',
  ),
  onForgejo(
    'Forgejo has no operation for the token in use, and answers 404.',
    'organizations and accounts > accounts > learn of the token they use, and end it',
  ),
  onForgejo(
    'Forgejo makes tokens for a password alone, and answers 401 to a token in its place.',
    'accounts > tokens > hand out no wider scope than they have',
  ),
  onForgejo(
    'Forgejo answers 403 instead of 404 for a write to a private organization that the caller cannot see.',
    'accounts > organizations > are hidden from strangers when private, and refuse their settings with 403',
  ),
  onForgejo(
    'Forgejo clears the texts of an organization that an edit leaves out.',
    'accounts > organizations > change what an edit names and keep the rest',
  ),
  onForgejo(
    'Forgejo takes a token in the query without a warning.',
    'credentials > takes the query parameter token, with a warning',
    'credentials > takes the query parameter access_token, with a warning',
  ),
  onForgejo(
    'Forgejo answers 401 for Basic credentials without a colon.',
    'credentials > takes Basic without a colon for an anonymous caller',
  ),
  onForgejo(
    'Forgejo lets a token for public things read the hooks of its account.',
    'credentials > scopes of a token > keeps a token for public things from the hooks of its account',
  ),
  onForgejo(
    'Forgejo has no visibility of teams: the member is ignored and not answered.',
    'teams > are made with what they may do in each unit',
    'teams > with an unknown visibility are refused',
    'teams > change what an edit names, of the owners only what they are called',
    'teams > that are private show themselves to those who may see them',
    'teams > that are limited show themselves to those who may see them',
    'teams > that are public show themselves to those who may see them',
  ),
  onForgejo(
    'Forgejo sends no links with the teams of an organization.',
    'teams > are listed and found by members of the organization, with their number',
  ),
  onForgejo(
    'Forgejo answers 404 instead of 403 for the team of an organization that the caller is not in.',
    'teams > take members and let them go, and with the last team the organization',
  ),
  onForgejo(
    'Forgejo shows a restricted account no public repository that it has no access to, and answers 404.',
    'who may do what > A9: shows a restricted account what is public, itself, and what it was given access to, and nothing else',
  ),
];
