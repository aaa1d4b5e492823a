import { describeChange, isObserved, observedWords } from '../../engine/describe-change.ts';
import type { RecordedChange, Run } from '../../engine/record.ts';
import { nameOfRule, wordsOf } from '../../rules/verdict.ts';
import { count, plain, type Terminal } from './terminal.ts';

/** One line of an item: a change, a refused change, or a rule that failed, with the rules and their events. */
type Line = {
  readonly mark: keyof typeof colours;
  readonly words: string;
  readonly rules: Set<string>;
  readonly when: Set<string>;
};

const colours = { '+': 'green', '-': 'red', '~': 'yellow', '!': 'yellow', '✗': 'red' } as const;

/** Number of items that are printed; the others are counted. */
const shownAtMost = 50;

/** Collects the changes of runs by item, and prints each of them once. */
export interface ChangeList {
  /**
   * Adds what a run changes, refuses or fails at. `when`: the event of the run. Returns whether there is
   * something.
   */
  add(item: string, run: Run, when?: string): boolean;
  /** Returns the number of different changes, without those that are only refused. */
  changes(): number;
  /** Prints the items: with `all`, every one; otherwise those that are shown at most, and the number of the others. */
  print(terminal: Terminal, options?: { readonly all?: boolean }): void;
}

/** Creates an empty list. */
export function createChangeList(): ChangeList {
  const items = new Map<string, Map<string, Line>>();
  let changes = 0;
  const note = (
    item: string,
    {
      mark,
      words,
      rules,
      when,
    }: Omit<Line, 'rules' | 'when'> & { rules: readonly string[]; when: string | undefined },
  ): void => {
    const lines = items.get(item) ?? new Map<string, Line>();
    items.set(item, lines);
    const key = `${mark} ${words}`;
    const line = lines.get(key) ?? { mark, words, rules: new Set(), when: new Set() };
    if (!lines.has(key) && mark !== '!' && mark !== '✗') changes += 1;
    lines.set(key, line);
    for (const rule of rules) line.rules.add(nameOfRule(rule));
    if (when !== undefined) line.when.add(when);
  };
  return {
    add(item, run, when) {
      for (const change of run.changes) {
        const { sign, words } = describeChange(change);
        note(item, { mark: sign, words: `${words}${outcomeOf(run, change)}`, rules: change.rules, when });
      }
      for (const { change, why, until } of run.refused) {
        const { sign, words } = describeChange(change);
        const refused = until === undefined ? 'refused, ' : '';
        note(item, { mark: '!', words: `${sign} ${words}: ${refused}${why}`, rules: change.rules, when });
      }
      const failed = run.rules.filter(({ verdict }) => verdict === 'failed');
      for (const verdict of failed) {
        const why = wordsOf(verdict) ?? 'the reason is not recorded';
        note(item, { mark: '✗', words: `${nameOfRule(verdict.rule)} failed: ${why}`, rules: [], when });
      }
      return run.changes.length + run.refused.length + failed.length > 0;
    },
    changes: () => changes,
    print(terminal, { all = false } = {}) {
      const shown = [...items].slice(0, all ? items.size : shownAtMost);
      for (const [item, lines] of shown) {
        terminal.out(terminal.style('bold', plain(item)));
        for (const { mark, words, rules, when } of lines.values()) {
          const by = [[...rules].join(', '), [...when].join(', ')].filter(Boolean).join('; ');
          const line = terminal.style(colours[mark], plain(`  ${mark} ${words}`));
          terminal.out(by === '' ? line : `${line}  ${terminal.style('dim', plain(`(${by})`))}`);
        }
      }
      if (shown.length < items.size) terminal.out(`and ${count(items.size - shown.length, 'more item')}`);
    },
  };
}

/** Returns what became of a change, with two spaces before it; empty if there is nothing to say. */
export function outcomeOf(run: Run, change: RecordedChange): string {
  if (isObserved(run, change)) return `  ${observedWords}`;
  const outcome = run.outcomes.find((one) => one.change === change.id);
  if (outcome === undefined || outcome.status === 'planned') return '';
  return plain(`  ${outcome.status}${outcome.error === undefined ? '' : `: ${outcome.error}`}`);
}
