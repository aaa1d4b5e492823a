import { Document, isMap, isScalar, type Pair, type Scalar } from 'yaml';
import { Condition, literal } from './condition.ts';
import { type ArgumentValue, type PlainValue, type RuleDraft, Template } from './conversion.ts';

/** Limits of a rule file; see "A file" in docs/rules.md. Room is left for what a person adds. */
const maxRulesPerFile = 100;
const maxFileBytes = 60_000;

/** One rule file that the importer writes, and the drafts that it contains. */
export type RenderedFile = {
  readonly text: string;
  readonly drafts: readonly RuleDraft[];
  /** The named conditions that each draft needs, by its name. */
  readonly needed: ReadonlyMap<string, readonly string[]>;
};

export type RenderOptions = {
  /** Name of the source file. */
  readonly from: string;
  /** `in` of the files. */
  readonly scopes: readonly string[] | undefined;
  readonly conditions?: ReadonlyMap<string, Condition> | undefined;
};

/** Why a draft cannot be written. */
export class DraftError extends Error {}

/**
 * Returns the rule files for the drafts, split where a file would be too large. Foreign text becomes one YAML scalar
 * each, and comments of the source are quoted with `>`, so that no tool takes one as a directive.
 * Throws DraftError for text with `${{` that is no template; `checkDraft` tests one draft.
 */
export function renderRules(drafts: readonly RuleDraft[], options: RenderOptions): readonly RenderedFile[] {
  const files: { text: string; drafts: RuleDraft[] }[] = [];
  for (const draft of drafts) {
    const last = files.at(-1);
    if (last && last.drafts.length < maxRulesPerFile) {
      const more = [...last.drafts, draft];
      const text = renderFile(more, options);
      if (Buffer.byteLength(text) <= maxFileBytes) {
        files[files.length - 1] = { text, drafts: more };
        continue;
      }
    }
    files.push({ text: renderFile([draft], options), drafts: [draft] });
  }
  return files.map(({ text, drafts: some }) => ({
    text,
    drafts: some,
    needed: new Map(
      some.map((draft) => [
        draft.name,
        namesIn(JSON.stringify(ruleValue(draft)), options.conditions ?? new Map()),
      ]),
    ),
  }));
}

/** Throws DraftError if the draft cannot be written. */
export function checkDraft(draft: RuleDraft): void {
  renderFile([draft], { from: 'x', scopes: undefined });
}

function renderFile(
  drafts: readonly RuleDraft[],
  { from, scopes, conditions = new Map() }: RenderOptions,
): string {
  const written = Object.fromEntries(drafts.map((draft) => [draft.name, ruleValue(draft)]));
  const needed = namesIn(JSON.stringify(written), conditions);
  const document = new Document(
    {
      version: 1,
      mode: 'observe',
      ...(scopes === undefined ? {} : { in: scopes }),
      ...(needed.length === 0
        ? {}
        : { conditions: Object.fromEntries(needed.map((name) => [name, conditions.get(name)?.text])) }),
      rules: written,
    },
    // Rule files have no anchors: values that several drafts share are written out.
    { aliasDuplicateObjects: false },
  );
  document.commentBefore = ` Imported from ${oneLine(from)}.`;
  const [, mode] = isMap(document.contents) ? document.contents.items : [];
  if (mode && isScalar(mode.key))
    mode.key.commentBefore =
      ' Remove this line to let the rules write. Until then, `reeve apply --open --plan` and the dashboard show what they would do.';
  const rules = document.get('rules', true);
  if (isMap(rules)) {
    for (const [place, draft] of drafts.entries()) {
      const pair = rules.items[place];
      if (draft.comment !== undefined && pair && isScalar(pair.key))
        pair.key.commentBefore = quotedComment(draft.comment);
    }
  }
  foldConditions(document);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** Returns the names of the conditions that a text uses, and of those that these use, in the order of the map. */
function namesIn(text: string, conditions: ReadonlyMap<string, Condition>): readonly string[] {
  const found = new Set<string>();
  const search = (inner: string): void => {
    for (const [word] of inner.matchAll(/\b[a-z_][a-z0-9_]*\b/g)) {
      const condition = found.has(word) ? undefined : conditions.get(word);
      if (condition === undefined) continue;
      found.add(word);
      search(condition.text);
    }
  };
  search(text);
  return [...conditions.keys()].filter((name) => found.has(name));
}

function ruleValue({ description, on, each, in: scopes, limits, if: condition, steps }: RuleDraft): unknown {
  return {
    ...(description === undefined ? {} : { description: description.slice(0, 1_000) }),
    ...(scopes === undefined ? {} : { in: scopes }),
    on: plain(on),
    ...(each === undefined ? {} : { each: plain(each) }),
    ...(limits === undefined ? {} : { limits }),
    ...(condition === undefined || condition.text === 'true' ? {} : { if: condition.text }),
    steps: steps.map(({ name, uses, if: of, with: given }) => ({
      ...(name === undefined ? {} : { name: oneLine(name).slice(0, 100) }),
      uses,
      ...(of === undefined || of.text === 'true' ? {} : { if: of.text }),
      ...(given === undefined ? {} : { with: argument(given) }),
    })),
  };
}

function plain(value: PlainValue): unknown {
  return value;
}

function argument(value: ArgumentValue): unknown {
  if (value instanceof Condition) return literalCondition(value);
  if (value instanceof Template) return templateText(value);
  if (typeof value === 'string') return withoutTemplate(value);
  if (Array.isArray(value)) return value.map(argument);
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value as { readonly [name: string]: ArgumentValue }).map(([name, inner]) => [
        withoutTemplate(name),
        argument(inner),
      ]),
    );
  return value;
}

/** `true` and `false` are written as such: an argument may take a condition or a yes or no. */
function literalCondition({ text }: Condition): string | boolean {
  return text === 'true' ? true : text === 'false' ? false : text;
}

function withoutTemplate(text: string): string {
  if (text.includes('${{')) throw new DraftError('it contains `${{` where the language takes no template');
  return text;
}

/** Literal text cannot become an expression, also where it meets the next part: `$` before `${{` would escape it. */
function templateText({ parts }: Template): string {
  const joined: (string | { readonly expression: string })[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined
    .map((part, place) => {
      if (typeof part !== 'string') return `\${{ ${part.expression} }}`;
      // A replacement text would read `$$` as one `$`.
      const escaped = part.replaceAll('${{', () => '$${{');
      return place === joined.length - 1
        ? escaped
        : escaped.replace(/\$+$/, (signs) => `\${{ ${literal(signs)} }}`);
    })
    .join('');
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

/** Returns a comment of the source with a quotation mark before each line, for at most 40 lines. */
function quotedComment(comment: string): string {
  const lines = comment
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .slice(0, 40)
    .map((line) =>
      line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g, ' '),
    );
  return lines.map((line) => ` > ${line.replace(/^[#\s]+/, '').trimEnd()}`.trimEnd()).join('\n');
}

/** Writes conditions that would need quotes as block scalars, so that they can be read. */
function foldConditions(document: Document): void {
  const visit = (node: unknown): void => {
    if (!isMap(node)) {
      if (typeof node === 'object' && node !== null && 'items' in node)
        for (const item of node.items as unknown[]) visit(item);
      return;
    }
    for (const pair of node.items as Pair[]) {
      if (isScalar(pair.key) && pair.key.value === 'if' && isScalar(pair.value)) {
        const scalar = pair.value as Scalar;
        if (typeof scalar.value === 'string' && /^[!{["'&*#?|>@`%-]|: | #/.test(scalar.value))
          scalar.type = 'BLOCK_FOLDED';
      } else visit(pair.value);
    }
  };
  visit(document.contents);
}
