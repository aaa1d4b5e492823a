import type { Difference } from './differences.ts';

const on = ['forgejo 15.0'];

/** Conventions of the whole API: bodies, methods, pages. */
const conventions: readonly Difference[] = [
  {
    on,
    cases: ['conventions > answers JSON without a space before the charset and without a newline at the end'],
    reason: 'Forgejo ends every JSON body with a newline.',
  },
  {
    on,
    cases: [
      'conventions > answers HEAD of /version like GET, without a body',
      'conventions > answers HEAD of /repos/R like GET, without a body',
      'conventions > answers HEAD of /repos/R/labels like GET, without a body',
    ],
    reason: 'Forgejo routes HEAD to few operations and answers 405 for the others.',
  },
  {
    on,
    cases: [
      'conventions > a body > that has one name twice is refused with 422',
      'conventions > a body > that has one name twice in two spellings is refused with 422',
    ],
    reason: 'Forgejo takes the last of several members of one name, whatever its letter case.',
  },
  {
    on,
    cases: [
      'conventions > pages > of labels have a count and no links',
      'hooks > of the account are listed with count and links',
      'hooks > of an organization are listed with count and links',
      'hooks > of a repository are listed with a count and no links',
    ],
    reason: 'Forgejo reads limit on some lists only where page is named too; without page they come whole.',
  },
];

/** Hooks, their tests and what they send. */
const hooks: readonly Difference[] = [
  {
    on,
    cases: ['hooks > never show their secret or their authorization header'],
    reason: 'Forgejo shows the authorization header of a hook in clear.',
  },
  {
    on,
    cases: [
      'hooks > for ["pull_request"] hear ["pull_request","pull_request_assign","pull_request_comment","pull_request_label","pull_request_milestone","pull_request_review","pull_request_review_request","pull_request_sync"]',
    ],
    reason: 'Forgejo shows the one kind of reviews as three: approved, rejected and comment.',
  },
  {
    on,
    cases: [
      'hooks > with a long name are refused',
      'hooks > when edited > fall back to pushes and lose their filter where these are not named',
      'hooks > when edited > keep active, name and config where these are not named',
      'hooks > when edited > change one member of config alone, and lose a name that is emptied',
    ],
    reason: 'Forgejo has no names of hooks: the member is ignored and not answered.',
  },
  {
    on,
    cases: ['hooks > when edited > refuse a broken filter'],
    reason: 'Forgejo checks the branch filter where a hook is made, not where it is edited.',
  },
  {
    on,
    cases: [
      'test deliveries > are refused where the hook or every commit is missing, and of the default branch where the ref is',
    ],
    reason: 'Forgejo answers 404 for the test of a hook with a ref that is not there.',
  },
  {
    on,
    cases: ['hooks of every level > of the instance are for everything, or copied into new repositories'],
    reason:
      'Forgejo does not know the type of hooks of the instance as a filter, and lists those for everything.',
  },
  {
    on,
    cases: ['hooks of every level > each hear once of what happens in a repository below them'],
    reason: 'Forgejo does not say in a header which level of hook a delivery is from.',
  },
];

/** Runners and OAuth2 applications. */
const machines: readonly Difference[] = [
  {
    on,
    cases: ['runners > are a list with its length in the body, on every level'],
    reason: 'Forgejo answers runners as a bare list with its length in X-Total-Count.',
  },
  {
    on,
    cases: ['runners > are for the owner of their level alone', 'runners > are 404 where they are unknown'],
    reason: 'Forgejo has no operation that switches a runner off, and answers 405.',
  },
  {
    on,
    cases: ['runners > register with a token that stays the same, another on each level'],
    reason: 'Forgejo gives registration tokens by GET and answers 405 for POST.',
  },
  {
    on,
    cases: ['OAuth2 applications > show their secret once'],
    reason: 'Forgejo has no skip_secondary_authorization.',
  },
  {
    on,
    cases: [
      'OAuth2 applications > with an address of another kind are refused',
      'OAuth2 applications > with an address that is none are refused',
    ],
    reason: 'Forgejo does not look at the addresses of an OAuth2 application.',
  },
  {
    on,
    cases: ['OAuth2 applications > are closed to tokens for public things and to tokens without the scope'],
    reason: 'Forgejo lets a token for public things read OAuth2 applications.',
  },
];

/** Organizations and accounts. */
const people: readonly Difference[] = [
  {
    on,
    cases: ['organizations and accounts > members > hide and show themselves, others only for owners'],
    reason: 'Forgejo lets nobody publish the membership of another, owners neither, and answers 403.',
  },
  {
    on,
    cases: [
      'organizations and accounts > members > are let go by owners, out of every team, but the last owner is not',
    ],
    reason: 'Forgejo finds only the teams that the caller is in, for owners too.',
  },
  {
    on,
    cases: ['organizations and accounts > are listed as far as they may be seen'],
    reason: 'Forgejo lists the organizations of another account only where these are public.',
  },
  {
    on,
    cases: ['organizations and accounts > go once they own nothing'],
    reason:
      'Forgejo has no operation that removes all repositories of an organization at once, and answers 405.',
  },
  {
    on,
    cases: ['organizations and accounts > accounts > are found by name and listed for administrators'],
    reason: 'Forgejo reads neither q nor visibility where it lists accounts for administrators.',
  },
  {
    on,
    cases: ['organizations and accounts > accounts > are changed by administrators'],
    reason: 'Forgejo takes an empty login_name.',
  },
  {
    on,
    cases: ['organizations and accounts > accounts > learn of the token they use, and end it'],
    reason: 'Forgejo has no operation for the token in use, and answers 404.',
  },
];

/** What Forgejo 15 answers otherwise, as it was seen to. */
export const forgejoDifferences: readonly Difference[] = [...conventions, ...hooks, ...machines, ...people];
