import { expect, it } from 'vitest';
import { compareRuns, printComparison } from '../../src/cli/commands/runs/replay.ts';
import { printRun } from '../../src/cli/output/print-run.ts';
import { isObserved } from '../../src/engine/describe-change.ts';
import type { RecordedChange, Run } from '../../src/engine/record.ts';
import { viewRun } from '../../src/server/dashboard/pages/run-view.ts';
import { runTable } from '../../src/server/dashboard/pages/runs.ts';
import { makeRun } from '../store/make.ts';

const change = (id: string, given: Partial<RecordedChange>): RecordedChange => ({
  id,
  rules: ['rules.yml#mark'],
  step: '1 set-labels',
  action: 'set-labels',
  operation: 'replaceIssueLabels',
  method: 'PUT',
  path: '/repos/acme/demo/issues/1/labels',
  input: {},
  target: `label:${id}`,
  value: true,
  before: false,
  after: true,
  reason: 'the rule says so',
  ...given,
});

const run: Run = {
  ...makeRun({}),
  mode: 'enforce',
  changes: [change('sent', {}), change('watched', { observed: true }), change('earlier', {})],
  outcomes: [
    { change: 'sent', status: 'applied' },
    { change: 'watched', status: 'planned' },
    { change: 'earlier', status: 'planned' },
  ],
};
const planned: Run = { ...run, mode: 'plan', outcomes: [] };

const printed = (print: (terminal: Parameters<typeof printRun>[1]) => void): readonly string[] => {
  let text = '';
  const add = (line: string): void => {
    text += `${line}\n`;
  };
  print({ out: add, error: add, style: (_style, line) => line });
  return text.split('\n');
};
const marked = (lines: readonly string[]): readonly (string | undefined)[] =>
  lines.filter((line) => line.includes('observed, not sent')).map((line) => /label:(\w+)/.exec(line)?.[1]);

it('a change counts as observed if only rules in observe mode want it; for runs of earlier versions, the outcome decides', () => {
  expect(run.changes.map((one) => isObserved(run, one))).toEqual([false, true, true]);
  expect(planned.changes.map((one) => isObserved(planned, one))).toEqual([false, true, false]);
});

it('the command line marks observed changes', () => {
  expect(marked(printed((terminal) => printRun(run, terminal)))).toEqual(['watched', 'earlier']);
  expect(marked(printed((terminal) => printRun(planned, terminal)))).toEqual(['watched']);
});

it('a comparison of runs marks observed changes', () => {
  const event = { activity: 'opened', family: 'issues' } as const;
  const compared = compareRuns({
    id: '1',
    event: {
      ...event,
      eventType: 'issues',
      payload: {},
      subject: undefined,
      repository: undefined,
      ownerId: undefined,
      sender: undefined,
    },
    before: undefined,
    after: planned,
  });

  expect(compared.changes.map(({ observed }) => observed)).toEqual([undefined, true, undefined]);
  expect(marked(printed((terminal) => printComparison([compared], '7d', terminal)))).toEqual(['watched']);
});

it('the dashboard marks observed changes and counts them separately', async () => {
  const viewer = {
    isOperator: true,
    access: 'administrator',
    repository: undefined,
    units: new Set(),
  } as const;
  const { text } = viewRun(run, { ...viewer, units: new Set() });

  expect(text.match(/<span class="mark observed">observed, not sent<\/span>/g)).toHaveLength(2);
  const pageRequest = { root: './', forgeUrl: 'https://forge.example.org', time: () => undefined };
  const table = await runTable([[run]], { describeDelivery: async () => undefined }, pageRequest);
  expect(table.text).toContain('1 change</span> · <span class="whole">2 changes observed, not sent</span>');
});
