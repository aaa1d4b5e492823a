import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';

type BadgeRow = {
  readonly id: number;
  readonly slug: string;
  readonly description: string;
  readonly image_url: string;
};

/** Creates a badge if no badge has this name. */
export function ensureBadge(
  { db }: ForgeContext,
  badge: {
    readonly slug: string;
    readonly description?: string | undefined;
    readonly image_url?: string | undefined;
  },
): void {
  db.run(
    'INSERT INTO badges (slug, description, image_url) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    badge.slug,
    badge.description ?? '',
    badge.image_url ?? '',
  );
}

/** Handlers for the badges of accounts. */
export const badgeHandlers = defineHandlers({
  listUserBadges({ context, account, reply }) {
    const rows = context.db.all<BadgeRow>(
      'SELECT b.* FROM user_badges u JOIN badges b ON b.id = u.badge_id WHERE u.user_id = ? ORDER BY u.id',
      account.id,
    );
    reply.total(rows.length);
    return rows.map(({ id, slug, description, image_url }) => ({
      ID: id,
      Slug: slug,
      Description: description,
      ImageURL: image_url,
    }));
  },

  addUserBadges({ context: { db }, account, body }) {
    db.transaction(() => {
      for (const slug of body.badge_slugs) {
        const badge = db.get<BadgeRow>('SELECT * FROM badges WHERE slug = ?', slug);
        if (!badge) throw new ForgeProblem(404, `badge does not exist [slug: ${slug}]`);
        const sql = 'INSERT INTO user_badges (user_id, badge_id) VALUES (?, ?) ON CONFLICT DO NOTHING';
        if (db.run(sql, account.id, badge.id).changes === 0) {
          const ids = `user_id: ${account.id}, badge_id: ${badge.id}`;
          throw new ForgeProblem(422, `user badge already exists [${ids}]`);
        }
      }
    });
    return undefined;
  },

  deleteUserBadges({ context: { db }, account, body }) {
    db.run(
      `DELETE FROM user_badges WHERE user_id = ?
         AND badge_id IN (SELECT id FROM badges WHERE slug IN (SELECT value FROM json_each(?)))`,
      account.id,
      JSON.stringify(body.badge_slugs),
    );
    return undefined;
  },
});
