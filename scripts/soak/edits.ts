import { setTimeout as pause } from 'node:timers/promises';
import { operations } from '../../src/contract/operations.ts';
import { at } from '../installation/forge.ts';
import type { Installation } from '../installation/installation.ts';

/** Edits of issues, each of which changes a label, one after the other. */
export interface Edits {
  /** Resolves when the last one was made. */
  readonly done: Promise<void>;
  /** Waits until every issue has the label of its title, or nothing happens any more. */
  judge(): Promise<{
    readonly edits: number;
    readonly wrong: number;
    readonly effectMs: readonly number[];
  }>;
}

export type EditsOptions = {
  /** Labels; the last word of a label is in the title of the issues that have it. */
  readonly sizes: readonly string[];
  readonly issues: readonly { readonly number: number }[];
  readonly isOver: () => boolean;
  /** Time without an effect after which it is taken for lost. */
  readonly stuckMs: number;
};

/** Least time between two edits. */
export const editEveryMs = 500;
/** Time between two looks at the labels of an issue. */
const lookEveryMs = 100;

/** Edits the issues in turn until `isOver`, and measures how long each effect takes. */
export function startEdits({ root }: Installation, { sizes, issues, isOver, stuckMs }: EditsOptions): Edits {
  const wanted = new Map<number, string>();
  const effectMs: number[] = [];
  let edits = 0;
  const isLabelled = async (index: number): Promise<boolean> => {
    const labels = await root.call(operations.listIssueLabels, { params: { ...at, index } });
    return labels.map(({ name }) => name).join() === wanted.get(index);
  };

  const editOne = async (index: number): Promise<void> => {
    const size = sizes[(edits + Math.floor(edits / issues.length)) % sizes.length] ?? '';
    const title = `A ${size.split('/').at(-1)} change, ${edits}`;
    await root.call(operations.editIssue, { params: { ...at, index }, body: { title } });
    wanted.set(index, size);
    edits += 1;
    const startMs = performance.now();
    while (!isOver()) {
      if (await isLabelled(index)) {
        effectMs.push(performance.now() - startMs);
        return;
      }
      await pause(lookEveryMs);
    }
  };
  const done = (async () => {
    for (let turn = 0; !isOver(); turn += 1) {
      const { number } = issues[turn % issues.length] ?? { number: 1 };
      // The forge may be away: the edit, or the look at its effect, is made again with the next one.
      await editOne(number).catch(() => undefined);
      await pause(editEveryMs);
    }
  })();
  return {
    done,
    async judge() {
      const endMs = performance.now() + stuckMs;
      let wrong = [...wanted.keys()];
      for (;;) {
        const left: number[] = [];
        for (const index of wrong) if (!(await isLabelled(index))) left.push(index);
        wrong = left;
        if (wrong.length === 0 || performance.now() > endMs) break;
        await pause(lookEveryMs);
      }
      return { edits, wrong: wrong.length, effectMs };
    },
  };
}
