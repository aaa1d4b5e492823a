/** A part of an expanded text that stands for a part of the text in the file. */
type ExpandedSegment = {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  /** Whether it is the value of a parameter, and not a copy. */
  readonly isInserted: boolean;
};

/** What is wrong in a text with parameters; offsets count in the text of the file. */
export type ExpansionProblem = { readonly message: string; readonly start: number; readonly end: number };

/** A text that grows from copies of another one and from inserted values, and knows where each came from. */
export class Expansion {
  text = '';
  readonly problems: ExpansionProblem[] = [];
  readonly #segments: ExpandedSegment[] = [];

  /** Appends a part of the text of the file. */
  copy(source: string, from: number, to: number): void {
    this.#append(source.slice(from, to), from, false);
  }

  /** Appends a value in place of the part of the text that begins at `from`. */
  insert(value: string, from: number): void {
    this.#append(value, from, true);
  }

  report(message: string, start: number, end: number): void {
    this.problems.push({ message, start, end });
  }

  /** Returns the offset in the text of the file for an offset in the expanded text. */
  originOf(offset: number): number {
    const segment =
      this.#segments.find(({ start, end }) => offset >= start && offset < end) ?? this.#segments.at(-1);
    if (segment === undefined) return offset;
    return segment.isInserted ? segment.from : segment.from + (offset - segment.start);
  }

  /** Returns where the first inserted value begins that a part of the expanded text reaches into without being all of it. */
  seamIn(start: number, end: number): number | undefined {
    const touched = this.#segments.find(
      (segment) => segment.isInserted && segment.start < end && segment.end > start,
    );
    return touched?.from;
  }

  #append(text: string, from: number, isInserted: boolean): void {
    if (text === '') return;
    const start = this.text.length;
    this.text += text;
    this.#segments.push({ start, end: this.text.length, from, isInserted });
  }
}
