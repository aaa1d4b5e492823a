import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

const rules = `version: 1
rules:
  approved:
    on: [pull_request.opened, pull_request.synchronized, pull_request_review]
    steps:
      - uses: set-status
        with:
          context: reeve/approved
          state: success
          when: approvals.size() > 0
          otherwise: { state: pending }
  fresh:
    on: { pull_request: [opened, synchronized] }
    steps:
      - uses: dismiss-stale-reviews
        with: { ignore-paths: ["docs/**"], keep-on-rebase: true }
  source:
    on: { push: { paths: ["src/**"] } }
    steps: [{ uses: set-status, with: { context: reeve/source, description: "\${{ files.size() }} files" } }]
`;

let harness: Harness;
let work: GitClone;
let index: number;
beforeEach(async () => {
  harness = await startOperatorHarness(rules);
  work = await cloneRepository(harness.cloneFrom(people.ada));
  await work.git('checkout', '--quiet', '-b', 'topic');
});
afterEach(async () => {
  work?.remove();
  await harness?.close();
});

async function commit(files: Readonly<Record<string, string>>): Promise<string> {
  for (const path of Object.keys(files)) await mkdir(dirname(join(work.folder, path)), { recursive: true });
  return work.commit(files);
}
const head = async () => (await work.git('rev-parse', 'HEAD')).trim();
const push = async () => {
  await work.git('push', '--quiet', '--force', 'origin', 'topic');
  await harness.idle();
};
async function openApproved(files: Readonly<Record<string, string>>): Promise<number> {
  await commit(files);
  await push();
  const body = { title: 'A change', head: 'topic', base: 'main' };
  index = (await harness.ada.call(operations.createPull, { params: at, body })).number;
  await harness.idle();
  const review = { event: 'APPROVED', body: 'good' };
  const made = await harness.root.call(operations.createReview, { params: { ...at, index }, body: review });
  await harness.idle();
  await expect.poll(() => statusOf('reeve/approved'), { timeout: timeoutMs }).toBe('success');
  return made.id;
}
async function statusOf(context: string): Promise<string | undefined | null> {
  const params = { ...at, sha: await head() };
  const all = [];
  for await (const one of harness.root.items(operations.listStatuses, { params })) all.push(one);
  return all.filter((one) => one.context === context).toSorted((a, b) => Number(b.id) - Number(a.id))[0]
    ?.status;
}
const isDismissed = async (id: number) =>
  (await harness.root.call(operations.getReview, { params: { ...at, index, id } })).dismissed;

it('reverting or dropping a reviewed commit removes its approval', {
  timeout: timeoutMs * 4,
}, async () => {
  const id = await openApproved({ 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });

  await work.git('commit', '--quiet', '--amend', '-m', 'same changes');
  await push();
  await expect.poll(() => statusOf('reeve/approved'), { timeout: timeoutMs }).toBe('success');
  expect(await isDismissed(id)).toBe(false);

  await work.git('rm', '--quiet', 'src/b.ts');
  await work.git('commit', '--quiet', '-m', 'taken back');
  await push();

  await expect.poll(() => statusOf('reeve/approved'), { timeout: timeoutMs }).toBe('pending');
  await expect.poll(() => isDismissed(id), { timeout: timeoutMs }).toBe(true);
});

it('a force-push that removes source files counts as a change of the source', {
  timeout: timeoutMs * 4,
}, async () => {
  const id = await openApproved({ 'src/a.ts': 'a\n' });

  await work.git('reset', '--quiet', '--hard', 'origin/main');
  await commit({ 'docs/a.md': 'docs\n' });
  await push();

  await expect.poll(() => isDismissed(id), { timeout: timeoutMs }).toBe(true);
  await expect.poll(() => statusOf('reeve/source'), { timeout: timeoutMs }).toBe('success');
  await expect.poll(() => statusOf('reeve/approved'), { timeout: timeoutMs }).toBe('pending');
});

it('an approval survives a change that affects only documentation', { timeout: timeoutMs * 4 }, async () => {
  const id = await openApproved({ 'src/a.ts': 'a\n' });

  await commit({ 'docs/a.md': 'docs\n' });
  await push();
  await expect.poll(() => statusOf('reeve/approved'), { timeout: timeoutMs }).toBe('pending');

  expect(await isDismissed(id)).toBe(false);
  expect(await statusOf('reeve/source')).toBeUndefined();
  const seen = harness.runs.flatMap(({ rules }) => rules).flatMap(({ findings }) => findings);
  expect(seen.map(({ values }) => values['approvals, not counted'])).toContainEqual([
    expect.stringMatching(/^root.*: approved other changes than the current ones, at [0-9a-f]{10}$/),
  ]);
});
