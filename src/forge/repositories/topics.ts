import { readableCondition } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { RepositoryRow, Seconds } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';

const maxTopics = 25;
const maxLength = 35;

/** Returns topics as stored. Ends the request with 422 and a list of the invalid ones. */
function readTopics(given: readonly string[]): readonly string[] {
  const topics = given.map((topic) => topic.trim().toLowerCase()).filter((topic) => topic !== '');
  const wrong = topics.filter((topic) => topic.length > maxLength || !/^[a-z0-9][-.a-z0-9]*$/.test(topic));
  if (wrong.length > 0)
    throw new ForgeProblem(422, 'Topic names are invalid', 'message', {}, { invalidTopics: wrong });
  return topics;
}

/** Returns one topic as stored, or ends the request with 422. */
function readTopic(given: string): string {
  const [topic] = readTopics([given]);
  if (topic === undefined) throw new ForgeProblem(422, 'Topic name is invalid', 'message');
  return topic;
}

type TopicTarget = RepositoryTarget & { readonly context: ForgeContext };

/**
 * Returns the current topics. Reads the row again, so that concurrent requests do not overwrite each other's topics.
 */
function topicsOf({ context, repository }: TopicTarget): readonly string[] {
  const row = context.db.get<Pick<RepositoryRow, 'topics'>>(
    'SELECT topics FROM repositories WHERE id = ?',
    repository.id,
  );
  // The cast is safe: this forge writes the column.
  return JSON.parse(row?.topics ?? '[]') as string[];
}

function saveTopics({ context, repository }: TopicTarget, topics: Iterable<string>): void {
  const all = [...new Set(topics)].toSorted();
  if (all.length > maxTopics) {
    throw new ForgeProblem(422, 'Exceeding maximum number of topics per repo', 'message');
  }
  context.db.run(
    'UPDATE repositories SET topics = ?, updated_at = ? WHERE id = ?',
    JSON.stringify(all),
    secondsOf(context.clock()),
    repository.id,
  );
}

type TopicRow = {
  readonly id: number;
  readonly name: string;
  readonly repo_count: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** Handlers for the topics of a repository, and for the topic search. */
export const topicHandlers = defineHandlers({
  listTopics(call) {
    const topics = topicsOf(call);
    const { offset, limit } = call.page;
    call.reply.total(topics.length);
    return { topics: topics.slice(offset, offset + limit) };
  },

  replaceTopics(call) {
    const named = readTopics(call.body.topics ?? []);
    call.context.db.transaction(() => saveTopics(call, named));
    return undefined;
  },

  addTopic(call) {
    const topic = readTopic(call.params.topic);
    call.context.db.transaction(() => saveTopics(call, [...topicsOf(call), topic]));
    return undefined;
  },

  removeTopic(call) {
    const topic = readTopic(call.params.topic);
    call.context.db.transaction(() => {
      const topics = topicsOf(call);
      if (!topics.includes(topic)) throw new ForgeProblem(404, 'not found');
      saveTopics(
        call,
        topics.filter((other) => other !== topic),
      );
    });
    return undefined;
  },

  searchTopics({ context, query, caller, page, reply }) {
    const { db } = context;
    // Gitea shows the topics of every repository. Here, a topic stays hidden unless the caller can read one of its
    // repositories.
    const readable = readableCondition(caller);
    const from = `FROM topics t WHERE instr(t.name, ?) > 0 AND EXISTS (SELECT 1 FROM repository_topics x
      JOIN repositories r ON r.id = x.repo_id JOIN users o ON o.id = r.owner_id
      WHERE x.topic_id = t.id AND ${readable.sql})`;
    const values = [(query.q ?? '').toLowerCase(), ...readable.values];
    const counted = db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values);
    reply.total(counted?.count ?? 0);
    const sql = `SELECT t.* ${from} ORDER BY t.repo_count DESC, t.id LIMIT ? OFFSET ?`;
    const rows = db.all<TopicRow>(sql, ...values, page.limit, page.offset);
    const topics = rows.map((row) => ({
      id: row.id,
      topic_name: row.name,
      repo_count: row.repo_count,
      created: toInstant(row.created_at),
      updated: toInstant(row.updated_at),
    }));
    return { topics };
  },
});
