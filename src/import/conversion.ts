import type { Condition } from './condition.ts';
import type { Names } from './names.ts';

/** A file of another bot. */
export type SourceFile = {
  /** Path as the user gave it, for messages and the report. */
  readonly path: string;
  readonly text: string;
  /** The workflows of the same repository: actions read their options there. */
  readonly workflows?: readonly SourceFile[];
  /** Path in the repository; absent if it is not known, as for a file outside of a given folder. */
  readonly place?: string;
  /** The other files of the same repository, for a format that reads them together. */
  readonly others?: readonly SourceFile[];
};

/** For which source of rules the importer writes; see "Where files belong" in docs/rules.md. */
export type Target = 'operator' | 'organization' | 'repository';

/** What a format may ask while it converts a file. */
export type ConversionContext = {
  readonly names: Names;
  readonly target: Target;
  /** The repository that the user named, as `owner/name`. */
  readonly repository?: string | undefined;
};

/**
 * What became of one part of the source. `exact`: the rule decides as the source. `differs`: `note` names a concrete
 * input on which the rule decides in another way than the source, and what each of them does. `left-out`: not
 * converted; `note` says why. `without-meaning`: it has no effect in the source or at a forge; `note` says why.
 */
export type Entry = {
  /** Line of the source, starting at 1. */
  readonly line: number;
  /** The part of the source, in a few words, such as `label docs` or `exempt-issue-labels: keep`. */
  readonly part: string;
  readonly outcome: 'exact' | 'differs' | 'left-out' | 'without-meaning';
  readonly note?: string;
  /**
   * It is none of the parts that the format counts, such as a queue of Mergify, or a difference that concerns
   * many rules.
   */
  readonly apart?: true;
  /** For a difference that concerns many parts: the lines of these parts. */
  readonly concerns?: readonly number[];
  /** Names of the drafts that carry this part: if one of them cannot be used, the part is left out. */
  readonly rules?: readonly string[];
};

/** Text of an argument that may contain expressions: literal parts are strings, and are never evaluated. */
export class Template {
  readonly parts: readonly (string | { readonly expression: string })[];

  constructor(...parts: readonly (string | { readonly expression: string })[]) {
    this.parts = parts;
  }
}

/**
 * Value of an argument. A plain string is written as it is, and a rule in which one contains `${{` is left out; foreign
 * text for an argument that takes templates is a Template of one literal part.
 */
export type ArgumentValue =
  | string
  | number
  | boolean
  | Condition
  | Template
  | readonly ArgumentValue[]
  | { readonly [name: string]: ArgumentValue };

export type StepDraft = {
  readonly name?: string;
  readonly uses: string;
  readonly if?: Condition;
  readonly with?: { readonly [name: string]: ArgumentValue };
};

/** The value of `on` or `each`: plain YAML. */
export type PlainValue =
  | string
  | number
  | boolean
  | readonly PlainValue[]
  | { readonly [name: string]: PlainValue };

/** One rule that the importer writes. */
export type RuleDraft = {
  /** Name of the rule; unique within its conversion and valid in rule files: see `ruleName`. */
  readonly name: string;
  readonly description?: string;
  /** Comments that stand before this part of the source, without `#`. */
  readonly comment?: string;
  readonly on: PlainValue;
  readonly each?: PlainValue;
  readonly in?: readonly string[];
  readonly limits?: { readonly items?: number; readonly changes?: number };
  readonly if?: Condition;
  /** At most ten; see `inSteps`. */
  readonly steps: readonly StepDraft[];
};

/** A file that is no rule file, such as CODEOWNERS. `path`: its place in the repository. */
export type OtherFile = { readonly path: string; readonly text: string };

export type Conversion = {
  readonly rules: readonly RuleDraft[];
  /** Named conditions, which the conditions of the rules and other named ones may use; each file has those it needs. */
  readonly conditions?: ReadonlyMap<string, Condition>;
  readonly entries: readonly Entry[];
  readonly files?: readonly OtherFile[];
  /** What a person has to do besides, such as creating a required status. */
  readonly todo?: readonly string[];
};

/** One format that can be imported. */
export type Format = {
  /** Name for `--as`. */
  readonly name: string;
  /** The bot, for people. */
  readonly title: string;
  /** What the entries of this format are, in the plural: `labels`, `rules`, `options`, `keys`, `lines`. */
  readonly counts: string;
  /** Globs of the paths in a repository at which the bot reads its configuration. */
  readonly places: readonly string[];
  /** Whether a file at such a place is of this format; absent: each is. */
  readonly isFormat?: (file: SourceFile) => boolean;
  /** Whether the files of a repository have one result: `convert` is called for the first of them, with the `others`. */
  readonly isGrouped?: true;
  /** Throws `SourceError` if the file cannot be read at all. What it does not understand becomes a `left-out` entry. */
  readonly convert: (file: SourceFile, context: ConversionContext) => Conversion;
};

/** The source is not of its format at all. */
export class SourceError extends Error {
  readonly line: number;

  constructor(message: string, line = 1) {
    super(message);
    this.name = 'SourceError';
    this.line = line;
  }
}

/**
 * Returns a function that makes names of rules: the words of the source in lower case with hyphens, at most 63
 * characters, with a number where a name was given before.
 */
export function createRuleNames(): (words: string) => string {
  const given = new Set<string>();
  return (words) => {
    const base =
      words
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '')
        .slice(0, 56)
        .replace(/-+$/, '') || 'rule';
    let name = base;
    for (let number = 2; given.has(name); number += 1) name = `${base}-${number}`;
    given.add(name);
    return name;
  };
}
