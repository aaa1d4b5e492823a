import { type Conversion, createRuleNames, type Entry, type RuleDraft } from './conversion.ts';

/** A draft whose optional members may be undefined. */
type Loose<T> = { readonly [name in keyof T]: T[name] | (undefined extends T[name] ? undefined : never) };

/** Collects what a format makes of its source. */
export class ConversionBuilder {
  readonly nameOf = createRuleNames();
  readonly #rules: RuleDraft[] = [];
  readonly #entries: Entry[] = [];
  readonly #todo = new Set<string>();

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

  /** Adds an entry that is none of the parts that the format counts, and carries over exactly. */
  besides(line: number, part: string): void {
    this.#entries.push({ line, part, outcome: 'exact', apart: true });
  }

  /** `isApart`: it is none of the parts that the format counts. */
  leftOut(
    line: number,
    part: string,
    note: string,
    { isApart = false }: { readonly isApart?: boolean } = {},
  ): void {
    this.#entries.push({
      line,
      part,
      outcome: 'left-out',
      note,
      ...(isApart ? { apart: true as const } : {}),
    });
  }

  withoutMeaning(line: number, part: string, note: string): void {
    this.#entries.push({ line, part, outcome: 'without-meaning', note });
  }

  todo(text: string): void {
    this.#todo.add(text);
  }

  done(): Conversion {
    const entries = this.#entries.toSorted((one, other) => one.line - other.line);
    return { rules: this.#rules, entries, todo: [...this.#todo] };
  }
}
