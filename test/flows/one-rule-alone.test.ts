import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

let harness: Harness;
afterEach(() => harness?.close());

const operator = `version: 1
rules:
  mark:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;

/** Repository files whose rule cannot be carried out, and the setup that causes it. */
const ways: Readonly<Record<string, { readonly step: string; readonly arrange?: () => Promise<unknown> }>> = {
  'two milestones have the title that the rule sets': {
    step: '{ uses: set-issue, with: { milestone: next } }',
    async arrange() {
      for (const description of ['one', 'two'])
        await harness.root.call(operations.createMilestone, {
          params: at,
          body: { title: 'next', description },
        });
    },
  },
  'the rule assigns a login that no request can contain': {
    step: '{ uses: set-issue, with: { assignees: { add: [".."] } } }',
  },
};

it.each(Object.keys(ways))(
  'a repository rule that cannot be carried out prevents no operator rule from writing: %s',
  async (way) => {
    harness = await startOperatorHarness(operator);
    await ways[way]?.arrange?.();
    await harness.setRules(
      `version: 1\nrules:\n  broken:\n    on: issues.opened\n    steps: [${ways[way]?.step}]\n`,
    );
    const { number } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'Broken' },
    });
    await harness.idle();

    expect(await harness.labelsOf(number)).toEqual(['kept']);
    const [run] = harness.runs.filter(({ rules }) => rules.some(({ verdict }) => verdict === 'matched'));
    expect([run?.refused.length, run?.outcomes.map(({ status }) => status)].flat()).not.toEqual([
      0,
      'applied',
    ]);
  },
);
