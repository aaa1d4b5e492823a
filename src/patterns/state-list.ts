/** A state of an automaton: the instructions it is at, and the context before them. */
export type State = { readonly kernel: Int32Array; readonly context: number };

const none: State = { kernel: new Int32Array(0), context: 0 };

/** The states of an automaton, each once, numbered from 1. */
export class StateList {
  readonly #states: State[] = [none];
  readonly #byHash = new Map<number, number[]>();
  #instructions = 0;

  /** How many there are, with the one that is no state. */
  get length(): number {
    return this.#states.length;
  }

  /** How many instructions they have together. */
  get instructions(): number {
    return this.#instructions;
  }

  at(number: number): State {
    return this.#states[number] ?? none;
  }

  /**
   * Returns the number of the state with these instructions, in whatever order, which is added where there is none. In
   * `marks`, exactly these instructions have the value `mark`.
   */
  add(kernel: Int32Array, context: number, marks: Int32Array, mark: number): number {
    let hash = context;
    for (let place = 0; place < kernel.length; place += 1) {
      hash = (hash + Math.imul((kernel[place] ?? 0) + 1, 0x9e3779b1)) | 0;
    }
    const alike = this.#byHash.get(hash);
    for (const number of alike ?? []) {
      const state = this.at(number);
      const isSame = state.context === context && state.kernel.length === kernel.length;
      if (isSame && areMarked(state.kernel, marks, mark)) return number;
    }
    const number = this.#states.push({ kernel: kernel.slice(), context }) - 1;
    if (alike) alike.push(number);
    else this.#byHash.set(hash, [number]);
    this.#instructions += kernel.length;
    return number;
  }
}

function areMarked(kernel: Int32Array, marks: Int32Array, mark: number): boolean {
  for (let place = 0; place < kernel.length; place += 1) {
    if (marks[kernel[place] ?? 0] !== mark) return false;
  }
  return true;
}
