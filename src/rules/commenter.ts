import type { Event } from '../contract/events/events.ts';
import { senderPermission } from '../facts/collaborators.ts';
import { command, isAboutComment } from '../facts/command.ts';
import { comment } from '../facts/comments.ts';
import { type FactRequest, type Facts, requestOf } from '../facts/fact.ts';
import { issue } from '../facts/issue.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { isWriter } from '../facts/write-access.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import { requestsOfRule } from './needs.ts';
import type { LoadedRule } from './rule.ts';
import type { Finding } from './verdict.ts';

/** Whether a rule obeys the author of a comment, with the evidence. `error`: it cannot be known. */
export type CommenterJudgement =
  | { readonly result: 'held' | 'not'; readonly finding: Finding }
  | { readonly result: 'error'; readonly finding: Finding; readonly reason: string; readonly cause: Error };

/** Facts to read again before a write, because the author may have lost the permission. */
export const commenterFacts: readonly FactRequest[] = [requestOf(comment), requestOf(senderPermission)];

/**
 * Returns whether a rule obeys the live author of the comment of an event; undefined if the rule asks for no permission,
 * or the event is about no comment. A permission that the rule does not state itself applies only if the comment has one
 * of the commands that the rule names: without them, there are no arguments. Never rejects.
 */
export async function judgeCommenter(
  rule: LoadedRule,
  { event, facts }: { readonly event?: Event | undefined; readonly facts: Facts },
): Promise<CommenterJudgement | undefined> {
  const { permission } = rule;
  if (permission === undefined || event?.family === undefined || !isAboutComment(event.family))
    return undefined;
  const { level, isImplied, line, column } = permission;
  const values: Record<string, unknown> = {};
  const finding = (result: Finding['result']): Finding => {
    const expression = `permission: ${level}${isImplied ? ' (default)' : ''}`;
    return { expression, result, values, file: rule.source, line, column };
  };
  try {
    if (isImplied && !(await hasCommand(rule, facts))) return undefined;
    const isObeyed = await meets(level, facts, values);
    const result = isObeyed ? 'held' : 'not';
    return { result, finding: finding(result) };
  } catch (error) {
    const why = messageOf(error);
    values.error = why;
    const cause = error instanceof Error ? error : new ReeveError('internal', why);
    const reason = `permission: ${level}: whether the author of the comment has it cannot be known: ${why}`;
    return { result: 'error', finding: finding('error'), reason, cause };
  }
}

async function hasCommand(rule: LoadedRule, facts: Facts): Promise<boolean> {
  for (const { name, argument } of requestsOfRule(rule)) {
    if (name === command.name && (await facts.ask(requestOf(command, argument))).found) return true;
  }
  return false;
}

/** Returns whether the author of the comment meets a permission, and adds what was read to `values`. */
async function meets(
  level: NonNullable<LoadedRule['permission']>['level'],
  facts: Facts,
  values: Record<string, unknown>,
): Promise<boolean> {
  if (level === 'everyone') return true;
  if (level === 'author') {
    const { kind } = facts.subject;
    const { user: opener } =
      kind === 'pull_request' ? await facts.ask(requestOf(pullRequest)) : await facts.ask(requestOf(issue));
    const { user } = await facts.ask(requestOf(comment));
    values['comment.user.login'] = user?.login ?? null;
    values[`${kind}.user.login`] = opener?.login ?? null;
    // A deleted account has the id -1, which is no identity.
    if (user && user.id > 0 && user.id === opener?.id) return true;
  }
  const known = await facts.ask(requestOf(senderPermission));
  values[senderPermission.name] = known;
  return level === 'read' ? known !== 'none' : isWriter(known);
}
