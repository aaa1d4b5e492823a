import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Conventions, hooks, runners, and fields of answers. */
export const surface: readonly Difference[] = [
  onForgejo(
    'Forgejo reads the body of a new token before it refuses a token.',
    'answers > of tokens refuse a token before they read the body',
  ),
  onForgejo(
    'Forgejo keeps actions on in template repositories.',
    'answers > of a template repository have actions off',
  ),
  onForgejo(
    'Forgejo has no list of workflows, other members of a run, and answers a dispatch with the run by a member of the body.',
    'workflows > are those of the default branch',
    'workflows > are run by hand, on a branch or a tag, and the run is found',
    'workflows > answer a dispatch with the run where that is asked for',
    'workflows > are not run for a branch that is not there',
    'workflows > are not run for a workflow that is not there',
    'workflows > are not run for a workflow that is not run by hand',
    'workflows > are not run for no ref',
    'workflows > in the list of runs > *',
    'workflows > are read by readers who sign in, and run by writers',
    'workflows > are left to administrators while the repository has no actions',
  ),
  onForgejo(
    'Forgejo ends every JSON body with a newline.',
    'conventions > answers JSON without a space before the charset and without a newline at the end',
  ),
  onForgejo(
    'Forgejo routes HEAD to few operations and answers 405 for the others.',
    'conventions > answers HEAD of /version like GET, without a body',
    'conventions > answers HEAD of /repos/R like GET, without a body',
    'conventions > answers HEAD of /repos/R/labels like GET, without a body',
  ),
  onForgejo(
    'Forgejo takes the last of several members of one name, whatever its letter case.',
    'conventions > a body > that has one name twice is refused with 422',
    'conventions > a body > that has one name twice in two spellings is refused with 422',
  ),
  onForgejo(
    'Forgejo takes an empty JSON body for an object without members, and knows no operation that edits runners, sets the commit of a branch, orders protections, locks an issue or replies to a review comment.',
    'bodies > D1: a body that is missing or of another type is refused > by every POST and PUT without a content type',
    'bodies > D1: a body that is missing or of another type is refused > by every operation as plain text',
    'bodies > D1: a body that is missing or of another type is refused > by every operation as empty JSON',
    'members that a Go client leaves unset > D2: lockIssue takes zero values for absent members',
  ),
  onForgejo(
    'Forgejo reads a JSON body up to the end of its first value, and bytes that are no UTF-8 as replacement characters.',
    'bodies > D1: JSON > with text of another encoding is refused',
    'bodies > D1: JSON > with a second value is refused',
  ),
  onForgejo(
    'Forgejo reads limit on some lists only where page is named too; without page they come whole.',
    'conventions > pages > of labels have a count and no links',
    'hooks > of the account are listed with count and links',
    'hooks > of an organization are listed with count and links',
    'hooks > of a repository are listed with a count and no links',
    'tracked times > come in pages',
  ),
  onForgejo(
    'Forgejo shows the authorization header of a hook in clear.',
    'hooks > never show their secret or their authorization header',
  ),
  onForgejo(
    'Forgejo shows the one kind of reviews as three: approved, rejected and comment.',
    'hooks > for ["pull_request"] hear ["pull_request","pull_request_assign","pull_request_comment","pull_request_label","pull_request_milestone","pull_request_review","pull_request_review_request","pull_request_sync"]',
  ),
  onForgejo(
    'Forgejo has no names of hooks: the member is ignored and not answered.',
    'hooks > with a long name are refused',
    'hooks > when edited > fall back to pushes and lose their filter where these are not named',
    'hooks > when edited > keep active, name and config where these are not named',
    'hooks > when edited > change one member of config alone, and lose a name that is emptied',
    'texts that are written > createHook has name *',
    'texts that are written > editHook has name *',
    'texts that are written > createOrganizationHook has name *',
    'texts that are written > editOrganizationHook has name *',
    'texts that are written > createUserHook has name *',
    'texts that are written > editUserHook has name *',
  ),
  onForgejo(
    'Forgejo checks the branch filter where a hook is made, not where it is edited.',
    'hooks > when edited > refuse a broken filter',
  ),
  onForgejo(
    'Forgejo answers 404 for the test of a hook with a ref that is not there.',
    'test deliveries > are refused where the hook or every commit is missing, and of the default branch where the ref is',
  ),
  onForgejo(
    'Forgejo does not know the type of hooks of the instance as a filter, and lists those for everything.',
    'hooks of every level > of the instance are for everything, or copied into new repositories',
  ),
  onForgejo(
    'Forgejo does not say in a header which level of hook a delivery is from.',
    'hooks of every level > each hear once of what happens in a repository below them',
  ),
  onForgejo(
    'Forgejo answers runners as a bare list with its length in X-Total-Count.',
    'runners > are a list with its length in the body, on every level',
  ),
  onForgejo(
    'Forgejo has no operation that switches a runner off, and answers 405.',
    'runners > are for the owner of their level alone',
    'runners > are 404 where they are unknown',
  ),
  onForgejo(
    'Forgejo gives registration tokens by GET and answers 405 for POST.',
    'runners > register with a token that stays the same, another on each level',
  ),
  onForgejo('Forgejo has no skip_secondary_authorization.', 'OAuth2 applications > show their secret once'),
  onForgejo(
    'Forgejo does not look at the addresses of an OAuth2 application.',
    'OAuth2 applications > with an address of another kind are refused',
    'OAuth2 applications > with an address that is none are refused',
  ),
  onForgejo(
    'Forgejo lets a token for public things read OAuth2 applications.',
    'OAuth2 applications > are closed to tokens for public things and to tokens without the scope',
  ),
  onForgejo(
    'Forgejo has no default_max_response_size.',
    'answers > of getApiSettings have every member of the contract',
  ),
  onForgejo(
    'Forgejo does not say when a token was made and last used.',
    'answers > of listTokens have every member of the contract',
  ),
  onForgejo(
    'Forgejo has other members of repositories.',
    'answers > of getRepository have every member of the contract',
    'answers > of listOrganizationRepositories have every member of the contract',
    'answers > of listOwnRepositories have every member of the contract',
    'answers > of listStarred have every member of the contract',
    'repositories > have a first commit where one is asked for',
  ),
  onForgejo(
    'Forgejo sets no limit to the length of a public key.',
    'deploy keys > are refused with a long text',
  ),
  onForgejo(
    'Forgejo has no names of hooks.',
    'answers > of listHooks have every member of the contract',
    'answers > of listUserHooks have every member of the contract',
    'answers > of listOrganizationHooks have every member of the contract',
  ),
  onForgejo(
    'Forgejo answers null where no transfer of a repository waits, the baseline leaves it out.',
    'giving a repository away > happens when the new owner says yes, and the old name leads there',
    'giving a repository away > does not happen when the new owner says no',
  ),
  onForgejo(
    'Forgejo keeps those who watch a repository that becomes private.',
    'subscriptions > to a repository > end for all when it becomes private, and for a collaborator who goes',
  ),
  onForgejo(
    'Forgejo sends no links with notifications.',
    'notifications > with one of each status > they come in pages',
  ),
  onForgejo(
    'Forgejo does not count who comments on an issue as subscribed.',
    'subscriptions > to an issue > hold for who wrote it, comments on it or watches the repository',
  ),
  onForgejo(
    'Forgejo still names repository and subject to who lost access.',
    'notifications > name nothing of what one lost access to',
    'stopwatches > name nothing of what one lost access to',
  ),
  onForgejo(
    'Forgejo has no assignees of issue templates, and does not count those with mistakes.',
    'issue templates > are forms and Markdown files of the default branch, in the order of their folders',
    'issue templates > with mistakes are left out and counted',
  ),
  onForgejo(
    'Forgejo searches issues by the caller as author alone.',
    'searches > for issues > narrow by author',
  ),
];
