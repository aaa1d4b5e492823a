import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, organizationAs } from '../row-fields.ts';
import { list, pages, text } from '../shape.ts';
import { User } from './users.ts';

const named = z.object({ username: text });
const inOrganization = z.object({ org: text, username: text });
/** A note in the block list, shown on the forge's web pages. */
const noted = z.object({ note: text.optional() });
const source = 'routers/api/v1/shared/block.go';

/**
 * Blocks of accounts, set by an account or by the owners of an organization. A blocked account cannot open, edit or
 * comment on the blocker's issues and pull requests, cannot star, watch or fork their repositories, and cannot follow
 * them or become a collaborator or member. Site administrators are never blocked.
 */
export const blockOperations = {
  listBlockedUsers: defineOperation({
    id: 'user.list-blocks',
    meaning: 'Lists the accounts that the caller blocks.',
    method: 'GET',
    path: '/user/blocks',
    ...callerAs('self'),
    query: z.object(pages),
    success: 200,
    response: list(User),
    errors: [403],
    publicOnly: 'closed',
    paging: 'link',
    source: `${source} ListBlocks`,
  }),
  checkUserBlock: defineOperation({
    id: 'user.check-block',
    meaning: 'Answers 204 if the caller blocks the account, 404 otherwise.',
    method: 'GET',
    path: '/user/blocks/{username}',
    ...callerAs('self'),
    params: named,
    success: 204,
    errors: [403, 404],
    publicOnly: 'closed',
    source: `${source} CheckUserBlock`,
  }),
  blockUser: defineOperation({
    id: 'user.block',
    meaning:
      'Blocks an account. Stars, watches, follows, assignments, collaborations and offered transfers between the two end.',
    method: 'PUT',
    path: '/user/blocks/{username}',
    ...callerAs('self'),
    params: named,
    query: noted,
    success: 204,
    errors: [400, 403, 404],
    publicOnly: 'closed',
    source: `${source} BlockUser`,
  }),
  unblockUser: defineOperation({
    id: 'user.unblock',
    meaning: 'Ends the block of an account; 400 if there is none.',
    method: 'DELETE',
    path: '/user/blocks/{username}',
    ...callerAs('self'),
    params: named,
    success: 204,
    errors: [400, 403, 404],
    publicOnly: 'closed',
    source: `${source} UnblockUser`,
  }),
  listOrganizationBlocks: defineOperation({
    id: 'organization.list-blocks',
    meaning: 'Lists the accounts that an organization blocks.',
    method: 'GET',
    path: '/orgs/{org}/blocks',
    ...organizationAs('owner'),
    query: z.object(pages),
    success: 200,
    response: list(User),
    errors: [403, 404],
    paging: 'link',
    source: `${source} ListBlocks`,
  }),
  checkOrganizationBlock: defineOperation({
    id: 'organization.check-block',
    meaning: 'Answers 204 if an organization blocks the account, 404 otherwise.',
    method: 'GET',
    path: '/orgs/{org}/blocks/{username}',
    ...organizationAs('owner'),
    params: inOrganization,
    success: 204,
    errors: [403, 404],
    source: `${source} CheckUserBlock`,
  }),
  blockInOrganization: defineOperation({
    id: 'organization.block',
    meaning:
      'Blocks an account in an organization; 400 for a member, for the caller, and for an organization.',
    method: 'PUT',
    path: '/orgs/{org}/blocks/{username}',
    ...organizationAs('owner'),
    params: inOrganization,
    query: noted,
    success: 204,
    errors: [400, 403, 404],
    source: `${source} BlockUser`,
  }),
  unblockInOrganization: defineOperation({
    id: 'organization.unblock',
    meaning: 'Ends the block of an account in an organization; 400 if there is none.',
    method: 'DELETE',
    path: '/orgs/{org}/blocks/{username}',
    ...organizationAs('owner'),
    params: inOrganization,
    success: 204,
    errors: [400, 403, 404],
    source: `${source} UnblockUser`,
  }),
} as const;
