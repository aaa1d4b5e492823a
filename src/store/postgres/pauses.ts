import { auditEntryOf, pausedObjectOf, pausedRepositoryOf, pauseKeyOf, pauseOf } from '../pause-rows.ts';
import type { Store } from '../store.ts';
import { insertAudit, trimAudit } from './audit.ts';
import type { PostgresContext } from './context.ts';
import { indexableText, storableText } from './link/text.ts';
import { nowSql } from './link/time.ts';

/** Returns the methods about pauses and the audit. */
export function createPostgresPauses({
  database,
  at,
  announceWork,
}: Pick<PostgresContext, 'database' | 'at' | 'announceWork'>): Pick<
  Store,
  'pause' | 'resume' | 'listPauses' | 'noteAudit' | 'listAudit'
> {
  return {
    async pause(scope, by) {
      const { count } = await database.query(pause, [
        scope.kind,
        indexableText(pauseKeyOf(scope)),
        pausedRepositoryOf(scope),
        at(),
        storableText(by),
        storableText(pausedObjectOf(scope)),
      ]);
      return count === 1;
    },
    async resume(scope, by) {
      const { count } = await database.query(resume, [
        scope.kind,
        indexableText(pauseKeyOf(scope)),
        at(),
        storableText(by),
        storableText(pausedObjectOf(scope)),
      ]);
      announceWork();
      return count === 1;
    },
    async listPauses() {
      return (await database.query('SELECT * FROM pauses ORDER BY at, kind, name')).rows.map(pauseOf);
    },
    async noteAudit({ by, action, object }) {
      await database.query(`${insertAudit} VALUES (${nowSql(1)}, $2, $3, $4)`, [
        at(),
        storableText(by),
        action,
        storableText(object),
      ]);
      await trimAudit(database);
    },
    async listAudit({ before = Number.MAX_SAFE_INTEGER, limit = 50 } = {}) {
      const { rows } = await database.query(
        'SELECT * FROM audit WHERE number < $1 ORDER BY number DESC LIMIT $2',
        [before, Math.min(limit, 500)],
      );
      return rows.map(auditEntryOf);
    },
  };
}

const pause = `
  WITH paused AS (
    INSERT INTO pauses (kind, name, repository_id, at, by) VALUES ($1, $2, $3, ${nowSql(4)}, $5)
    ON CONFLICT DO NOTHING RETURNING kind
  ), noted AS (${insertAudit} SELECT ${nowSql(4)}, $5, 'pause', $6 FROM paused)
  SELECT kind FROM paused`;

/** Deliveries that another pause still stops are deferred again by their next run. */
const resume = `
  WITH resumed AS (DELETE FROM pauses WHERE kind = $1 AND name = $2 RETURNING kind),
  woken AS (
    UPDATE deliveries SET retry_at = ${nowSql(3)}, retry_wait_ms = 0
    WHERE state = 'deferred' AND paused AND EXISTS (SELECT FROM resumed)
  ), noted AS (${insertAudit} SELECT ${nowSql(3)}, $4, 'resume', $5 FROM resumed)
  SELECT kind FROM resumed`;
