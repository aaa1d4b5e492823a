import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweep } from '../../src/cli/commands/sweeps/sweep.ts';
import { printSweepPlan } from '../../src/cli/commands/sweeps/sweep-plan.ts';
import { createProgressLine } from '../../src/cli/output/progress-line.ts';
import type { Terminal } from '../../src/cli/output/terminal.ts';
import { loadSettings } from '../../src/server/settings/config.ts';
import { describeProgress, type SweepProgress } from '../../src/work/sweeps/progress.ts';
import { requiring } from '../support/flow-requirements.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';

const progress: SweepProgress = {
  startedAt: '2026-11-01T00:00:00Z',
  items: 1,
  total: 1,
  changes: 1,
  pending: 0,
  failed: 0,
  failures: [],
  requests: 1,
  ms: 1_000,
};

/** Returns the lines that a terminal, or another stream, is given for a progress. */
function linesFor(shown: SweepProgress, isTTY: boolean): readonly string[] {
  const written: string[] = [];
  const line = createProgressLine('stale', {
    stream: { isTTY, columns: 200, write: (text) => written.push(text) },
    clock: { monotonicMs: () => 0 },
  });
  line.show(shown);
  return written.map((text) => text.replace('\r\u001b[2K', ''));
}

describe('the progress line', () => {
  it('draws a bar of items, or of repositories where the items are not counted, on a terminal alone', () => {
    const ofItems = { ...progress, items: 5, total: 20, ms: 10_000 };
    const ofRepositories = { ...progress, total: undefined, repositories: { reached: 3, total: 4 } };

    expect(linesFor(ofItems, true)).toEqual([
      `stale  ${'█'.repeat(6)}${'░'.repeat(18)} 25 %  5 of 20 items, 1 change, 1 request  0:30 left`,
    ]);
    expect(linesFor(ofRepositories, true)[0]).toMatch(
      /█{18}░{6} 75 % {2}1 item in 3 of 4 repositories, 1 change, 1 request {2}0:00 left$/,
    );
    expect(linesFor({ ...progress, total: undefined }, true)[0]).toMatch(/^stale {2}1 item, .* 0:01$/);
    expect(linesFor(ofItems, false)).toEqual([]);
  });

  it('says one item, one change and one request in the singular', () => {
    expect(describeProgress(progress)).toBe('1 of 1 item, 1 change, 1 request');
    expect(describeProgress({ ...progress, items: 0, total: 2, changes: 0, requests: 2 })).toBe(
      '0 of 2 items, 0 changes, 2 requests',
    );
  });
});

describe('a sweep over served patterns', () => {
  const played = requiring('a played forge');
  let folder: string;
  let forge: ManyRepositories;
  let written: string[];
  const terminal: Terminal = { out: () => {}, error: () => {}, style: (_, text) => text };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-sweep-progress-'));
    written = [];
    forge = await startManyRepositories(70);
    forge.isStarred = false;
    await writeFile(join(folder, 'reeve.yml'), 'version: 1\nrepositories: ["acme/*"]\n');
    await writeFile(
      join(folder, 'rules.yml'),
      `version: 1
rules:
  labelled:
    on: { schedule: "17 3 * * *" }
    in: ["acme/r?", "acme/r??"]
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
  dated:
    on: { schedule: "17 3 * * *" }
    in: ["acme/r?"]
    each: milestone
    if: 1 == 2
    steps: [{ uses: report-issue, with: { key: x, title: x } }]
`,
    );
  });
  afterEach(async () => {
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  });
  const settings = () =>
    loadSettings({
      FORGE_URL: forge.url,
      FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
      WEBHOOK_SECRET: 'a-secret-that-only-the-hook-knows',
      REEVE_RULES: join(folder, 'rules.yml'),
      REEVE_CONFIG: join(folder, 'reeve.yml'),
      REEVE_DATA: join(folder, 'data'),
      PORT: '0',
    });
  const stream = { isTTY: true, columns: 200, write: (text: string) => written.push(text) };

  played('shows a bar with the total in a plan and in a run', async () => {
    await printSweepPlan('labelled', {}, await settings(), terminal, { stream });
    const planned = written.splice(0).join('');
    const status = await sweep('labelled', {}, await settings(), terminal, stream);

    expect(planned).toMatch(/ 100 % {2}70 of 70 items, /);
    expect(planned).toMatch(/ (?!100)\d+ % {2}\d+ of 70 items, /);
    expect(status).toBe(0);
    expect(written.join('')).toMatch(/[█░] \d+ % {2}\d+ of 70 items, /);
  });

  played('shows a bar of repositories for the items in them', async () => {
    await printSweepPlan('dated', {}, await settings(), terminal, { stream });
    const planned = written.splice(0).join('');
    await sweep('dated', { in: ['acme/r1', 'acme/r2'] }, await settings(), terminal, stream);

    expect(planned).toMatch(/ 100 % {2}9 items in 9 of 9 repositories, /);
    expect(written.join('')).toMatch(/2 items in 2 of 2 repositories, /);
  });

  played('shows no bar where the repositories cannot be counted, and plans all the same', async () => {
    let listed = 0;
    forge.meddle = ({ path }) => {
      if (!path.startsWith('/api/v1/orgs/acme/repos')) return undefined;
      listed += 1;
      // The count comes first, then the sweep.
      return listed === 1 ? { status: 403 } : undefined;
    };

    await printSweepPlan('dated', {}, await settings(), terminal, { stream });

    expect(written.join('')).toMatch(/9 items, 0 changes/);
    expect(written.join('')).not.toContain('█');
  });
});
