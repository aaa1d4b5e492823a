import { createRedactor } from '../../platform/redactor.ts';
import { plain, type Terminal } from '../output/terminal.ts';

/**
 * The result of one step or check. `ok`: as required · `changed`: made so by this run · `planned`: would be changed · `warning`:
 * works, but should be changed · `wrong`: not as required · `skipped`: not examined; the text says why.
 */
export type Finding = {
  readonly state: 'ok' | 'changed' | 'planned' | 'warning' | 'wrong' | 'skipped';
  /** What was seen. Never holds a secret. */
  readonly text: string;
  /** What to do, where something is wrong. */
  readonly advice?: string;
};
export type ReportEntry = Finding & { readonly id: string };

/** Returns that all is well. */
export const ok = (text: string): Finding => ({ state: 'ok', text });
/** Returns that something is wrong, and what to do. */
export const wrong = (text: string, advice: string): Finding => ({ state: 'wrong', text, advice });
/** Returns a finding that something works but should be changed, and how. It changes no exit status. */
export const warning = (text: string, advice: string): Finding => ({ state: 'warning', text, advice });
/** Returns that something was not looked at. */
export const skipped = (text: string): Finding => ({ state: 'skipped', text });

const marks = {
  ok: ['✓', 'green'],
  changed: ['✓', 'cyan'],
  planned: ['·', 'yellow'],
  warning: ['!', 'yellow'],
  wrong: ['✗', 'red'],
  skipped: ['–', 'dim'],
} as const;

/** Prints findings as they come, for people; for machines they are printed at the end. */
export interface Report {
  add(id: string, finding: Finding): void;
  readonly entries: readonly ReportEntry[];
}

/**
 * Creates a report. Every value of `secrets` is replaced wherever it would stand in a text: a forge may repeat in a
 * message what it was sent. With `json` nothing is printed until `print`.
 */
export function createReport(
  terminal: Terminal,
  options: { json?: boolean; secrets: () => readonly string[] },
): Report {
  const entries: ReportEntry[] = [];
  return {
    entries,
    add(id, finding) {
      const redact = createRedactor(options.secrets());
      const entry = {
        id,
        state: finding.state,
        text: plain(redact(finding.text)),
        ...(finding.advice === undefined ? {} : { advice: plain(redact(finding.advice)) }),
      };
      entries.push(entry);
      if (!options.json) printEntry(entry, terminal);
    },
  };
}

function printEntry({ id, state, text, advice }: ReportEntry, terminal: Terminal): void {
  const [mark, colour] = marks[state];
  terminal.out(`${terminal.style(colour, mark)} ${id.padEnd(17)} ${text}`);
  if (advice !== undefined) terminal.out(`${' '.repeat(20)}→ ${advice}`);
}
