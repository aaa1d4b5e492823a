import type { SubjectKind } from '../contract/events/subject.ts';
import type { PlanContext } from './plan-context.ts';

type Level = PlanContext['level'];

/** Prefix of the statuses of each level. It prevents a rule file from imitating the statuses of another level. */
const spaces: Readonly<Record<Level, string>> = {
  operator: 'reeve/',
  organization: 'reeve-org/',
  repository: 'reeve-repo/',
};

/** Statuses that Reeve itself writes: for merge queues, and for rule files. */
const reserved: readonly string[] = ['reeve/queue', 'reeve/rules'];

/**
 * Matches the only expression allowed in a context: with other expressions, an author could choose which check passes.
 */
const baseRef = /\$\{\{\s*pull_request\.base\.ref\s*\}\}/g;
/** White space around a context, which forges remove. */
const outerSpace = /^[\s\u0085]+|[\s\u0085]+$/g;

/** Maximum length of a context, including the name of the base branch. */
const maxContext = 255;

/**
 * Returns the context of a status: the step's `context`, or the name of the rule if the step has none. The name of the
 * rule gets the prefix of its level, as does, below the operator level, a context without a slash; the operator may use
 * any context. An expression in the context is not resolved.
 */
export function statusContextOf(
  context: string | undefined,
  { rule, level }: { readonly rule: string; readonly level: Level },
): string {
  const space = spaces[level];
  if (context === undefined) return `${space}${rule}`;
  const name = context.replace(outerSpace, '');
  const isName = level !== 'operator' && !name.replace(baseRef, '').includes('/');
  return isName ? `${space}${name}` : name;
}

/** Returns whether a context contains the base branch of the pull request. */
export function namesBase(context: string): boolean {
  return context.search(baseRef) >= 0;
}

/** Returns whether a step with this context writes a status with this name for some base branch. */
export function isOfContext(name: string, context: string): boolean {
  const [first = '', ...others] = context.split(baseRef);
  const last = others.at(-1);
  if (last === undefined) return name === first;
  return name.length > first.length + last.length && name.startsWith(first) && name.endsWith(last);
}

/** Returns the level whose rules write such contexts by default; 'reeve' for a status that Reeve itself writes. */
export function levelOfContext(name: string): Level | 'reeve' | undefined {
  if (reserved.includes(name)) return 'reeve';
  const levels = ['operator', 'organization', 'repository'] as const;
  return levels.find((level) => name.startsWith(spaces[level]));
}

/**
 * Returns why a rule file of a level must not write a status with this name, and what to write instead; undefined if
 * the name is allowed.
 */
export function problemOfContext(
  name: string,
  { level, subjects = [] }: { readonly level: Level; readonly subjects?: readonly SubjectKind[] },
): string | undefined {
  const rest = name.replace(baseRef, '');
  if (rest.includes('${{')) {
    return 'a context may contain ${{ pull_request.base.ref }}, but no other expression: an author must not be able to choose which check passes';
  }
  if (rest !== name && subjects.some((kind) => kind !== 'pull_request')) {
    return 'a context that contains the base branch is allowed only in rules about pull requests';
  }
  const folded = name.toLowerCase();
  const space = spaces[level];
  if (reserved.includes(folded)) {
    return `${folded} is the status of Reeve itself: use another context, such as ${space}${folded.slice('reeve/'.length)}-rule`;
  }
  if (level !== 'operator') {
    if (name.startsWith(space) && name.length > space.length) return undefined;
    const tail = name.replace(/^(reeve|reeve-org|reeve-repo)\//i, '') || 'NAME';
    return `files of the ${level} write statuses that begin with ${space}, so that they cannot imitate other checks: write context: ${space}${tail}, and require that one`;
  }
  const taken = [spaces.organization, spaces.repository].find((other) => folded.startsWith(other));
  return taken === undefined
    ? undefined
    : `statuses that begin with ${taken} are those of files below the operator's: write context: ${space}${name.slice(taken.length) || 'NAME'}`;
}

/**
 * Returns the context with the base branch inserted. Throws if the result is the name of a status that this level must
 * not write.
 */
export function renderContext(name: string, base: string, { level }: { readonly level: Level }): string {
  const whole = name.replace(baseRef, () => base).replace(outerSpace, '');
  const problem = problemOfContext(whole.replaceAll('${{', ''), { level });
  if (problem !== undefined) throw new Error(`context "${whole}": ${problem}`);
  if (whole.length > maxContext)
    throw new Error(`the context is longer than ${maxContext} characters with the name of the base branch`);
  return whole;
}

/** Returns the context that a rule below the operator level used before each level had its own prefix. */
export function formerContextOf({
  rule,
  level,
}: {
  readonly rule: string;
  readonly level: Level;
}): string | undefined {
  const name = `${spaces.operator}${rule}`;
  return level === 'operator' || reserved.includes(name.toLowerCase()) ? undefined : name;
}
