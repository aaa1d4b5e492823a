import { operations } from '../../../src/contract/operations.ts';
import { at, startHarness } from '../../../test/support/harness.ts';

const rules = (condition: string): string => `version: 1
rules:
  by-path:
    on: { pull_request: [opened, synchronized] }
${condition}    steps:
      - uses: set-labels
        with: { sync: { area/docs: 'files.exists(f, f.filename.glob("docs/**"))' } }
`;

/** Plays pull requests on an embedded forge and counts what a warm bot asks of it. */
export async function measureRequests() {
  const harness = await startHarness({ rules: rules('') });
  try {
    const open = async (branch: string) => {
      const seen = harness.runs.length;
      await harness.openPull(branch, { [`docs/${branch}.md`]: 'a' });
      const run = await harness.waitForRun(
        (one) => harness.runs.indexOf(one) >= seen && one.trigger.activity === 'opened',
      );
      await harness.idle();
      return run;
    };
    await open('cold');
    const changing = await open('warm');

    const from = harness.proxy.passed.length;
    const body = { branch: 'warm', content: 'YQ==', message: 'more' };
    await harness.ada.call(operations.createFile, { params: { ...at, filepath: 'docs/more.md' }, body });
    await harness.waitForRun((run) => run.trigger.activity === 'synchronized');
    await harness.idle();
    const writes = harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET').length;

    await harness.setRules(rules('    if: "!pull_request.draft"\n'));
    await open('cold-pull');
    const withPull = await open('warm-pull');
    return { changing, idle: { writes }, withPull };
  } finally {
    await harness.close();
  }
}
