import {
  type Conversion,
  type ConversionContext,
  createRuleNames,
  type Entry,
  type RuleDraft,
} from './conversion.ts';

/** A draft whose optional members may be undefined. */
type Loose<T> = { readonly [name in keyof T]: T[name] | (undefined extends T[name] ? undefined : never) };

/** Collects what a format makes of its source. */
export class ConversionBuilder {
  readonly nameOf = createRuleNames();
  readonly #context: ConversionContext;
  readonly #rules: RuleDraft[] = [];
  readonly #entries: Entry[] = [];
  readonly #todo = new Set<string>();
  readonly #labels = new Set<string>();

  constructor(context: ConversionContext) {
    this.#context = context;
  }

  get hasRules(): boolean {
    return this.#rules.length > 0;
  }

  /** Adds a rule; absent members may be undefined. Returns its name, for entries. */
  rule(draft: Loose<RuleDraft>): string {
    const given = Object.entries(draft).filter(([, value]) => value !== undefined);
    this.#rules.push(Object.fromEntries(given) as unknown as RuleDraft);
    return draft.name;
  }

  /** Adds an entry that is `differs` if there are notes, and `exact` otherwise. */
  carried(
    line: number,
    part: string,
    rules: readonly string[],
    ...notes: readonly (string | undefined)[]
  ): void {
    const all = [...new Set(notes.filter((note) => note !== undefined))];
    const note = all.length === 0 ? {} : { note: all.join('; ') };
    this.#entries.push({ line, part, outcome: all.length === 0 ? 'exact' : 'differs', ...note, rules });
  }

  leftOut(line: number, part: string, note: string): void {
    this.#entries.push({ line, part, outcome: 'left-out', note });
  }

  withoutMeaning(line: number, part: string, note: string): void {
    this.#entries.push({ line, part, outcome: 'without-meaning', note });
  }

  todo(text: string): void {
    this.#todo.add(text);
  }

  /** Notes labels that a rule sets: GitHub creates them at the first use, a rule needs them. */
  sets(...labels: readonly string[]): void {
    const known = this.#context.names.forge.labels;
    for (const label of labels) if (known?.includes(label) !== true) this.#labels.add(label);
  }

  done(): Conversion {
    const entries = this.#entries.toSorted((one, other) => one.line - other.line);
    const labels = [...this.#labels].map((label) => `\`${label}\``).join(', ');
    const create = `Create the labels that do not exist: ${labels}. GitHub creates a label when it is first set; a rule fails without it.`;
    const todo = [...this.#todo, ...(labels === '' ? [] : [create])];
    return { rules: this.#rules, entries, todo };
  }
}
