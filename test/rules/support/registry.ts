import { z } from 'zod';
import { type Action, condition, defineAction, template } from '../../../src/actions/action.ts';
import { payloadShapes } from '../../../src/contract/events/payloads.ts';
import type { SubjectKind } from '../../../src/contract/events/subject.ts';
import { ChangedFile } from '../../../src/contract/resources/branches.ts';
import { Issue } from '../../../src/contract/resources/issues.ts';
import { Label } from '../../../src/contract/resources/labels.ts';
import { PullRequest } from '../../../src/contract/resources/pulls.ts';
import { Repository } from '../../../src/contract/resources/repositories.ts';
import { User } from '../../../src/contract/resources/users.ts';
import { list } from '../../../src/contract/shape.ts';
import { defineFact, type Fact, type Shows } from '../../../src/facts/fact.ts';
import type { RuleRegistry } from '../../../src/rules/rule.ts';

function makeFact(
  name: string,
  shape: z.ZodType,
  of: readonly SubjectKind[],
  more: { argument?: string; shows?: Shows } = {},
): Fact {
  return defineFact({
    name,
    shape,
    of,
    meaning: name,
    shows: more.shows ?? 'repository',
    visibleTo: 'administrators',
    needs: { access: 'reader', scopes: ['repository'] },
    requests: 1,
    example: name,
    ask: async () => undefined,
    ...(more.argument !== undefined && { argument: more.argument }),
  });
}

const inRepository = ['repository', 'pull_request', 'issue', 'branch'] as const;

/** A few facts with real shapes, one of each kind. */
export const facts: readonly Fact[] = [
  makeFact('repository', Repository, inRepository),
  makeFact('pull_request', PullRequest, ['pull_request']),
  makeFact('issue', Issue, ['issue', 'pull_request']),
  makeFact('labels', list(Label), ['pull_request', 'issue']),
  makeFact('files', list(ChangedFile), ['pull_request', 'branch']),
  makeFact('contents', z.object({ content: z.string(), size: z.number().int() }).nullable(), inRepository, {
    argument: 'path',
  }),
  makeFact('collaborators', list(User), inRepository, { shows: 'admin' }),
];

const nothing = {
  facts: () => [],
  plan: async () => [],
  needs: { access: 'writer', scopes: [] },
  describesState: true,
  visibleTo: 'administrators',
  inverses: {},
  adoption: undefined,
} as const;

const tag = defineAction({
  ...nothing,
  name: 'tag',
  meaning: 'Labels are as said.',
  example: '',
  arguments: z.strictObject({
    add: z.array(z.string()).optional(),
    sync: z.record(z.string(), condition()).optional(),
    create: z.strictObject({ color: z.string() }).optional(),
  }),
  of: ['pull_request', 'issue'],
  granted: true,
  operatorOnly: ['create'],
  examine: (written) =>
    written.add?.includes('')
      ? [{ path: ['add', written.add.indexOf('')], message: 'a label has a name' }]
      : [],
});

const say = defineAction({
  ...nothing,
  name: 'say',
  meaning: 'A comment says this.',
  example: '',
  arguments: z.strictObject({
    when: condition().optional(),
    text: template(),
    count: z.union([z.number(), template()]).optional(),
    as: z.enum(['note', 'warning']).default('note'),
  }),
  of: ['pull_request', 'issue', 'repository', 'branch', 'runner'],
  granted: true,
});

const guard = defineAction({
  ...nothing,
  name: 'guard',
  meaning: 'Branches are guarded.',
  example: '',
  arguments: z.strictObject({ branches: z.array(z.string()).min(1) }),
  of: ['repository'],
  granted: false,
});

const Runner = z.object({
  name: z.string(),
  status: z.string(),
  offline_for: z.number().meta({ holds: 'duration' }).nullish(),
});

/** Small tables with real shapes that define what the rule files of these tests may contain. */
export const registry: RuleRegistry = {
  facts,
  // Actions with different argument types: each validates its arguments before any of its functions is called.
  actions: [tag, say, guard] as unknown as readonly Action[],
  payloads: payloadShapes,
  variables: { sender: User, runner: Runner },
};
