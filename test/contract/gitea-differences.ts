import type { Difference } from './differences.ts';

/** Differences of Gitea from the embedded forge. */
export const giteaDifferences: readonly Difference[] = [
  {
    on: ['gitea'],
    cases: ['issues > in a list > are filtered by q=ALPH'],
    reason:
      'The search of a server with an index finds whole words; the embedded forge also finds parts of words.',
  },
  {
    on: ['gitea'],
    cases: [
      'branches > may not be named "-x"',
      'branches > may not be named "--help"',
      'branches > may not be named "HEAD"',
    ],
    reason:
      "Gitea's API accepts branch names that git itself refuses: HEAD and names that begin with a dash. The embedded forge never passes such names to a git command.",
  },
  {
    on: ['gitea 1.27'],
    cases: ['runner registration tokens > are the same for GET and for POST'],
    reason: 'Gitea 1.27 returns the registration token of runners only for POST.',
  },
  {
    on: ['gitea 1.26', 'gitea 1.27'],
    cases: ['git data > a tree > has its own id, not that of the commit'],
    reason: 'Before 1.28, Gitea returns a tree with the id of the requested commit.',
  },
  {
    on: ['gitea'],
    cases: ['node info > counts accounts, issues and comments'],
    reason: 'Servers return node info only if federation is enabled.',
  },
  {
    on: ['gitea', 'forgejo'],
    cases: [
      'templates > create repositories > without hooks if the caller is not an administrator of the template',
    ],
    reason:
      'A server copies the hooks of a template, including their secrets, for everyone who can read the template, so deliveries of the copy look like deliveries of the template.',
  },
  {
    on: ['gitea', 'forgejo'],
    cases: ['mirrors > of other repositories > leave no repository behind when they fail'],
    reason: 'A server keeps the empty repository of a failed migration, and its name stays taken.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['tracked times > can be tracked for others by administrators'],
    reason: 'Gitea 1.26 returns 500 for the tracked times of an unknown account.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'contents > at a missing or invalid path or ref > are refused: /contents/.git/config returns 400',
      'contents > at a missing or invalid path or ref > are refused: /contents/a/.GIT/b returns 400',
    ],
    reason: 'Gitea 1.26 returns 500 for paths inside `.git`.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['a review > keeps comments on lines, with their resolution and replies'],
    reason: 'Gitea 1.26 has no operation that replies to a comment on a line.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'a branch protection > has all 36 fields, off or empty by default',
      'a branch protection > silently drops accounts that could not use the permission',
      'a branch protection > keeps the fields that an edit omits, replaces lists, and clears the bypass list when its flag is turned off',
      'merging into a protected branch > can be forced by administrators and the bypass list, only on request, unless overrides are blocked',
    ],
    reason: 'Before Gitea 1.27, branch protections have no bypass list.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'responses > of getRepository have every field of the contract',
      'responses > of listOrganizationRepositories have every field of the contract',
      'responses > of listOwnRepositories have every field of the contract',
      'responses > of listStarred have every field of the contract',
    ],
    reason: 'Before Gitea 1.27, repositories lack fields such as `allow_merge_update`.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'responses > of listIssues have every field of the contract',
      'responses > of getIssue have every field of the contract',
    ],
    reason: 'Before Gitea 1.27, issues have no projects field.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['hooks > never show their secret or their authorization header'],
    reason: 'Gitea 1.26 shows the authorization header of a hook to every account that may read the hook.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['hooks > when edited > refuse an invalid branch filter'],
    reason: 'Gitea 1.26 validates a branch filter only when a hook is created.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['branches > are listed by newest commit first, page by page, filtered by `q`'],
    reason: 'Before Gitea 1.27, the list of branches has no parameter `q`.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['a review > is evaluated again when the base of the pull request changes'],
    reason: 'Gitea 1.26 does not evaluate reviews again when the base of a pull request changes.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'conventions > answers HEAD of /version like GET, without a body',
      'conventions > answers HEAD of /repos/R like GET, without a body',
      'conventions > answers HEAD of /repos/R/labels like GET, without a body',
    ],
    reason: 'Gitea 1.26 returns 405 for HEAD.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'subscriptions > to a repository > end for everyone when it becomes private, and for a removed collaborator',
    ],
    reason: 'Gitea 1.26 keeps the watchers of a repository that becomes private.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'organizations and accounts > members > are removed from every team by owners; the last owner cannot be removed',
      'teams > are listed with a count and found by members of the organization',
    ],
    reason: 'The team search of Gitea 1.26 finds only the teams of the caller, even for owners.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['organizations and accounts > are listed only to those who may see them'],
    reason: 'Gitea 1.26 returns an empty list of members of a private organization to strangers.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['organizations and accounts > can be deleted once they own nothing'],
    reason: 'Gitea 1.26 has no operation that deletes all repositories of an organization.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['organizations and accounts > accounts > can read and revoke the token they use'],
    reason: 'Gitea 1.26 has no operations for the token in use.',
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
    reason: 'Before Gitea 1.27, teams have no visibility: they are visible to their members and to owners.',
  },
  {
    on: ['gitea 1.26'],
    cases: ['accounts > tokens > cannot create a token with a wider scope than their own'],
    reason: 'Gitea 1.26 lets a token create another token with wider scopes.',
  },
  {
    on: ['gitea 1.26'],
    cases: [
      'OAuth2 applications > are refused with a redirect URI of another scheme',
      'OAuth2 applications > are refused with an invalid redirect URI',
    ],
    reason: 'Gitea 1.26 accepts any text as the redirect URI of an OAuth2 application.',
  },
];
