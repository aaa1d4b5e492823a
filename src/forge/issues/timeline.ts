import { findIssue } from '../platform/access/targets.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { parseTimestamp } from '../platform/time.ts';
import { type TimelineEntryRow, toTimeline } from './timeline-views.ts';

/** Comments have their own table, but are entries of the timeline like all others. */
const entriesOf = /* sql */ `
SELECT id, issue_id, poster_id, 'comment' AS type, body, '{}' AS refers, created_at, updated_at FROM comments
  WHERE issue_id = ?1 AND updated_at BETWEEN ?2 AND ?3
UNION ALL
SELECT id, issue_id, poster_id, type, body, refers, created_at, created_at FROM timeline
  WHERE issue_id = ?1 AND created_at BETWEEN ?2 AND ?3
ORDER BY created_at, id LIMIT ?4 OFFSET ?5`;

/** Handlers for the timeline of an issue or pull request. */
export const timelineHandlers = defineHandlers({
  listTimeline(call) {
    const { context, query, page, reply } = call;
    const [since, before] = [parseTimestamp(query.since) ?? 0, parseTimestamp(query.before)];
    const issue = findIssue(call);
    const rows = context.db.all<TimelineEntryRow>(
      entriesOf,
      issue.id,
      since,
      before ?? Number.MAX_SAFE_INTEGER,
      page.limit,
      page.offset,
    );
    // Not the length of the whole list: as in Gitea, only the entries of the page are counted.
    reply.total(rows.length);
    return rows.length === 0 ? null : toTimeline(context, rows, issue, { ...call, viewer: call.caller });
  },
});
