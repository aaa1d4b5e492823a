import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs } from '../row-fields.ts';
import { int, list, resource, text } from '../shape.ts';

/** A badge. The fields have the names of Gitea's table, because Gitea defines no API names for them. */
const Badge = resource({ Slug: text }, { ID: int, Description: text, ImageURL: text });
const badgeSlugs = z.strictObject({ badge_slugs: z.array(text) });

/**
 * Badges of accounts. No operation creates a badge: in Gitea, a web page does; in the embedded forge, the seed file
 * does.
 */
export const badgeOperations = {
  listUserBadges: defineOperation({
    id: 'admin.list-badges',
    meaning: 'Lists the badges of an account.',
    method: 'GET',
    path: '/admin/users/{username}/badges',
    ...accountAs('site'),
    scopes: ['admin'],
    success: 200,
    response: list(Badge),
    errors: [403, 404],
    source: 'routers/api/v1/admin/user_badge.go ListUserBadges',
  }),
  addUserBadges: defineOperation({
    id: 'admin.add-badges',
    meaning: 'Gives badges to an account, all or none.',
    method: 'POST',
    path: '/admin/users/{username}/badges',
    ...accountAs('site'),
    scopes: ['admin'],
    body: badgeSlugs,
    success: 204,
    errors: [403, 404, 422],
    baseline: { 'unknown badge, or one that the account has': 500 },
    source: 'routers/api/v1/admin/user_badge.go AddUserBadges',
  }),
  deleteUserBadges: defineOperation({
    id: 'admin.delete-badges',
    meaning: 'Takes badges from an account; success also for those that it does not have.',
    method: 'DELETE',
    path: '/admin/users/{username}/badges',
    ...accountAs('site'),
    scopes: ['admin'],
    body: badgeSlugs,
    success: 204,
    errors: [403, 404, 422],
    source: 'routers/api/v1/admin/user_badge.go DeleteUserBadges',
  }),
} as const;
