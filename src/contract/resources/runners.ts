import { z } from 'zod';
import { defineOperation, type Operation } from '../operation.ts';
import { callerAs, organizationAs, repositoryAs, siteAs } from '../row-fields.ts';
import { flag, inRepository, int, pages, resource, text } from '../shape.ts';

/** A label of a runner. `id` is the position in the list and not stable; `type` is always `custom`. */
const ActionRunnerLabel = resource({ name: text }, { id: int, type: text });

/** A machine that runs jobs. The API does not show the time of its last contact. */
const ActionRunner = resource(
  { id: int, name: text },
  {
    /** `online` (contact within the last minute) or `offline`. */
    status: text,
    /** True if the runner worked on a job within the last ten seconds. */
    busy: flag,
    /** The runner accepts no new jobs. */
    disabled: flag,
    /** The runner runs a single job and is then removed. */
    ephemeral: flag,
    labels: z.array(ActionRunnerLabel),
  },
);

/** A page of runners with the length of the whole list. */
const ActionRunnersResponse = resource({}, { total_count: int, runners: z.array(ActionRunner) });

/** Registration token for the runners of a level; unchanged until it is reset. */
export const RegistrationToken = resource({ token: text }, {});

/** Fields shared by the five operations of a level; `params` are those of the list operation. */
type Shared = Pick<Operation, 'params' | 'target' | 'access' | 'scopes' | 'publicOnly'>;

/** A level of runners. Each of the four levels has the same five operations. */
type RunnerLevel<Prefix extends string, All extends Shared, One extends z.ZodObject> = {
  readonly id: string;
  /** Completes a sentence, for example `of an organization`. */
  readonly whose: string;
  readonly prefix: Prefix;
  readonly shared: All;
  readonly one: One;
  readonly file: string;
};

function defineLevel<const Prefix extends string, const All extends Shared, One extends z.ZodObject>(
  level: RunnerLevel<Prefix, All, One>,
) {
  const { id, whose, prefix, shared, one, file } = level;
  const source = (name: string) => `routers/api/v1/${file} ${name}; routers/api/v1/shared/runners.go ${name}`;
  return {
    list: defineOperation({
      id: `${id}.list`,
      meaning: `Lists the runners ${whose}, last online first; on Forgejo a bare list with other members.`,
      method: 'GET',
      path: `${prefix}/actions/runners`,
      ...shared,
      query: z.object({ ...pages, disabled: flag.optional() }),
      success: 200,
      response: ActionRunnersResponse,
      normalize: 'runners',
      errors: [403, 404],
      paging: 'body',
      source: source('ListRunners'),
    }),
    get: defineOperation({
      id: `${id}.get`,
      meaning: `Returns a runner ${whose}.`,
      method: 'GET',
      path: `${prefix}/actions/runners/{runner_id}`,
      ...shared,
      params: one,
      success: 200,
      response: ActionRunner,
      normalize: 'runners',
      errors: [403, 404],
      source: source('GetRunner'),
    }),
    edit: defineOperation({
      id: `${id}.edit`,
      meaning: `Disables or enables a runner ${whose}; not on Forgejo.`,
      method: 'PATCH',
      path: `${prefix}/actions/runners/{runner_id}`,
      ...shared,
      params: one,
      body: z.strictObject({ disabled: flag.optional() }),
      success: 200,
      response: ActionRunner,
      normalize: 'runners',
      errors: [403, 404, 422],
      source: source('UpdateRunner'),
    }),
    remove: defineOperation({
      id: `${id}.delete`,
      meaning: `Deletes a runner ${whose}.`,
      method: 'DELETE',
      path: `${prefix}/actions/runners/{runner_id}`,
      ...shared,
      params: one,
      success: 204,
      errors: [403, 404],
      source: source('DeleteRunner'),
    }),
    token: defineOperation({
      id: `${id}.registration-token`,
      meaning: `Returns the registration token for a runner ${whose}; creates one if there is none.`,
      method: 'POST',
      path: `${prefix}/actions/runners/registration-token`,
      ...shared,
      success: 200,
      response: RegistrationToken,
      errors: [403, 404],
      source: source('CreateRegistrationToken'),
    }),
  } as const;
}

const one = { runner_id: int };
const ofOrganization = defineLevel({
  id: 'organization-runner',
  whose: 'of an organization',
  prefix: '/orgs/{org}',
  shared: organizationAs('owner'),
  one: z.object({ org: text, ...one }),
  file: 'org/action.go',
});
const ofRepository = defineLevel({
  id: 'repository-runner',
  whose: 'of a repository',
  prefix: '/repos/{owner}/{repo}',
  shared: repositoryAs('owner'),
  one: z.object({ ...inRepository, ...one }),
  file: 'repo/action.go',
});
const ofSelf = defineLevel({
  id: 'user-runner',
  whose: 'of the account itself',
  prefix: '/user',
  shared: { ...callerAs('self'), publicOnly: 'closed' },
  one: z.object(one),
  file: 'user/runners.go',
});
const ofSite = defineLevel({
  id: 'admin-runner',
  whose: 'of the instance, on any level',
  prefix: '/admin',
  shared: siteAs('site'),
  one: z.object(one),
  file: 'admin/runners.go',
});

/** Runners of the four levels; an unknown runner or a runner of another level gives 404. */
export const runnerOperations = {
  listOrganizationRunners: ofOrganization.list,
  getOrganizationRunner: ofOrganization.get,
  editOrganizationRunner: ofOrganization.edit,
  deleteOrganizationRunner: ofOrganization.remove,
  createOrganizationRunnerToken: ofOrganization.token,
  listRepositoryRunners: ofRepository.list,
  getRepositoryRunner: ofRepository.get,
  editRepositoryRunner: ofRepository.edit,
  deleteRepositoryRunner: ofRepository.remove,
  createRepositoryRunnerToken: ofRepository.token,
  listOwnRunners: ofSelf.list,
  getOwnRunner: ofSelf.get,
  editOwnRunner: ofSelf.edit,
  deleteOwnRunner: ofSelf.remove,
  createOwnRunnerToken: ofSelf.token,
  listSiteRunners: ofSite.list,
  getSiteRunner: ofSite.get,
  editSiteRunner: ofSite.edit,
  deleteSiteRunner: ofSite.remove,
  createSiteRunnerToken: ofSite.token,
} as const;

const row = { method: 'GET', success: 200, response: RegistrationToken } as const;

/** The older GET operations for registration tokens. Gitea 1.27 serves only POST, Forgejo serves both. */
export const registrationTokenOperations = {
  getOrganizationRunnerToken: defineOperation({
    id: 'organization-runner.get-registration-token',
    meaning: 'Deprecated: returns the registration token for a runner of an organization; not on Gitea 1.27.',
    path: '/orgs/{org}/actions/runners/registration-token',
    ...organizationAs('owner'),
    ...row,
    errors: [403, 404],
    source: 'Gitea 1.23 routers/api/v1/org/action.go GetRegistrationToken',
  }),
  getRepositoryRunnerToken: defineOperation({
    id: 'repository-runner.get-registration-token',
    meaning: 'Deprecated: returns the registration token for a runner of a repository; not on Gitea 1.27.',
    path: '/repos/{owner}/{repo}/actions/runners/registration-token',
    ...repositoryAs('owner'),
    ...row,
    errors: [403, 404],
    source: 'Gitea 1.23 routers/api/v1/repo/action.go GetRegistrationToken',
  }),
  getOwnRunnerToken: defineOperation({
    id: 'user-runner.get-registration-token',
    meaning:
      'Deprecated: returns the registration token for a runner of the account itself; not on Gitea 1.27.',
    path: '/user/actions/runners/registration-token',
    ...callerAs('self'),
    ...row,
    errors: [],
    publicOnly: 'closed',
    source: 'Gitea 1.23 routers/api/v1/user/runners.go GetRegistrationToken',
  }),
  getSiteRunnerToken: defineOperation({
    id: 'admin-runner.get-registration-token',
    meaning: 'Deprecated: returns the registration token for a runner of the instance; not on Gitea 1.27.',
    path: '/admin/runners/registration-token',
    ...siteAs('site'),
    ...row,
    errors: [403],
    source: 'Gitea 1.23 routers/api/v1/admin/runners.go GetRegistrationToken',
  }),
} as const;
