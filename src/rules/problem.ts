/** Codes of problems in rule files. Scripts and tests use the codes; messages are for people. */
export const problemCodes = {
  'file-name': 'Rules are not read from a file with this name.',
  'file-size': 'The file is larger than 64 KiB.',
  encoding: 'The file is not UTF-8.',
  yaml: 'The text is not in the subset of YAML that rule files may use.',
  'yaml-alias': 'The file uses an alias or an anchor.',
  'yaml-tag': 'The file uses a tag, often because an unquoted value starts with `!`.',
  'duplicate-key': 'A key, often the name of a rule, occurs twice in one map.',
  'unknown-key': 'The grammar has no such key.',
  'missing-key': 'A required key is missing.',
  type: 'A value has the wrong type.',
  value: 'A value is not one of the allowed values.',
  'unknown-kind': '`on` names a kind of event that does not exist.',
  'unknown-activity': '`on` names an activity that this kind does not have.',
  'unknown-action': '`uses` names an action that does not exist.',
  filter: 'This kind of event does not support the filter in `on`.',
  pattern: 'A pattern is invalid or cannot match anything.',
  schedule: 'A schedule never runs.',
  each: '`each` is missing, or does not fit the events of the rule.',
  subject: 'An action or a fact is not available for this subject.',
  expression: 'An expression is not in the subset of CEL that rule files may use.',
  'unknown-name': 'An expression uses a name that does not exist.',
  'unknown-member': 'An expression uses a member that a value does not have.',
  'needs-has': 'An expression uses a member that is not always present, without has().',
  'null-member': 'A warning: an expression uses a member that forges often write as null.',
  'opposing-rules': 'A warning: two rules of the file, or two steps of a rule, undo each other.',
  'merge-reviews': 'A warning: a merge counts reviews that the forge does not count.',
  'merge-gate': 'A warning: a status of another rule holds back a merge only if the branch requires it.',
  'gate-events': 'A warning: a status of pull requests is not judged again when its commit or base changes.',
  'silent-change': 'A warning: a deciding rule with `on: auto` reads what can change without an event.',
  'own-change':
    'A warning: a rule with `on: auto` reads what another rule of the file changes, which starts no rule.',
  'unheard-change': 'A warning: what a rule reads can change by an event that its `on` does not list.',
  'required-context': 'A warning: a branch requires a status that has another name now.',
  'missing-context':
    'A warning: no recent commit has a status that a rule, or a branch into which it merges, waits for.',
  'renamed-files': 'A warning: the condition of a gate sees only the new name of a renamed file.',
  'codeowners-line': 'A warning: a line of CODEOWNERS matches no file in a repository that the rule covers.',
  'unknown-object':
    'A warning: a team or repository that a rule names does not exist, or the account cannot see it.',
  'unknown-label':
    'A warning: a label that a rule names does not exist in a repository that the rule covers.',
  access:
    'A warning: the account may not read a fact or use an action of the rule in a repository or an organization that the rule covers, or sees no organization for a rule that visits organizations.',
  scope: 'A warning: `in` includes none of the served repositories.',
  runners: 'A warning: the account sees no runner, or not all, for a rule that visits runners.',
  served: 'A warning: no repository is served, or a repository in the operator file cannot be seen.',
  secret: 'A warning: a named secret does not exist, or no message can be sent to its address.',
  'expression-type': 'An expression compares, joins or returns values of the wrong type.',
  template: 'A template is invalid, or not allowed in this position.',
  level: 'A file from this source may not use this.',
  stricter: 'A rule is less strict than its file.',
  argument: 'An argument of an action is wrong.',
  command:
    'Arguments of a command are used where they may not be, or `permission` stands at a rule without events of comments.',
  'status-name': 'Two steps write one status, or a status has a name of Reeve itself.',
  parameter: 'A parameter is declared, used or given in a wrong way.',
  include: 'A pack is included in a wrong way, is not there, or cannot be used.',
  'unsent-event':
    'A warning: the configured forge does not send an event to which a rule listens; the rule runs for its other events.',
  polling:
    'A warning: the server of these settings polls the forge, and polling does not find all that the rule needs.',
  capability: 'The configured forge does not support a feature that the rule uses.',
} as const;

export type ProblemCode = keyof typeof problemCodes;

/** A remedy as an edit: the text to write instead of a range, given as offsets. */
export type Fix = { readonly start: number; readonly end: number; readonly text: string };

/** A problem in a rule file, with its position. A file with any problem is rejected as a whole. */
export type Problem = {
  readonly code: ProblemCode;
  /** The problem and its remedy: one or two sentences, without a full stop at the end. */
  readonly message: string;
  /** The nearest valid word, as a suggestion. Without `fix`, it replaces the marked range. */
  readonly suggestion?: string;
  /** The remedy as an edit of the file's text. */
  readonly fix?: Fix;
  readonly path: string;
  /** Line number, starting at 1. */
  readonly line: number;
  /** Column number, starting at 1, in UTF-16 units. */
  readonly column: number;
  /** The line of the file, without its line ending. */
  readonly source: string;
  /** Width of the marked range in columns, at least 1. */
  readonly width: number;
};

/**
 * Returns the remedy of a problem as an edit of the file's text: without an own one, the suggestion instead of the marked
 * range; undefined if the message alone says what to do.
 */
export function fixOf({ fix, suggestion, line, column, width }: Problem, text: string): Fix | undefined {
  if (fix !== undefined || suggestion === undefined) return fix;
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) start = text.indexOf('\n', start) + 1;
  start += column - 1;
  return { start, end: start + width, text: suggestion };
}

const maxSourceColumns = 160;

/**
 * Formats a problem for people: position, code and message, the source line, and a marker below the position. Lines
 * longer than a terminal line are shortened around the position. Control characters are made visible, so that a rule
 * file cannot control the terminal.
 */
export function formatProblem(problem: Problem): string {
  const { path, line, column, code, message, suggestion } = problem;
  const hint = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
  const head = `${path}:${line}:${column}: ${code}: ${message}${hint}`;
  const cutFrom = Math.max(0, column - 1 - maxSourceColumns / 2);
  const shown = problem.source.slice(cutFrom, cutFrom + maxSourceColumns);
  if (shown.trim() === '') return visible(head);
  const indent = problem.source.slice(cutFrom, column - 1).replace(/[^\t]/g, ' ');
  const width = Math.max(1, Math.min(problem.width, shown.length - indent.length));
  const gutter = `${line}`.padStart(5);
  return `${visible(head)}\n${gutter} | ${visible(shown)}\n${' '.repeat(5)} | ${indent}${'^'.repeat(width)}`;
}

/** Formats the problems of a file for people, separated by empty lines. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join('\n\n');
}

function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** Returns a problem at a whole line of a file. `textOf` returns the file's text. */
export function problemAtLine(
  problem: {
    readonly code: ProblemCode;
    readonly message: string;
    readonly path: string;
    readonly line: number;
  },
  textOf: (path: string) => string,
): Problem {
  const source = textOf(problem.path).split(/\r?\n/)[problem.line - 1] ?? '';
  const column = source.search(/\S/) + 1 || 1;
  return { ...problem, column, source, width: Math.max(1, source.trim().length) };
}

/** Returns the most similar known word; undefined if none is similar enough. */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(written.length / 3));
  const wanted = normal(written);
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const word of known) {
    if (word === written || Math.abs(word.length - written.length) > limit + 1) continue;
    const distance = editDistance(wanted, normal(word), bestDistance);
    if (distance < bestDistance) {
      best = word;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns a word in normalized spelling: `pullRequest`, `pull-request` and `Pull_Request` become equal. */
function normal(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '');
}

/**
 * Returns the edit distance of two words: the number of insertions, deletions, substitutions and transpositions.
 * Returns `limit` if the distance is at least `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return Math.min(last[b.length] ?? limit, limit);
}

/** A problem in an expression; `start` and `end` are offsets in the expression's text. */
export type ExpressionProblem = {
  readonly code: ProblemCode;
  readonly message: string;
  readonly suggestion?: string;
  /** The remedy as an edit of the expression's text; `written` is the text that it replaces. */
  readonly fix?: Fix & { readonly written: string };
  readonly start: number;
  readonly end: number;
};

/** Returns a message followed by its remedy, if there is one. */
export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}; ${hint}`;
}
