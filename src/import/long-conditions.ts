import { Condition } from './condition.ts';
import type { ArgumentValue, RuleDraft } from './conversion.ts';

/** An expression of the language has at most 2,000 characters, and at most 400 names, literals, operators and calls. */
const maxLength = 1_500;
/** Shorter parts get no name. */
const minLength = 100;

/** Gives names to the parts of conditions that are too long for one expression. Equal parts have one name. */
export class LongConditions {
  readonly named = new Map<string, Condition>();

  /** Returns the draft with conditions that are short enough. */
  shorten(draft: RuleDraft): RuleDraft {
    return {
      ...draft,
      ...(draft.if ? { if: this.#short(draft.if) } : {}),
      steps: draft.steps.map((step) => ({
        ...step,
        ...(step.if ? { if: this.#short(step.if) } : {}),
        ...(step.with ? { with: this.#argument(step.with) as typeof step.with } : {}),
      })),
    };
  }

  #argument(value: ArgumentValue): ArgumentValue {
    if (value instanceof Condition) return this.#short(value);
    if (Array.isArray(value)) return value.map((one: ArgumentValue) => this.#argument(one));
    if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(
      Object.entries(value as { readonly [name: string]: ArgumentValue }).map(([name, one]) => [
        name,
        this.#argument(one),
      ]),
    );
  }

  #short(condition: Condition): Condition {
    const text = this.#shortText(condition.text);
    return text === condition.text ? condition : new Condition(text, condition.binds, condition);
  }

  #shortText(text: string): string {
    if (text.length <= maxLength) return text;
    const [, sign = '', inner] = /^(!?)\((.*)\)$/s.exec(text) ?? [];
    if (inner !== undefined && isOneGroup(text.slice(sign.length))) return `${sign}${this.#nameOf(inner)}`;
    const operator = splitAt(text, ' || ').length > 1 ? ' || ' : ' && ';
    const parts = [...splitAt(text, operator)];
    if (parts.length < 2) return text;
    const longest = (): number =>
      parts.reduce((best, part, place) => (part.length > (parts[best]?.length ?? 0) ? place : best), 0);
    while (parts.join(operator).length > maxLength) {
      const place = longest();
      const part = parts[place] ?? '';
      if (part.length < minLength) return this.#halves(parts, operator);
      const [, negation = '', group] = /^(!?)\((.*)\)$/s.exec(part) ?? [];
      parts[place] =
        group !== undefined && isOneGroup(part.slice(negation.length))
          ? `${negation}${this.#nameOf(group)}`
          : this.#nameOf(part);
    }
    return parts.join(operator);
  }

  /** Many short parts: each half gets a name. */
  #halves(parts: readonly string[], operator: string): string {
    const middle = Math.ceil(parts.length / 2);
    return [parts.slice(0, middle), parts.slice(middle)]
      .map((half) => this.#nameOf(half.join(operator)))
      .join(operator);
  }

  #nameOf(text: string): string {
    const short = this.#shortText(text);
    for (const [name, known] of this.named) if (known.text === short) return name;
    const name = `condition_${this.named.size + 1}`;
    this.named.set(name, new Condition(short, 'or'));
    return name;
  }
}

/** Whether the parenthesis at the beginning of the text is closed by the one at its end. */
function isOneGroup(text: string): boolean {
  return text.startsWith('(') && splitAt(text.slice(1, -1), ')').length === 1;
}

/** Splits an expression at an operator that stands outside of parentheses, brackets and texts. */
function splitAt(text: string, operator: ' && ' | ' || ' | ')'): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let isText = false;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (isText) {
      if (character === '\\') at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (depth === 0 && text.startsWith(operator, at)) {
      parts.push(text.slice(start, at));
      start = at + operator.length;
      at = start - 1;
    } else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
  }
  parts.push(text.slice(start));
  return parts;
}
