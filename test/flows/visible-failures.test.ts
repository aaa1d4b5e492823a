import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { acme, at, type Harness, people, repositoryScopes, startHarness } from '../support/harness.ts';
import { scrapeWithPassword } from '../support/scrape-metrics.ts';

const operatorRules = `version: 1
rules:
  runners:
    on: { schedule: "0 3 * * *" }
    each: runner
    steps:
      - uses: report-issue
        with: { when: 'runner.status == "offline"', repository: ${acme}/demo, key: r, title: offline }
  strict:
    on: issues.opened
    if: issue.milestone.title == "1.0"
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;
const ownRules = `version: 1
rules:
  mark:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [nowhere] } }]
`;

let harness: Harness;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-visible-'));
  await writeFile(join(folder, 'rules.yml'), operatorRules);
  harness = await startHarness({
    rules: ownRules,
    server: { rules: folder },
    scopes: repositoryScopes,
    on: 'the embedded forge',
  });
});
afterEach(async () => {
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

const environment = (): Record<string, string> => ({ ...harness.environment, REEVE_RULES: folder });

async function openIssue(title: string): Promise<void> {
  await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  await harness.waitForRun(({ trigger }) => trigger.kind === 'issues');
  await harness.idle();
}

const passwordOf = async (): Promise<string> =>
  (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();

/** Returns what people and programs see: the overview, the metrics, and the doctor's findings by check. */
async function views(): Promise<{
  overview: string;
  metrics: string;
  doctor: Record<string, string>;
  status: number | null;
}> {
  const password = await passwordOf();
  const operator = await signInWithPassword(harness.server.url, password);
  const metrics = await scrapeWithPassword(harness.server.url, password);
  const { status, out } = await reeve(['doctor', '--no-test', '--json'], { environment: environment() });
  const checks: readonly { id: string; state: string; text: string }[] = JSON.parse(out).checks;
  return {
    overview: (await operator.get('/')).text,
    metrics,
    doctor: Object.fromEntries(checks.map(({ id, state, text }) => [id, `${state}: ${text}`])),
    status,
  };
}

/** Returns the incidents without those about what rules cannot see: there are no runners here. */
async function failuresSeen() {
  const incidents = await harness.server.store.listIncidents();
  return incidents.filter(({ kind }) => kind !== 'rule-blind' && kind !== 'rule-hindered');
}

describe('C1: a sweep that the forge refuses', () => {
  beforeEach(async () => {
    const team = await harness.root.call(operations.createTeam, {
      params: { org: acme },
      body: { name: 'helpers', permission: 'read', units: ['repo.code'] },
    });
    await harness.root.call(operations.putTeamMember, { params: { id: team.id, username: people.bot } });
  });

  it('is reported by the command and its exit status, on the overview, in doctor and in the metrics', async () => {
    const swept = await reeve(['sweep', 'runners'], { environment: environment() });

    const sentence = `0 items: refused in ${acme}, GET /orgs/${acme}/actions/runners: 403`;
    expect(swept.out).toContain(`runners: ${sentence}, 0 changes`);
    expect(swept.status).toBe(1);
    const { overview, metrics, doctor, status } = await views();
    expect(overview).toContain('Sweeps that did not reach every item: 1');
    expect(overview).toContain(sentence);
    expect(metrics).toContain('reeve_incidents{kind="sweep-failed"} 1');
    expect(doctor['sweep-failed']).toContain(`wrong: sweeps that did not reach every item: 1: `);
    expect(doctor['sweep-failed']).toContain(sentence);
    expect(status).toBe(1);
  });

  it('is no longer reported once the account has the permission', async () => {
    await reeve(['sweep', 'runners'], { environment: environment() });
    const [owners] = await harness.root.call(operations.listTeams, { params: { org: acme } });
    await harness.root.call(operations.putTeamMember, {
      params: { id: owners?.id ?? 0, username: people.bot },
    });

    const swept = await reeve(['sweep', 'runners'], { environment: environment() });

    expect(swept.out).toContain('runners: 0 items, 0 changes');
    expect(swept.status).toBe(0);
    expect(await failuresSeen()).toEqual([]);
  });
});

describe('C2: a rule that fails at run time', () => {
  it('is shown with count, last time and reason on the overview, in doctor and in the metrics', async () => {
    await openIssue('one');
    await openIssue('two');

    const { overview, metrics, doctor } = await views();
    const incidents = await failuresSeen();
    expect(incidents.map(({ key, count, level }) => [key.replace(/^.*#/, ''), count, level])).toEqual([
      ['strict', 2, 'operator'],
      ['mark', 2, 'repository'],
    ]);
    const last = incidents[0]?.lastAt.toISOString().slice(0, 16).replace('T', ' ');
    expect(overview).toContain('Rules that failed: 2');
    expect(overview).toContain(`${acme}/demo/.reeve.yml#mark`);
    expect(overview).toContain('nowhere');
    expect(overview).toContain(`${last}`);
    expect(metrics).toContain('reeve_incidents{kind="rule-failed"} 2');
    expect(metrics).toContain('reeve_rule_failures{rule="rules.yml#strict"} 2');
    expect(doctor['rule-failed']).toMatch(/^wrong: rules that failed: 2: /);
    expect(doctor['rule-failed']).toContain(`.reeve.yml#mark, 2 times, last ${last} UTC`);
  });

  const statuses = async (sha: string) => {
    const found = await harness.root.call(operations.listStatuses, { params: { ...at, sha } });
    return found.map(({ status, description }) => ({ status, description }));
  };
  const head = async (): Promise<string> =>
    (await harness.root.call(operations.getBranch, { params: { ...at, branch: 'main' } })).commit?.id ?? '';

  it("is shown in the status reeve/rules if the rule is the repository's, without failures of operator rules", async () => {
    await openIssue('one');
    const broken = await head();
    await expect
      .poll(() => statuses(broken))
      .toEqual([
        {
          status: 'failure',
          description: expect.stringMatching(
            /^rule mark failed once, last \d{4}-\d\d-\d\d \d\d:\d\d UTC: .*nowhere/,
          ),
        },
      ]);
    await openIssue('two');
    expect(await statuses(broken)).toHaveLength(1);

    await harness.setRules(ownRules.replace('nowhere', 'kept'));
    await openIssue('three');
    const mended = await head();
    await expect
      .poll(() => statuses(mended))
      .toEqual([{ status: 'success', description: 'the rules can be used' }]);
    expect((await failuresSeen()).map(({ level }) => level)).toEqual(['operator']);
  });

  it('is no longer listed once the operator has changed its file', async () => {
    await openIssue('one');
    await writeFile(
      join(folder, 'rules.yml'),
      operatorRules.replace('issue.milestone.title == "1.0"', 'true'),
    );

    await expect.poll(async () => (await failuresSeen()).map(({ level }) => level)).toEqual(['repository']);
  });
});

it('C5: a broken rule file that was removed is no longer listed, even if no push reported it', async () => {
  const isBroken = async (): Promise<boolean> =>
    (await failuresSeen()).some(({ kind }) => kind === 'file-broken');
  await harness.setRules('rules: []\n');
  await openIssue('one');
  await expect.poll(isBroken).toBe(true);
  const params = { ...at, filepath: '.reeve.yml' };
  const live = await harness.root.call(operations.getContents, { params });
  const sha = Array.isArray(live) ? '' : (live.sha ?? '');

  await harness.restart({
    between: () => harness.root.call(operations.deleteFile, { params, body: { sha, message: 'gone' } }),
  });

  // The server reads the rules at every start and every hour.
  await expect.poll(isBroken).toBe(false);
});

it('C5: a file .reeve.yaml is reported if there is no other', async () => {
  const params = { ...at, filepath: '.reeve.yml' };
  const live = await harness.root.call(operations.getContents, { params });
  const sha = Array.isArray(live) ? '' : (live.sha ?? '');
  await harness.waitForPush(() =>
    harness.root.call(operations.deleteFile, { params, body: { sha, message: 'gone' } }),
  );
  const content = Buffer.from(ownRules).toString('base64');
  await harness.waitForPush(() =>
    harness.root.call(operations.createFile, {
      params: { ...at, filepath: '.reeve.yaml' },
      body: { content, message: 'misspelt' },
    }),
  );
  await openIssue('one');

  const { commit } = await harness.root.call(operations.getBranch, { params: { ...at, branch: 'main' } });
  const statuses = () =>
    harness.root.call(operations.listStatuses, { params: { ...at, sha: commit?.id ?? '' } });
  await expect.poll(statuses).toMatchObject([
    {
      status: 'failure',
      description: `${acme}/demo/.reeve.yaml: this file is not read; rename it to .reeve.yml`,
    },
  ]);
});
