import { operations } from '../../../src/contract/operations.ts';
import { at, setStage } from '../../../test/support/stage.ts';

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
  const stage = await setStage({ rules: rules('') });
  try {
    const open = async (branch: string) => {
      const seen = stage.runs.length;
      await stage.openPull(branch, { [`docs/${branch}.md`]: 'a' });
      const run = await stage.run(
        (one) => stage.runs.indexOf(one) >= seen && one.trigger.activity === 'opened',
      );
      await stage.quiet();
      return run;
    };
    await open('cold');
    const changing = await open('warm');

    const from = stage.proxy.passed.length;
    const body = { branch: 'warm', content: 'YQ==', message: 'more' };
    await stage.ada.call(operations.createFile, { params: { ...at, filepath: 'docs/more.md' }, body });
    await stage.run((run) => run.trigger.activity === 'synchronized');
    await stage.quiet();
    const writes = stage.proxy.passed.slice(from).filter(({ method }) => method !== 'GET').length;

    await stage.setRules(rules('    if: "!pull_request.draft"\n'));
    await open('cold-pull');
    const withPull = await open('warm-pull');
    return { changing, idle: { writes }, withPull };
  } finally {
    await stage.close();
  }
}
