import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, organizationAs, repositoryAs } from '../row-fields.ts';
import { text } from '../shape.ts';

/** Base64 of an image: PNG, JPEG, GIF or WebP of at most 4096 × 4096 pixels and 1 MiB. */
const Image = z.strictObject({ image: text });
const limits =
  'PNG, JPEG, GIF or WebP of at most 4096 × 4096 pixels and 1 MiB; Gitea makes a larger file smaller.';
const baseline = { 'no image, or one that is too large': 500 };

/**
 * Images of accounts, organizations and repositories. An account without an image has a pattern derived from its name.
 */
export const avatarOperations = {
  updateAvatar: defineOperation({
    id: 'user.update-avatar',
    meaning: `Sets the caller's avatar: ${limits}`,
    method: 'POST',
    path: '/user/avatar',
    ...callerAs('self'),
    body: Image,
    success: 204,
    errors: [400, 403, 422],
    publicOnly: 'closed',
    baseline,
    source: 'routers/api/v1/user/avatar.go UpdateAvatar',
  }),
  deleteAvatar: defineOperation({
    id: 'user.delete-avatar',
    meaning: "Deletes the caller's avatar; success also if there is none.",
    method: 'DELETE',
    path: '/user/avatar',
    ...callerAs('self'),
    success: 204,
    errors: [403],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/avatar.go DeleteAvatar',
  }),
  updateOrganizationAvatar: defineOperation({
    id: 'organization.update-avatar',
    meaning: 'Sets the avatar of an organization, with the limits of that of an account.',
    method: 'POST',
    path: '/orgs/{org}/avatar',
    ...organizationAs('owner'),
    body: Image,
    success: 204,
    errors: [400, 403, 404, 422],
    baseline,
    source: 'routers/api/v1/org/avatar.go UpdateAvatar',
  }),
  deleteOrganizationAvatar: defineOperation({
    id: 'organization.delete-avatar',
    meaning: 'Deletes the avatar of an organization; success also if there is none.',
    method: 'DELETE',
    path: '/orgs/{org}/avatar',
    ...organizationAs('owner'),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/org/avatar.go DeleteAvatar',
  }),
  updateRepositoryAvatar: defineOperation({
    id: 'repository.update-avatar',
    meaning: 'Sets the avatar of a repository, with the limits of that of an account.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/avatar',
    ...repositoryAs('admin'),
    roleFirst: true,
    body: Image,
    success: 204,
    errors: [400, 403, 404, 422],
    baseline,
    source: 'routers/api/v1/repo/avatar.go UpdateAvatar',
  }),
  deleteRepositoryAvatar: defineOperation({
    id: 'repository.delete-avatar',
    meaning: 'Deletes the avatar of a repository; success also if there is none.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/avatar',
    ...repositoryAs('admin'),
    roleFirst: true,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/avatar.go DeleteAvatar',
  }),
} as const;
