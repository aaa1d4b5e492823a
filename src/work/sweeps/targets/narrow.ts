import { type ASTNode, parse } from '@marcbachmann/cel-js';

/** What a request for notifications leaves out, so that a condition need not be asked of it. */
type Narrowed = {
  readonly all?: true;
  readonly 'status-types'?: readonly string[];
  readonly 'subject-type'?: readonly string[];
  readonly since?: string;
  readonly before?: string;
};

const subjectTypes: Readonly<Record<string, string>> = {
  Issue: 'issue',
  Pull: 'pull',
  Commit: 'commit',
  Repository: 'repository',
};

/**
 * Returns the narrowest request for notifications that still brings everything a condition may hold of. Only what must
 * hold (the parts between `&&`) narrows: `notification.unread`, `notification.pinned`, the subject's type, and
 * `updated_at` against an instant or `now` less a duration. Without anything on unread and pinned it asks for what the
 * forge shows by default, unread and pinned ones; where the condition speaks of them in other ways, for all.
 */
export function narrowNotifications(condition: string | undefined, now: Date): Narrowed {
  const parts = condition === undefined ? [] : conjuncts(parse(condition).ast);
  return { ...statuses(parts, condition ?? ''), ...types(parts), ...bounds(parts, now) };
}

function conjuncts(node: ASTNode): readonly ASTNode[] {
  return node.op === '&&' ? [...conjuncts(node.args[0]), ...conjuncts(node.args[1])] : [node];
}

function statuses(parts: readonly ASTNode[], condition: string): Narrowed {
  const said = (name: string): boolean | undefined => {
    for (const part of parts) {
      const answer = saysFlag(part, `notification.${name}`);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  const [unread, pinned] = [said('unread'), said('pinned')];
  if (unread === true) return { 'status-types': ['unread'] };
  if (pinned === true) return { 'status-types': ['pinned'] };
  if (unread === false && pinned === false) return { 'status-types': ['read'] };
  if (unread === false) return { 'status-types': ['read', 'pinned'] };
  if (pinned === false && !/notification\.unread\b/.test(condition)) return { 'status-types': ['unread'] };
  return /notification\.(unread|pinned)\b/.test(condition) ? { all: true } : {};
}

/** `x`, `!x`, `x == true`, `x == false`. */
function saysFlag(node: ASTNode, chain: string): boolean | undefined {
  if (nodeText(node) === chain) return true;
  if (node.op === '!_') {
    const inner = saysFlag(node.args, chain);
    return inner === undefined ? undefined : !inner;
  }
  if (node.op !== '==' || nodeText(node.args[0]) !== chain || node.args[1].op !== 'value') return undefined;
  const value: unknown = node.args[1].args;
  return typeof value === 'boolean' ? value : undefined;
}

function types(parts: readonly ASTNode[]): Narrowed {
  for (const part of parts) {
    if (part.op !== '==' && part.op !== 'in') continue;
    const [left, right] = part.args;
    if (nodeText(left) !== 'notification.subject.type') continue;
    const written = right.op === 'list' ? right.args : [right];
    const words = written.map((one: ASTNode) =>
      one.op === 'value' ? subjectTypes[String(one.args)] : undefined,
    );
    if (words.length > 0 && words.every((word: string | undefined) => word !== undefined)) {
      return { 'subject-type': words };
    }
  }
  return {};
}

/** The forge's bounds include their instant, so that they serve `<` and `<=` alike: the condition decides the rest. */
function bounds(parts: readonly ASTNode[], now: Date): Narrowed {
  const found: { since?: string; before?: string } = {};
  for (const part of parts) {
    if (part.op !== '<' && part.op !== '<=' && part.op !== '>' && part.op !== '>=') continue;
    const [left, right] = part.args;
    const isLeft = isUpdated(left);
    if (!isLeft && !isUpdated(right)) continue;
    const instant = instantOfNode(isLeft ? right : left, now);
    if (instant === undefined) continue;
    const isUpper = part.op.startsWith('<') === isLeft;
    if (isUpper) found.before = earlier(found.before, instant);
    else found.since = later(found.since, instant);
  }
  return found;
}

/** Instants of this form compare as texts. */
function earlier(known: string | undefined, instant: string): string {
  return known === undefined || instant < known ? instant : known;
}

function later(known: string | undefined, instant: string): string {
  return known === undefined || instant > known ? instant : known;
}

function isUpdated(node: ASTNode): boolean {
  return (
    node.op === 'call' &&
    node.args[0] === 'timestamp' &&
    nodeText(node.args[1][0]) === 'notification.updated_at'
  );
}

/** `timestamp("…")`, `now`, `now - duration("…")`. */
function instantOfNode(node: ASTNode, now: Date): string | undefined {
  if (nodeText(node) === 'now') return now.toISOString();
  if (node.op === 'call' && node.args[0] === 'timestamp') {
    const at = new Date(literalText(node.args[1][0]) ?? Number.NaN);
    return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
  }
  if (node.op !== '-' || nodeText(node.args[0]) !== 'now') return undefined;
  const length = node.args[1];
  if (length.op !== 'call' || length.args[0] !== 'duration') return undefined;
  const ms = durationMs(literalText(length.args[1][0]) ?? '');
  return ms === undefined ? undefined : new Date(now.getTime() - ms).toISOString();
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function durationMs(written: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(written)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of written.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    sum += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  }
  return sum;
}

function literalText(node: ASTNode | undefined): string | undefined {
  return node?.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}

/** Returns a member chain as text, without spaces; other expressions as they are written. */
function nodeText(node: ASTNode | undefined): string {
  if (node === undefined) return '';
  if (node.op === 'id') return node.args;
  if (node.op === '.') return `${nodeText(node.args[0])}.${node.args[1]}`;
  return '';
}
