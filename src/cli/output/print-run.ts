import { describeChange } from '../../engine/describe-change.ts';
import { describeTrigger, idleWordsOf, type RecordedChange, type Run } from '../../engine/record.ts';
import { describeFinding, nameOfRule, type Verdict, versionWords, wordsOf } from '../../rules/verdict.ts';
import { outcomeOf } from './change-list.ts';
import { count, plain, type Terminal } from './terminal.ts';

/** Prints a run as readable text: the verdict and evidence of each rule, followed by the planned or applied changes. */
export function printRun(run: Run, terminal: Terminal): void {
  terminal.out(terminal.style('bold', plain(describeTrigger(run.trigger))));
  for (const verdict of run.rules) printVerdict(verdict, run, terminal);
  if (run.changes.length + run.refused.length === 0) {
    terminal.out(nothingIn(run));
    return;
  }
  for (const [request, changes] of byRequest(run.changes)) {
    terminal.out(terminal.style('bold', plain(request)));
    for (const change of changes) printChange(change, outcomeOf(run, change), terminal);
  }
  for (const { change, why, until } of run.refused) {
    const { sign, words } = describeChange(change);
    terminal.out(
      terminal.style(
        'yellow',
        plain(`  ! ${sign} ${words}  (${change.reason}): ${until === undefined ? 'refused, ' : ''}${why}`),
      ),
    );
  }
}

/**
 * Returns the text for a run without changes. If a rule failed, or no rule was evaluated, the text does not claim that
 * everything is as desired.
 */
function nothingIn({ rules }: Run): string {
  const failed = rules.filter(({ verdict }) => verdict === 'failed').length;
  if (failed > 0) return `No change; ${count(failed, 'rule')} could not be evaluated.`;
  if (rules.length === 0) return 'No rule was tested.';
  return rules.every(({ verdict }) => verdict === 'skipped')
    ? 'No rule was evaluated.'
    : 'Nothing to change.';
}

const marks = {
  matched: ['green', '✓'],
  unmatched: ['dim', '·'],
  failed: ['red', '✗'],
  skipped: ['dim', '-'],
} as const;

/** Prints the verdict of a rule, and the findings of its conditions with the values that they read. */
export function printVerdict(verdict: Verdict, run: Run, terminal: Terminal): void {
  const [style, mark] = marks[verdict.verdict];
  const why = wordsOf(verdict) ?? idleWordsOf(run, verdict);
  const reason = why === undefined ? '' : ` (${why})`;
  const version = versionWords(verdict);
  const place = `${verdict.source}:${verdict.line}${version === undefined ? '' : `, ${version}`}`;
  const name = nameOfRule(verdict.rule);
  terminal.out(
    `${terminal.style(style, mark)} ${plain(`${name}: ${verdict.verdict}${reason}`)}  ${terminal.style('dim', plain(place))}`,
  );
  if (verdict.automatic !== undefined)
    terminal.out(terminal.style('dim', plain(`    on: auto = ${verdict.automatic}`)));
  for (const finding of verdict.findings)
    terminal.out(terminal.style('dim', plain(`    ${describeFinding(finding)}`)));
}

function byRequest(changes: readonly RecordedChange[]): ReadonlyMap<string, readonly RecordedChange[]> {
  const grouped = new Map<string, RecordedChange[]>();
  for (const change of changes) {
    const body = (change.input as { body?: unknown } | null)?.body;
    const request = `${change.method} ${change.path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;
    grouped.set(request, [...(grouped.get(request) ?? []), change]);
  }
  return grouped;
}

const colours = { '+': 'green', '-': 'red', '~': 'yellow' } as const;

function printChange(change: RecordedChange, outcome: string, terminal: Terminal): void {
  const { sign, words } = describeChange(change);
  const line = terminal.style(colours[sign], plain(`  ${sign} ${words}`));
  terminal.out(`${line}  ${terminal.style('dim', `(${plain(change.reason)})${outcome}`)}`);
}
