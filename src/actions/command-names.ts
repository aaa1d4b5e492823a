import { z } from 'zod';
import { senderPermission } from '../facts/collaborators.ts';
import { comment } from '../facts/comments.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { indexParams } from '../facts/where.ts';
import { assignable, isWriter } from '../facts/write-access.ts';
import { compileGlob, GlobError } from '../patterns/glob.ts';
import type { ArgumentProblem, CommandMember, Holds } from './action.ts';
import type { Change } from './change.ts';
import { distinctNames, toLowerCase, toNames } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import { asCode, askWritten, commentsFact, isOurs, markerOf, withMarker, writeComment } from './texts.ts';

/** Maximum number of names that an argument takes from one comment; with more, none is used. */
export const maxCommandNames = 10;

/** The arguments of a command as an action receives them: untrusted texts written by the author of a comment. */
export type CommandArguments = {
  readonly command: readonly string[];
  /** Whether the comment has the command. Absent: unknown. */
  readonly found?: boolean;
};

/** Names that are listed in the rule or, in the rule file as an expression, taken from a command. */
export type Names = readonly string[] | CommandArguments | undefined;

const written = (member: string) =>
  new RegExp(`^\\s*\\$\\{\\{\\s*command\\(("[a-z0-9_-]+"|'[a-z0-9_-]+')\\)\\.${member}\\s*\\}\\}\\s*$`);

/**
 * Schema of an argument that is written `${{ command("NAME").MEMBER }}` in the file, and contains the arguments of that
 * command when `plan` is called. In a union with other texts, it must be the first alternative.
 */
export function commandArguments(member: CommandMember): z.ZodType<CommandArguments> {
  const alone = `a single \${{ command("NAME").${member} }} with no other text`;
  const remedy = (text: string): string =>
    text.includes('${{')
      ? `this must be a list, or ${alone}`
      : `write a list: ${JSON.stringify([text.slice(0, 80)])}, or ${alone}`;
  return z
    .string()
    .regex(written(member), { error: ({ input }) => remedy(String(input)) })
    .meta({ holds: `command-${member}` satisfies Holds }) as unknown as z.ZodType<CommandArguments>;
}

const anyCommand = written('[a-z]+');

/** Returns whether a value is taken from a command: as written in the file, or as received by `plan`. */
export function isFromCommand(value: unknown): value is CommandArguments {
  return typeof value === 'string' ? anyCommand.test(value) : Array.isArray(Object(value).command);
}

/**
 * Returns the load-time problems of `only`, the globs of the names that a command may use: it is required if the
 * argument at `place` takes its value from a command, and has no meaning otherwise.
 */
export function examineOnly(
  only: readonly string[] | undefined,
  place: string | undefined,
  { noun, example }: { readonly noun: string; readonly example: string },
): readonly ArgumentProblem[] {
  if (place === undefined) {
    const message = `only limits the names in a command: ${noun} that are listed here need no limit`;
    return only === undefined ? [] : [{ path: ['only'], message }];
  }
  if (only === undefined) {
    const message = `limit the ${noun} that the command may name, for example only: ["${example}"]`;
    return [{ path: [place], message }];
  }
  try {
    compileGlob(only);
    return [];
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const index = only.indexOf(error.pattern);
    return [{ path: index < 0 ? ['only'] : ['only', index], message: error.message }];
  }
}

/** Names in a comment that are not used, each with the reason. */
export type RefusedNames = {
  readonly refused: readonly { readonly name: string; readonly why: string }[];
  /** Number of names in the comment, if it exceeds the limit; none of the names is then used. */
  readonly tooMany?: number;
};

/** Users to add and remove, listed or taken from commands. */
type Users = RefusedNames & { readonly add: readonly string[]; readonly remove: readonly string[] };

/**
 * Returns the users of a step. Names in commands are untrusted: a user is added only if issues of the repository can be
 * assigned to the account, which no team is; and neither added nor removed if the step does the opposite as well. `from:
 * sender` means the author of the comment, if the command has no argument.
 */
export async function usersOf(
  {
    add,
    remove,
    from,
  }: { readonly add?: Names; readonly remove?: Names; readonly from?: string | undefined },
  facts: Facts,
): Promise<Users> {
  const [addsByCommand, removesByCommand] = [isFromCommand(add), isFromCommand(remove)];
  const [added, removed] = [await namedUsers(add, from, facts), await namedUsers(remove, from, facts)];
  const commanded = distinctNames([...(addsByCommand ? added : []), ...(removesByCommand ? removed : [])]);
  if (commanded.length > maxCommandNames) {
    const listed = { add: addsByCommand ? [] : added, remove: removesByCommand ? [] : removed };
    return { ...listed, refused: [], tooMany: commanded.length };
  }
  const possible = addsByCommand && added.length > 0 ? await facts.ask(requestOf(assignable)) : [];
  const loginOf = (name: string): string | undefined =>
    possible.find(({ login }) => toLowerCase(login) === toLowerCase(name))?.login;
  // Forges compare logins without regard to case.
  const reasons = new Map<string, string>();
  for (const name of commanded) {
    const key = toLowerCase(name);
    const [isAdded, isRemoved] = [toNames(added).includes(key), toNames(removed).includes(key)];
    if (isAdded && isRemoved) reasons.set(key, 'it is both added and removed');
    else if (isAdded && addsByCommand && loginOf(name) === undefined)
      reasons.set(key, 'issues of this repository cannot be assigned to it');
  }
  const isUsed = (name: string): boolean => !reasons.has(toLowerCase(name));
  return {
    add: addsByCommand ? added.filter(isUsed).map((name) => loginOf(name) ?? name) : added,
    remove: removesByCommand ? removed.filter(isUsed) : removed,
    refused: commanded.flatMap((name) => {
      const why = reasons.get(toLowerCase(name));
      return why === undefined ? [] : [{ name, why }];
    }),
  };
}

async function namedUsers(names: Names, from: string | undefined, facts: Facts): Promise<readonly string[]> {
  if (!isFromCommand(names)) return distinctNames(names ?? []);
  const said = distinctNames(names.command).filter((name) => name !== '');
  if (said.length > 0 || !names.found || from !== 'sender') return said;
  const { user } = await facts.ask(requestOf(comment));
  return user && user.id > 0 ? [user.login] : [];
}

/** Sentence of a reply about the users that are possible. */
export const userBounds = 'Commands may name users to whom issues of this repository can be assigned.';

/** Words of the reply to rejected names. */
type AnswerWords = {
  readonly action: string;
  /** Part of the marker and target; different for each argument of a rule that may be answered. */
  readonly key: string;
  readonly noun: string;
  /** Sentence before the list of names. */
  readonly heading: string;
  /** Sentence about the names that are possible. */
  readonly bounds: string;
  /** Set if the reply needs another scope than the action. */
  readonly forbidden?: string;
};

/**
 * Plans the reply to rejected names in commands: one comment per subject, rule and argument, edited in place. A sender
 * without write access gets no reply, because an unauthorized account must not make the bot write.
 */
export async function planCommandAnswer(
  { refused, tooMany }: RefusedNames,
  { action, key, noun, heading, bounds, forbidden }: AnswerWords,
  { facts, context }: { readonly facts: Facts; readonly context: PlanContext },
): Promise<readonly Change[]> {
  if (refused.length === 0 && tooMany === undefined) return [];
  if (!isWriter(await facts.ask(requestOf(senderPermission)))) return [];
  // The action follows the key in the marker, so that no key of a `comment` step can equal it.
  const marker = markerOf(context, key, action);
  const live = (await askWritten(facts, commentsFact)).find((one) => isOurs(one, marker, context));
  const target = `comment:${context.rule}/${key} (${action}) on #${indexParams(facts.subject).index}`;
  const lines = refused.map(({ name, why }) => `- ${asCode(name)}: ${why}`);
  const text =
    tooMany === undefined
      ? `${heading}\n\n${lines.join('\n')}\n\n${bounds}`
      : `The comment names ${tooMany} ${noun}, and at most ${maxCommandNames} are allowed. None was changed.\n\n${bounds}`;
  const answer = writeComment(live, withMarker(marker, text), { action, target, facts });
  return [{ ...answer, ...(forbidden === undefined ? {} : { forbidden }) }];
}

/** Sentence of a reply about `only`. */
export function boundsOf(noun: string, only: readonly string[] = []): string {
  return `Commands may name ${noun} that match ${only.map(asCode).join(', ')}.`;
}
