import type { Difference } from './differences.ts';

/** Differences of Gitea from the embedded forge. */
export const giteaDifferences: readonly Difference[] = [
  {
    on: ['gitea'],
    cases: ['issues > in a list > are filtered by q=ALPH'],
    reason: 'The search of a server with an index finds whole words; the embedded forge finds parts of them.',
  },
  {
    on: ['gitea'],
    cases: [
      'branches > may not be named "-x"',
      'branches > may not be named "--help"',
      'branches > may not be named "HEAD"',
    ],
    reason:
      'Gitea takes branches by the API that git itself does not make: names that begin with a dash, and HEAD. The embedded forge keeps them away from every git command.',
  },
  {
    on: ['gitea 1.27'],
    cases: ['runner registration tokens > are the same for GET and for POST'],
    reason: 'Gitea 1.27 gives the registration token of runners by POST alone.',
  },
  {
    on: ['gitea 1.26', 'gitea 1.27'],
    cases: ['git data > a tree > has its own id, not that of the commit'],
    reason: 'Gitea answers a tree with the id of the commit that it was asked by, before 1.28.',
  },
  {
    on: ['gitea'],
    cases: ['node info > counts accounts, issues and comments'],
    reason: 'Servers answer node info only where federation is switched on.',
  },
  {
    on: ['gitea', 'forgejo'],
    cases: [
      'templates > create repositories > without hooks if the caller is not an administrator of the template',
    ],
    reason:
      'A server copies the hooks of a template, with their secrets, for everyone who can read it: deliveries of the copy then look like those of the template.',
  },
  {
    on: ['gitea', 'forgejo'],
    cases: ['mirrors > of other repositories > leave no repository behind when they fail'],
    reason: 'A server keeps the empty repository of a migration that failed, and its name stays taken.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['tracked times > can be tracked for others by administrators'],
    reason: 'Gitea 1.26 answers 500 where times are asked of an account that is not there.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'contents > at a missing or invalid path or ref > are refused: /contents/.git/config returns 400',
      'contents > at a missing or invalid path or ref > are refused: /contents/a/.GIT/b returns 400',
    ],
    reason: 'Gitea 1.26 answers 500 to paths inside of `.git`.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['a review > keeps comments on lines, with their resolution and replies'],
    reason: 'Gitea 1.26 has no operation that answers a comment on a line.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'a branch protection > has all 36 fields, off or empty by default',
      'a branch protection > silently drops accounts that could not use the permission',
      'a branch protection > keeps the fields that an edit omits, replaces lists, and clears the bypass list when its flag is turned off',
      'merging into a protected branch > can be forced by administrators and the bypass list, only on request, unless overrides are blocked',
    ],
    reason: 'Protections of branches have no list of who may bypass them before Gitea 1.27.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'responses > of getRepository have every field of the contract',
      'responses > of listOrganizationRepositories have every field of the contract',
      'responses > of listOwnRepositories have every field of the contract',
      'responses > of listStarred have every field of the contract',
    ],
    reason:
      'Members of repositories that came with Gitea 1.27 are not there: `allow_merge_update` and its kind.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'responses > of listIssues have every field of the contract',
      'responses > of getIssue have every field of the contract',
    ],
    reason: 'Issues tell no projects before Gitea 1.27.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['hooks > never show their secret or their authorization header'],
    reason: 'Gitea 1.26 shows the authorization header of a hook to every account that may read the hook.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['hooks > when edited > refuse an invalid branch filter'],
    reason: 'Gitea 1.26 looks at a branch filter only when a hook is made.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['branches > are listed by newest commit first, page by page, filtered by `q`'],
    reason: 'The list of branches has no `q` before Gitea 1.27.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['a review > is evaluated again when the base of the pull request changes'],
    reason: 'Gitea 1.26 leaves reviews as they counted when a pull request is aimed at another branch.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'conventions > answers HEAD of /version like GET, without a body',
      'conventions > answers HEAD of /repos/R like GET, without a body',
      'conventions > answers HEAD of /repos/R/labels like GET, without a body',
    ],
    reason: 'Gitea 1.26 answers HEAD with 405.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'subscriptions > to a repository > end for everyone when it becomes private, and for a removed collaborator',
    ],
    reason: 'Gitea 1.26 keeps who watches a repository that becomes private.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'organizations and accounts > members > are removed from every team by owners; the last owner cannot be removed',
      'teams > are listed with a count and found by members of the organization',
    ],
    reason: 'The search of Gitea 1.26 for teams finds those of the caller alone, for owners too.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['organizations and accounts > are listed only to those who may see them'],
    reason: 'Gitea 1.26 tells the members of a private organization to strangers, too: an empty list.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['organizations and accounts > can be deleted once they own nothing'],
    reason: 'Gitea 1.26 has no operation that removes all repositories of an organization.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['organizations and accounts > accounts > can read and revoke the token they use'],
    reason: 'Gitea 1.26 has no operation for the token that is used.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'teams > are created with a permission per unit',
      'teams > are refused with an unknown visibility',
      'teams > change the fields that an edit contains, and the Owners team only its description',
      'teams > that are private are visible only to the permitted roles',
      'teams > that are limited are visible only to the permitted roles',
      'teams > that are public are visible only to the permitted roles',
      'teams > add and remove members, who leave the organization with their last team',
    ],
    reason: 'Teams have no visibility before Gitea 1.27: their members and owners see them.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['accounts > tokens > cannot create a token with a wider scope than their own'],
    reason: 'Gitea 1.26 lets a token make another with wider scopes.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'OAuth2 applications > are refused with a redirect URI of another scheme',
      'OAuth2 applications > are refused with an invalid redirect URI',
    ],
    reason: 'Gitea 1.26 takes every text for an address of an OAuth2 application.',
  },
];
