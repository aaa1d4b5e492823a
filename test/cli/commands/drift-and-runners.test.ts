import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { DriftBook } from '../../../src/work/sweeps/drift.ts';
import { createRunnerMemory } from '../../../src/work/sweeps/targets/runner-memory.ts';
import { makeRun } from '../../store/make.ts';
import { reeve } from '../../support/command.ts';

let data: string;
let store: Store;
const environment = () => ({ REEVE_DATA: data });
const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-data-'));
  store = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'worker' });
});
afterEach(async () => {
  await store.close();
  await rm(data, { recursive: true, force: true });
});

const seen = (given: { id: number; name: string; status: 'online' | 'offline'; busy?: boolean }) => ({
  busy: false,
  disabled: false,
  labels: ['linux', 'x64'],
  ...given,
});

describe('runners', () => {
  it('prints a table, offline runners first, while another process holds the store', async () => {
    const memory = createRunnerMemory(store);
    const two = [
      seen({ id: 1, name: 'anvil', status: 'online' }),
      seen({ id: 2, name: 'bellows', status: 'online', busy: true }),
    ];
    await memory.observe('organization acme', two, hoursAgo(30));
    const down = two.map((runner) => (runner.id === 1 ? { ...runner, status: 'offline' as const } : runner));
    await memory.observe('organization acme', down, hoursAgo(5));

    const { status, out } = await reeve(['runners'], { environment: environment() });

    expect(out.trimEnd().split('\n')).toEqual([
      'runner   where              status   for   now    flaps  labels',
      'anvil    organization acme  offline  5 h          1      linux x64',
      'bellows  organization acme  online   30 h  works  0      linux x64',
    ]);
    expect(status).toBe(1);
  });

  it('prints one JSON list, and exits 0 if all runners are online', async () => {
    const at = hoursAgo(1);
    await createRunnerMemory(store).observe(
      'instance',
      [seen({ id: 4, name: 'anvil', status: 'online' })],
      at,
    );

    const { status, out } = await reeve(['runners', '--json'], { environment: environment() });

    expect(JSON.parse(out)).toEqual([
      {
        level: 'instance',
        ...seen({ id: 4, name: 'anvil', status: 'online' }),
        since: at.toISOString(),
        activeAt: at.toISOString(),
        changes: [],
        listedAt: at.toISOString(),
      },
    ]);
    expect(status).toBe(0);
  });

  const withRule = async (): Promise<Record<string, string>> => {
    const path = join(data, 'runners.yml');
    await writeFile(
      path,
      `version: 1
rules:
  watch:
    on: { schedule: "*/5 * * * *" }
    each: runner
    steps:
      - uses: report-issue
        with: { when: "false", repository: acme/ops, key: k, title: t }
`,
    );
    return { ...environment(), REEVE_RULES: path };
  };

  it('says since when a runner has not been seen, instead of an old state, and exits 1', async () => {
    const at = hoursAgo(3);
    const runner = seen({ id: 1, name: 'anvil', status: 'online', busy: true });
    await createRunnerMemory(store).observe('organization acme', [runner], at);
    const since = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

    const { status, out } = await reeve(['runners'], { environment: await withRule() });

    expect(out).toMatch(
      new RegExp(`^anvil +organization acme +not seen since ${since}, was online +3 h +0 +linux x64$`, 'm'),
    );
    expect(status).toBe(1);
  });

  it('says what a rule about runners cannot see, instead of asking for such a rule', async () => {
    const named = await withRule();
    const key = `${named.REEVE_RULES}#watch`;
    const at = new Date('2026-05-04T10:00:00Z');
    const reason = 'sees no runner (acme: GET /orgs/acme/actions/runners: 403)';
    const before = await reeve(['runners'], { environment: named });
    await store.raise([{ kind: 'rule-blind', key, at, reason, level: 'operator' }]);

    const { status, out } = await reeve(['runners'], { environment: named });

    expect(before).toMatchObject({ status: 0, out: 'no sweep has observed a runner yet\n' });
    expect(out).toContain('no sweep has observed a runner:\n');
    expect(out).toContain(`rule watch, since 2026-05-04 10:00 UTC: ${reason}`);
    expect(out).toContain('runners of an organization need an owner of it');
    expect(out).not.toContain('each: runner');
    expect(status).toBe(1);
  });

  it('names the kind of rule that is needed if no sweep has run', async () => {
    const { status, out } = await reeve(['runners'], { environment: environment() });

    expect(out).toContain('a rule with `each: runner`');
    expect(status).toBe(0);
  });
});

describe('drift', () => {
  const change = {
    id: 'c1',
    rules: ['rules/p.yml#guard'],
    step: '1',
    action: 'sync-branch-protections',
    operation: 'x',
    method: 'PATCH',
    path: '/x',
    input: {},
    reason: '',
    target: 'protection:main.required_approvals',
    value: 2,
    before: 0,
    after: 2,
  };
  const observed = {
    ...makeRun({}),
    changes: [change],
    outcomes: [{ change: 'c1', status: 'planned' as const }],
  };

  const drifts = async (item: string, since: Date): Promise<void> => {
    const book = await DriftBook.open(store, 'rules/p.yml#guard');
    book.note(item, observed, since);
    // A later sweep with the same observation keeps the first time.
    book.note(item, observed, new Date());
    await book.save();
  };

  it('prints actual and desired values, since when and why they differ, the oldest first', async () => {
    const [older, newer] = [hoursAgo(72), hoursAgo(3)];
    await drifts('acme/site', newer);
    await drifts('acme/demo', older);

    const { status, out } = await reeve(['drift'], { environment: environment() });

    expect(out.trimEnd().split('\n')).toEqual([
      'acme/demo  protection:main.required_approvals',
      '  is 0, wanted 2',
      `  since ${older.toISOString()} (3 days), by rules/p.yml#guard: observed, not sent`,
      'acme/site  protection:main.required_approvals',
      '  is 0, wanted 2',
      `  since ${newer.toISOString()} (3 h), by rules/p.yml#guard: observed, not sent`,
    ]);
    expect(status).toBe(1);
  });

  it('prints one JSON list of the given items', async () => {
    await drifts('acme/demo', hoursAgo(1));
    await drifts('acme/site', hoursAgo(1));

    const { status, out } = await reeve(['drift', 'acme/demo', '--json'], { environment: environment() });

    expect(JSON.parse(out)).toMatchObject([
      {
        rule: 'rules/p.yml#guard',
        item: 'acme/demo',
        target: change.target,
        live: 0,
        wanted: 2,
        why: 'observed, not sent',
      },
    ]);
    expect(status).toBe(1);
  });

  it('reports that nothing drifts', async () => {
    const { status, out } = await reeve(['drift'], { environment: environment() });

    expect(out).toBe('sweeps have found no drift\n');
    expect(status).toBe(0);
  });

  it.each([[['drift', '--adopt']], [['drift', '--adopt', 'acme/a', 'acme/b']]])(
    'requires exactly one repository or organization to adopt: %j',
    async (args) => {
      const { status, error } = await reeve(args, { environment: environment() });

      expect(error).toContain('name one repository (acme/demo) or organization (acme)');
      expect(status).toBe(2);
    },
  );
});
