import { z } from 'zod';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { asWritten } from '../contract/written-texts.ts';
import { tagProtections } from '../facts/branches.ts';
import { requestOf } from '../facts/fact.ts';
import { ways } from '../facts/ways.ts';
import { repositoryParams } from '../facts/where.ts';
import { forgeGlobProblem } from '../patterns/glob.ts';
import { type Adopted, type AdoptedPlace, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { undoCreate, undoDelete, undoMember } from './inverses.ts';
import { learnDropped, mergeBodies, planProtection, pruneProtection, unshown } from './protection-fields.ts';

const names = z.array(z.string().min(1).max(255)).max(200).optional();
const ProtectTags = z.strictObject({
  tags: z
    .array(
      z.strictObject({
        name_pattern: z
          .string()
          .min(1)
          .max(255)
          .meta({ description: 'A glob in which `*` crosses `/`, or a regular expression between slashes.' }),
        whitelist_usernames: names.meta({
          description: 'Users who can create, change and delete matching tags.',
        }),
        whitelist_teams: names.meta({
          description: 'Teams with the same permission; only if an organization owns the repository.',
        }),
      }),
    )
    .max(100),
  prune: z.boolean().default(false).meta({ description: 'Deletes tag protections that are not listed.' }),
});
type ProtectTags = z.output<typeof ProtectTags>;

const protectionsFact = requestOf(tagProtections);

/** Keeps the listed tag protections with the given lists; an omitted list is left unchanged. */
export const protectTags = defineAction<ProtectTags>({
  name: 'protect-tags',
  meaning:
    'Keeps the listed tag protections with these lists of users and teams who can create matching tags; an omitted list is left unchanged. Other protections are deleted only with `prune: true`. Names that the forge drops because they lack access are reported once and retried after a week.',
  example: `uses: protect-tags
with:
  tags:
    - { name_pattern: "v*", whitelist_teams: [release] }
`,
  arguments: ProtectTags,
  of: ['repository', 'branch', 'pull_request', 'issue'],
  ways: { writes: [ways.protected] },
  needs: { access: 'admin', scopes: ['repository'] },
  protects: true,
  describesState: true,
  granted: false,
  visibleTo: 'administrators',
  inverses: {
    [operations.createTagProtection.id]: undoCreate(
      operations.listTagProtections,
      operations.deleteTagProtection,
    ),
    [operations.editTagProtection.id]: undoMember(
      operations.getTagProtection,
      operations.editTagProtection,
      '.',
    ),
    [operations.deleteTagProtection.id]: undoDelete(
      operations.listTagProtections,
      operations.createTagProtection,
      ['name_pattern'],
    ),
  },
  createsWhole: operations.createTagProtection.id,
  adoption: { what: 'tag protections', read: adoptTags },
  examine({ tags }) {
    const patterns = tags.map(({ name_pattern }) => patternOf(name_pattern));
    const problems = patterns.flatMap((pattern, place) => {
      // A pattern between slashes is a regular expression.
      const message = /^\/.*\/$/su.test(pattern) ? undefined : forgeGlobProblem(pattern, '');
      return message === undefined ? [] : [{ path: ['tags', place, 'name_pattern'], message }];
    });
    return [...twice(patterns), ...problems];
  },
  facts: () => [protectionsFact],
  async plan(given, facts, context) {
    const all = await facts.ask(protectionsFact);
    const at = repositoryParams(facts.subject);
    const changes: Change[] = [];
    for (const { name_pattern: written, ...lists } of given.tags) {
      const name_pattern = patternOf(written);
      const live = all.find((one) => one.name_pattern === name_pattern);
      if (live === undefined && Object.values(lists).flat().length === 0) {
        throw new Error(
          `a new protection of "${name_pattern}" requires at least one user or team: forges refuse it otherwise`,
        );
      }
      changes.push(
        ...(await planProtection(
          {
            action: 'protect-tags',
            target: `tag-protection:${name_pattern}`,
            naming: { name_pattern },
            wanted: lists,
            live,
            create: { operation: operations.createTagProtection.id, params: at },
            edit: { operation: operations.editTagProtection.id, params: { ...at, id: live?.id } },
            reads: [protectionsFact],
            requires: () => undefined,
          },
          context,
        )),
      );
    }
    if (!given.prune) return changes;
    const named = new Set(given.tags.map((tag) => patternOf(tag.name_pattern)));
    for (const live of all.filter((one) => !named.has(one.name_pattern))) {
      changes.push(
        pruneProtection({
          action: 'protect-tags',
          target: `tag-protection:${live.name_pattern}`,
          call: { operation: operations.deleteTagProtection.id, params: { ...at, id: live.id } },
          live,
          reads: [protectionsFact],
          from: 'tag protections',
          there: all.length,
        }),
      );
    }
    return changes;
  },
  join: async (changes) => ({ params: changes[0]?.input.params ?? {}, body: mergeBodies(changes) }),
  confirm: unshown,
  learn: learnDropped,
});

function patternOf(written: string): string {
  return asWritten(operations.createTagProtection, 'name_pattern', written);
}

function twice(patterns: readonly string[]) {
  return patterns.flatMap((pattern, place) =>
    patterns.indexOf(pattern) === place
      ? []
      : [{ path: ['tags', place, 'name_pattern'], message: `"${pattern}" is listed twice in this step` }],
  );
}

async function adoptTags(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo === undefined) return {};
  const live = await client.call(operations.listTagProtections, { params: { owner, repo } });
  const tags = live.map(({ name_pattern, whitelist_usernames, whitelist_teams }) => ({
    name_pattern,
    ...(whitelist_usernames?.length ? { whitelist_usernames } : {}),
    ...(whitelist_teams?.length ? { whitelist_teams } : {}),
  }));
  return tags.length === 0 ? {} : { arguments: { tags } };
}
