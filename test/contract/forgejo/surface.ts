import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Conventions, hooks, runners, and fields of responses. */
export const surface: readonly Difference[] = [
  onForgejo(
    'Forgejo reads the body of a request for a token before it refuses a token as credentials.',
    'responses > to token creation refuse a token as credentials before the body is read',
  ),
  onForgejo(
    'Forgejo keeps actions enabled in template repositories.',
    'responses > show a template repository with actions disabled',
  ),
  onForgejo(
    'Forgejo has no list of workflows, has other fields in a run, and returns the run of a dispatch if a body field requests it.',
    'workflows > are those of the default branch',
    'workflows > can be dispatched on a branch or a tag, which creates a run',
    'workflows > return the run of a dispatch on request',
    'workflows > are not dispatched for a missing branch',
    'workflows > are not dispatched for a missing workflow',
    'workflows > are not dispatched for a workflow without a manual trigger',
    'workflows > are not dispatched for a missing ref',
    'workflows > in the list of runs > *',
    'workflows > require a signed-in reader to read, and a writer to dispatch',
    'workflows > are visible only to administrators while actions are disabled in the repository',
  ),
  onForgejo(
    'Forgejo ends every JSON body with a newline.',
    'conventions > returns JSON without a space before the charset and without a newline at the end',
  ),
  onForgejo(
    'Forgejo supports HEAD for a few operations, and returns 405 for the others.',
    'conventions > answers HEAD of /version like GET, without a body',
    'conventions > answers HEAD of /repos/R like GET, without a body',
    'conventions > answers HEAD of /repos/R/labels like GET, without a body',
  ),
  onForgejo(
    'Forgejo uses the last of several fields with the same name, ignoring letter case.',
    'conventions > a body > that has a duplicate field is refused with 422',
    'conventions > a body > that has a duplicate field with another spelling is refused with 422',
  ),
  onForgejo(
    'Forgejo treats an empty JSON body as an object without fields, and has no operation that edits runners, sets the commit of a branch, orders protections, locks an issue or replies to a review comment.',
    'bodies > D1: a body that is missing or of another type is refused > by every POST and PUT without a content type',
    'bodies > D1: a body that is missing or of another type is refused > by every operation if sent as plain text',
    'bodies > D1: a body that is missing or of another type is refused > by every operation if sent as empty JSON',
    'fields that a Go client leaves unset > D2: lockIssue accepts zero values for absent fields',
  ),
  onForgejo(
    'Forgejo reads a JSON body up to the end of its first value, and replaces bytes that are not UTF-8.',
    'bodies > D1: JSON > with text of another encoding is refused',
    'bodies > D1: JSON > with a second value is refused',
  ),
  onForgejo(
    'Forgejo applies `limit` to some lists only together with `page`, and otherwise returns the whole list.',
    'conventions > pages > of labels have a count and no links',
    'hooks > of the account are listed with count and links',
    'hooks > of an organization are listed with count and links',
    'hooks > of a repository are listed with a count and no links',
    'tracked times > come in pages',
  ),
  onForgejo(
    'Forgejo shows the authorization header of a hook in plain text.',
    'hooks > never show their secret or their authorization header',
  ),
  onForgejo(
    'Forgejo lists the one event type of reviews as three: approved, rejected and comment.',
    'hooks > with the events ["pull_request"] receive ["pull_request","pull_request_assign","pull_request_comment","pull_request_label","pull_request_milestone","pull_request_review","pull_request_review_request","pull_request_sync"]',
  ),
  onForgejo(
    'Forgejo has no names of hooks: it ignores and omits the field.',
    'hooks > are refused with a name that is too long',
    'hooks > when edited > reset events to pushes and clear the filter if these are omitted',
    'hooks > when edited > keep `active`, `name` and `config` if these are omitted',
    'hooks > when edited > keep the omitted members of `config`, and clear the name if it is empty',
    'stored texts > createHook stores name *',
    'stored texts > editHook stores name *',
    'stored texts > createOrganizationHook stores name *',
    'stored texts > editOrganizationHook stores name *',
    'stored texts > createUserHook stores name *',
    'stored texts > editUserHook stores name *',
  ),
  onForgejo(
    'Forgejo validates the branch filter when a hook is created, but not when it is edited.',
    'hooks > when edited > refuse an invalid branch filter',
  ),
  onForgejo(
    'Forgejo returns 404 for the test of a hook with an unknown ref.',
    'test deliveries > are refused for an unknown hook or an empty repository, and use the default branch if the ref is unknown',
  ),
  onForgejo(
    'Forgejo does not support the filter by type for hooks of the instance, and lists those that receive all events.',
    'hooks of every level > of the instance receive all events, or are copied into new repositories',
  ),
  onForgejo(
    'Forgejo does not send a header with the hook level of a delivery.',
    'hooks of every level > each receive one delivery per event in a repository below them',
  ),
  onForgejo(
    'Forgejo returns runners as a plain list with the total count in X-Total-Count.',
    'runners > are listed with the total count in the body, on every level',
  ),
  onForgejo(
    'Forgejo has no operation that disables a runner, and returns 405.',
    'runners > are accessible only to the owner of their level',
    'runners > return 404 for an unknown id',
  ),
  onForgejo(
    'Forgejo returns registration tokens for GET, and 405 for POST.',
    'runners > register with a token that stays the same and differs per level',
  ),
  onForgejo(
    'Forgejo has no skip_secondary_authorization.',
    'OAuth2 applications > show their secret only once',
  ),
  onForgejo(
    'Forgejo does not validate the redirect URIs of an OAuth2 application.',
    'OAuth2 applications > are refused with a redirect URI of another scheme',
    'OAuth2 applications > are refused with an invalid redirect URI',
  ),
  onForgejo(
    'Forgejo lets a token limited to public resources read OAuth2 applications.',
    'OAuth2 applications > are closed to tokens limited to public resources and to tokens without the scope',
  ),
  onForgejo(
    'Forgejo has no default_max_response_size.',
    'responses > of getApiSettings have every field of the contract',
  ),
  onForgejo(
    'Forgejo does not return when a token was created and last used.',
    'responses > of listTokens have every field of the contract',
  ),
  onForgejo(
    'Forgejo has other fields in repositories.',
    'responses > of getRepository have every field of the contract',
    'responses > of listOrganizationRepositories have every field of the contract',
    'responses > of listOwnRepositories have every field of the contract',
    'responses > of listStarred have every field of the contract',
    'repositories > have a first commit on request',
  ),
  onForgejo(
    'Forgejo does not limit the length of a public key.',
    'deploy keys > are refused with a key that is too long',
  ),
  onForgejo(
    'Forgejo has no names of hooks.',
    'responses > of listHooks have every field of the contract',
    'responses > of listUserHooks have every field of the contract',
    'responses > of listOrganizationHooks have every field of the contract',
  ),
  onForgejo(
    'Forgejo returns null if no repository transfer is pending, where Gitea omits the field.',
    'a repository transfer > completes when the new owner accepts, and the old name redirects',
    'a repository transfer > is cancelled when the new owner rejects it',
  ),
  onForgejo(
    'Forgejo keeps the watchers of a repository that becomes private.',
    'subscriptions > to a repository > end for everyone when it becomes private, and for a removed collaborator',
  ),
  onForgejo(
    'Forgejo sends no links with notifications.',
    'notifications > with one of each status > come in pages',
  ),
  onForgejo(
    'Forgejo does not count commenters on an issue as subscribers.',
    'subscriptions > to an issue > include the author, commenters and watchers of the repository',
  ),
  onForgejo(
    'Forgejo still shows the names of repository and subject to accounts that have lost access.',
    'notifications > hide repositories that the account can no longer read',
    'stopwatches > hide repositories that the account can no longer read',
  ),
  onForgejo(
    'Forgejo has no assignees in issue templates, and does not count invalid templates.',
    'issue templates > are forms and Markdown files of the default branch, in the order of their folders',
    'issue templates > are omitted but counted if they are invalid',
  ),
  onForgejo(
    'Forgejo searches issues only by the caller as author.',
    'searches > for issues > filter by author',
  ),
];
