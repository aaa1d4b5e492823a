import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { Comment as WrittenComment } from '../contract/resources/comments.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { ways } from '../facts/ways.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import { wiki } from '../facts/wiki.ts';
import { breakReferences } from '../patterns/issue-references.ts';
import { condition, defineAction, forgeText, template } from './action.ts';
import type { Change } from './change.ts';
import type { Inverse } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';
import {
  askWritten,
  commentInverses,
  commentsFact,
  isOurs,
  markerOf,
  withMarker,
  writeComment,
} from './texts.ts';

const CommentForm = z
  .strictObject({
    key: template().min(1).max(100).default('main').meta({
      description:
        'Distinguishes the comments of one rule: one comment per key. A key that changes, for example with the week, makes a comment that repeats.',
    }),
    text: forgeText({ lines: true })
      .min(1)
      .max(60_000)
      .optional()
      .meta({ description: 'The text of the comment.' }),
    wiki: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'A page of the repository’s wiki with the text, instead of `text`.' }),
    when: condition()
      .optional()
      .meta({ description: 'The comment exists while this condition holds; default: always.' }),
    otherwise: forgeText({ lines: true }).min(1).max(60_000).optional().meta({
      description:
        'Text of an existing comment while `when` does not hold; without it, the comment is deleted.',
    }),
  })
  .refine((given) => (given.text === undefined) !== (given.wiki === undefined), {
    message: 'specify either text or wiki',
  });
type CommentForm = z.output<typeof CommentForm>;

const undoDeleteComment: Inverse = async () => ({
  value: null,
  undo: () => 'a deleted comment cannot be restored at its former position',
});

/**
 * Keeps one comment per key while `when` holds. The comment is identified by its marker and Reeve's account, edited in
 * place, and never repeated. Comments of others are never changed.
 */
export const comment = defineAction<CommentForm>({
  name: 'comment',
  meaning:
    'Keeps one comment per key with this text on the issue or pull request while `when` holds. The comment is edited in place, never repeated. While `when` does not hold, it is deleted, or its text is `otherwise`. Comments of others are never changed.',
  example: `uses: comment
with:
  when: repository.has_wiki
  text: "Thank you, \${{ sender.login }}! The notes for newcomers are in the wiki."
`,
  arguments: CommentForm,
  of: ['issue', 'pull_request'],
  ways: { writes: [ways.commented] },
  needs: { access: 'reader', scopes: ['issue'] },
  describesState: true,
  granted: true,
  visibleTo: 'subject',
  inverses: {
    ...commentInverses,
    [operations.deleteComment.id]: undoDeleteComment,
  },
  adoption: undefined,
  facts: ({ wiki, when }) =>
    wiki === undefined || when === false ? [commentsFact] : [commentsFact, wikiFact(wiki)],
  async plan(given, facts, context) {
    const marker = markerOf(context, given.key);
    const all = await askWritten(facts, commentsFact);
    const live = all.find((one) => isOurs(one, marker, context));
    const holds = given.when ?? true;
    if (!holds && (given.otherwise === undefined || live === undefined)) {
      return [live ? commentRemoval(live, given, facts, context) : absence(given, facts, context)];
    }
    const text = holds ? await commentText(given, facts) : (given.otherwise ?? '');
    return [writeComment(live, withMarker(marker, text), { ...head(given, facts, context), facts })];
  },
});

async function commentText(given: CommentForm, facts: Facts): Promise<string> {
  if (given.wiki === undefined) return given.text ?? '';
  const page = await facts.ask(wikiFact(given.wiki));
  if (page === null) throw new Error(`there is no wiki page "${given.wiki}"`);
  if (page.content.trim() === '') throw new Error(`the wiki page "${given.wiki}" is empty`);
  // Some forges let anyone edit a wiki.
  return breakReferences([{ text: page.content, isInserted: true }]);
}

function wikiFact(page: string) {
  return requestOf(wiki, page);
}

function head(given: CommentForm, facts: Facts, context: PlanContext) {
  return {
    action: 'comment',
    target: `comment:${context.rule}/${given.key} on #${indexParams(facts.subject).index}`,
    reads: [commentsFact],
  };
}

function commentRemoval(
  live: WrittenComment,
  given: CommentForm,
  facts: Facts,
  context: PlanContext,
): Change {
  return {
    ...head(given, facts, context),
    operation: operations.deleteComment.id,
    input: { params: { ...repositoryParams(facts.subject), id: live.id } },
    value: null,
    before: live.body ?? null,
    after: null,
    reason: 'the condition no longer holds',
    stage: 2,
  };
}

function absence(given: CommentForm, facts: Facts, context: PlanContext): Change {
  return {
    ...head(given, facts, context),
    operation: operations.createComment.id,
    input: { params: indexParams(facts.subject) },
    value: null,
    before: null,
    after: null,
    reason: 'the condition does not hold',
    already: true,
  };
}
