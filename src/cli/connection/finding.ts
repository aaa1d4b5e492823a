import { createRedactor } from '../../platform/redactor.ts';
import { plain, type Terminal } from '../output/terminal.ts';

/**
 * The result of one step or check. `ok`: as required · `changed`: corrected by this run · `planned`: would be changed ·
 * `warning`: works, but should be changed · `wrong`: not as required · `skipped`: not examined, with the reason as
 * text.
 */
export type Finding = {
  readonly state: 'ok' | 'changed' | 'planned' | 'warning' | 'wrong' | 'skipped';
  /** The observation. Never contains a secret. */
  readonly text: string;
  /** The remedy for a problem. */
  readonly advice?: string;
};
export type ReportEntry = Finding & { readonly id: string };

/** Returns a finding without a problem. */
export const ok = (text: string): Finding => ({ state: 'ok', text });
/** Returns a finding with a problem and its remedy. */
export const wrong = (text: string, advice: string): Finding => ({ state: 'wrong', text, advice });
/** Returns a finding with a recommendation, which does not affect the exit status. */
export const warning = (text: string, advice: string): Finding => ({ state: 'warning', text, advice });
/** Returns a finding for a skipped check. */
export const skipped = (text: string): Finding => ({ state: 'skipped', text });

const marks = {
  ok: ['✓', 'green'],
  changed: ['✓', 'cyan'],
  planned: ['·', 'yellow'],
  warning: ['!', 'yellow'],
  wrong: ['✗', 'red'],
  skipped: ['–', 'dim'],
} as const;

/** Collects findings, and prints them for users as they arrive. */
export interface Report {
  add(id: string, finding: Finding): void;
  readonly entries: readonly ReportEntry[];
}

/**
 * Creates a report. Every value of `secrets` is redacted from texts, because a forge may repeat request values in a
 * message. With `isSilent`, nothing is printed: the caller prints `entries` at the end.
 */
export function createReport(
  terminal: Terminal,
  options: { isSilent?: boolean; secrets: () => readonly string[] },
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
      if (!options.isSilent) printEntry(entry, terminal);
    },
  };
}

/** Prints a result with its mark, and the remedy below it. */
export function printEntry({ id, state, text, advice }: ReportEntry, terminal: Terminal): void {
  const [mark, colour] = marks[state];
  terminal.out(`${terminal.style(colour, mark)} ${id.padEnd(17)} ${text}`);
  if (advice !== undefined) terminal.out(`${' '.repeat(20)}→ ${advice}`);
}
