import { isObserved, observedWords } from '../../../engine/describe-change.ts';
import type { RecordedChange, Run } from '../../../engine/record.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { commonSkip } from '../../../rules/verdict.ts';
import { maySeeChange, type ViewerAccess } from '../visibility.ts';

/** Result of a run: a word with a colour, and its counts in words. */
type RunSummary = { readonly mark: string; readonly parts: readonly string[] };

/** Returns what came of a run, as far as the viewer may see it: `2 rules matched · 3 changes · 52 ms`. */
export function summarizeRun(run: Run, viewerAccess: ViewerAccess): RunSummary {
  const counts = countChanges(run, viewerAccess);
  const matched = run.rules.filter(({ verdict }) => verdict === 'matched').length;
  const broken = run.rules.filter(({ verdict }) => verdict === 'failed').length;
  const evaluated = run.rules.filter(({ verdict }) => verdict !== 'skipped').length;
  const changed = counts.applied + counts.unchanged;
  const words = [
    evaluated === 0
      ? ['no rule was evaluated', commonSkip(run.rules)].filter(Boolean).join(': ')
      : `${countWords(matched, 'rule')} matched`,
    broken > 0 ? `${countWords(broken, 'rule')} failed` : '',
    counts.failed > 0 ? `${counts.failed} of ${countWords(changed + counts.failed, 'change')} failed` : '',
    counts.failed === 0 && changed > 0 ? countWords(changed, 'change') : '',
    counts.observed > 0 ? `${countWords(counts.observed, 'change')} ${observedWords}` : '',
    counts.refused > 0 ? `${countWords(counts.refused, 'change')} refused` : '',
    counts.deferred > 0 ? `${countWords(counts.deferred, 'change')} deferred` : '',
    `${run.ms} ms`,
  ];
  return { mark: markOf({ ...counts, broken, matched }), parts: words.filter(Boolean) };
}

/** Returns what came of a run as a mark, which leads to the page that explains it, and its counts. */
export function viewOutcome({ mark, parts }: RunSummary, explanation: string): Html {
  const words = parts.map((part, at) => html`${at === 0 ? '' : ' · '}<span class="whole">${part}</span>`);
  return html`<div class="outcome"><a href="${explanation}"><span class="mark ${mark}">${mark}</span></a> ${words}</div>`;
}

type ChangeCounts = Readonly<
  Record<'applied' | 'unchanged' | 'failed' | 'observed' | 'refused' | 'deferred', number>
>;

function countChanges(run: Run, viewerAccess: ViewerAccess): ChangeCounts {
  const counts = { applied: 0, unchanged: 0, failed: 0, observed: 0, refused: 0, deferred: 0 };
  const count = (kind: keyof ChangeCounts, change: RecordedChange, status: string): void => {
    if (maySeeChange(change, status, viewerAccess)) counts[kind] += 1;
  };
  const outcomes = new Map(run.outcomes.map(({ change, status }) => [change, status]));
  for (const change of run.changes) {
    const status = outcomes.get(change.id) ?? 'planned';
    if (isObserved(run, change)) count('observed', change, observedWords);
    else if (status === 'applied' || status === 'failed') count(status, change, status);
    else count('unchanged', change, status);
  }
  for (const { change, until } of run.refused) {
    if (until === undefined) count('refused', change, 'refused');
    else count('deferred', change, 'deferred');
  }
  return counts;
}

/** The worst thing that happened names the run. */
function markOf(counts: ChangeCounts & { readonly broken: number; readonly matched: number }): string {
  if (counts.broken + counts.failed > 0) return 'failed';
  const kinds = ['refused', 'deferred', 'applied', 'observed'] as const;
  return kinds.find((kind) => counts[kind] > 0) ?? (counts.matched > 0 ? 'matched' : 'unmatched');
}

function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
