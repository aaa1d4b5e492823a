import { defineOperation } from '../operation.ts';
import { callerAs, organizationAs, repositoryAs, siteAs } from '../row-fields.ts';
import { RegistrationToken } from './runners.ts';

const row = { method: 'GET', success: 200, response: RegistrationToken } as const;

/** The older form of the registration tokens: a GET. Gitea 1.27 serves the POST alone, Forgejo both. */
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
