import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { activitiesOf, eventFamilies, familyOf } from '../../src/contract/events/event-families.ts';
import { readEventHeaders } from '../../src/contract/events/event-headers.ts';
import { laneOf, parseDelivery } from '../../src/contract/events/events.ts';
import { parsePayload } from '../../src/contract/events/parse-payload.ts';
import { payloadShapes } from '../../src/contract/events/payloads.ts';
import { type Fixture, jsonOf, kindOf, readRecordings } from '../support/recording/fixture.ts';

/** Returns the paths of a value's fields that a schema does not define. A schema that accepts anything has none. */
function unknownMembers(shape: z.ZodType, value: unknown, path = ''): readonly string[] {
  if (value === null || value === undefined) return [];
  const bare = unwrap(shape);
  if (bare instanceof z.ZodArray && Array.isArray(value)) {
    const paths = value.flatMap((element) => unknownMembers(bare.element as z.ZodType, element, `${path}[]`));
    return [...new Set(paths)];
  }
  if (!(bare instanceof z.ZodObject) || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = (bare.shape as Record<string, z.ZodType>)[name];
    const at = path === '' ? name : `${path}.${name}`;
    return known === undefined ? [at] : unknownMembers(known, member, at);
  });
}

/** Removes wrappers that make a field optional, nullable or completed. */
function unwrap(shape: z.ZodType): z.ZodType {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable)
    return unwrap(shape.unwrap() as z.ZodType);
  if (shape instanceof z.ZodPipe) return unwrap(shape.in as z.ZodType);
  if (shape instanceof z.ZodLazy) return unwrap(shape.unwrap() as z.ZodType);
  return shape;
}

const recordings = readRecordings();

/** Fields that no schema defines, by server: those that never carry information, and those that only Forgejo has. */
const unnamed: Readonly<Record<string, readonly string[]>> = {
  // The top-level repository of a package is always null.
  gitea: ['changes.added_labels', 'changes.removed_labels', 'repository'],
  forgejo: [
    ...['repository', 'pronouns', 'flow', 'parent', 'archive_download_count', 'hide_archive_links'],
    ...['globally_editable_wiki', 'has_wiki_contents', 'wiki_branch', 'wiki_clone_url', 'wiki_ssh_url'],
    ...['ScheduleID', 'approved_by', 'commit_sha', 'created', 'duration', 'event_payload', 'html_url'].map(
      ofRun,
    ),
    ...['index_in_repo', 'is_fork_pull_request', 'is_ref_deleted', 'need_approval', 'prettyref'].map(ofRun),
    ...['started', 'stopped', 'trigger_event', 'trigger_user', 'updated', 'workflow_id'].map(ofRun),
  ],
};

function ofRun(name: string): string {
  return `run.${name}`;
}

const read = (fixture: Fixture) => {
  const payload = parsePayload(Buffer.from(jsonOf(fixture)));
  return { payload, event: parseDelivery(fixture.eventType, payload) };
};

describe.each(recordings)('deliveries recorded from $server $version', ({ server, fixtures }) => {
  it('parse as events with family, activity, repository, owner, subject, lane and sender', () => {
    for (const fixture of fixtures) {
      const { event } = read(fixture);
      const { family = 'unknown' } = event;
      expect(Object.keys(eventFamilies), fixture.eventType).toContain(family);
      const activities = activitiesOf(familyOf(fixture.eventType) ?? 'push');
      if (activities.length > 0) expect(activities, kindOf(fixture)).toContain(event.activity);
      expect(event.ownerId, kindOf(fixture)).toBeGreaterThan(0);
      // Forgejo's run events have no sender. For a manually dispatched run, the sender is the account that started it.
      const { run } = event.payload as { run?: { trigger_event: string } };
      const hasSender = !family.startsWith('action_run_') || run?.trigger_event === 'workflow_dispatch';
      expect(event.sender?.id !== undefined, kindOf(fixture)).toBe(hasSender);
      // A package belongs to its owner, and to a repository only if it was linked.
      if (family === 'package') continue;
      expect(event.repository?.id, kindOf(fixture)).toBeGreaterThan(0);
      expect(event.subject?.kind, kindOf(fixture)).toBe(eventFamilies[family as 'push'].subject);
      expect(laneOf(event)).toMatch(new RegExp(`^${event.repository?.id}(#\\d+)?$`));
    }
  });

  it('contain delivery id and event type in their headers', () => {
    for (const fixture of fixtures) {
      const headers = Object.entries(fixture.headers).map(([name, value]) => [name.toLowerCase(), value]);
      expect(readEventHeaders(Object.fromEntries(headers))).toEqual({
        delivery: fixture.headers['X-Gitea-Delivery'],
        eventType: fixture.eventType,
      });
    }
  });

  it('match the schema of their family, which keeps every defined field unchanged', () => {
    for (const fixture of fixtures) {
      const { payload, event } = read(fixture);
      const shape = payloadShapes[event.family ?? 'push'];
      const parsed = shape.safeParse(payload);
      expect(parsed.error?.issues, `${kindOf(fixture)} ${fixture.step}`).toBeUndefined();
      expect(changedMembers(parsed.data, payload), `${kindOf(fixture)} ${fixture.step}`).toEqual([]);
    }
  });

  it('have no fields that conditions cannot use, except the listed ones', () => {
    const unknown = new Set<string>();
    for (const fixture of fixtures) {
      const { payload, event } = read(fixture);
      const shape: z.ZodType = payloadShapes[event.family ?? 'push'];
      for (const path of unknownMembers(shape, payload)) unknown.add(path);
    }

    expect(Object.keys(unnamed)).toContain(server);
    // The position does not matter: a repository or account has the field wherever it appears.
    const members = [...unknown].map((path) => path.replace(/^(?!run\.\w+$|changes\.).*\./, ''));
    expect([...new Set(members)].sort()).toEqual([...(unnamed[server] ?? [])].sort());
  });
});

/**
 * Returns the paths at which a parsed value differs from the input: `null` and a missing list become empty lists,
 * unknown fields are dropped.
 */
function changedMembers(parsed: unknown, came: unknown, path = ''): readonly string[] {
  if (Array.isArray(parsed)) {
    const list = Array.isArray(came) ? came : [];
    if (list.length !== parsed.length) return [path];
    return parsed.flatMap((element, at) => changedMembers(element, list[at], `${path}[${at}]`));
  }
  if (typeof parsed === 'object' && parsed !== null) {
    return Object.entries(parsed).flatMap(([name, value]) =>
      changedMembers(value, (came as Record<string, unknown> | null)?.[name], `${path}.${name}`),
    );
  }
  return Object.is(parsed, came) ? [] : [path];
}
