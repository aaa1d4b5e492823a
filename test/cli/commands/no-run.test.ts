import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeDelivery } from '../../store/make.ts';
import { reeve } from '../../support/command.ts';

let data: string;
let store: Store;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-no-run-'));
  store = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'worker' });
});
afterEach(async () => {
  await store.close();
  await rm(data, { recursive: true, force: true });
});

/** Environment of a person who receives no deliveries: a forge and a token, but no webhook secret. */
const connected = (): Record<string, string> => ({
  REEVE_DATA: data,
  FORGE_URL: 'http://127.0.0.1:9',
  FORGE_TOKEN: 'a-token-of-a-person-without-the-secret',
});

it('C4: explain states why a delivery has no run', async () => {
  const ignored = await store.accept(makeDelivery({ eventType: 'issues' }));
  const reason = 'acme/other is not served: its account has not starred it';
  const lane = { to: 'lane', lane: '7#3', repository: 'acme/other', repositoryId: 7 } as const;
  await store.route([{ id: ignored.id, ...lane }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
  if (claim === undefined) throw new Error('nothing to claim');
  await store.settle(claim, [], reason);
  const unheard = await store.accept(makeDelivery({ eventType: 'fork' }));
  const dead = await store.accept(makeDelivery({ eventType: 'push' }));
  const twin = makeDelivery({ eventType: 'release', receivedAt: new Date() });
  const first = await store.accept(twin);
  const copy = await store.accept({ ...twin, uuid: 'another' });
  await store.route([
    { id: unheard.id, to: 'settled', reason: 'no rule listens to this event' },
    { id: dead.id, to: 'dead', reason: 'the body is not JSON' },
  ]);

  const rows: readonly (readonly [string, string])[] = [
    [ignored.id, `issues in acme/other#3  settled\nNo run: ${reason}.`],
    [unheard.id, 'fork  settled\nNo run: no rule listens to this event.'],
    [
      dead.id,
      `push  dead\nNo run: it was given up: the body is not JSON.\nOnce the cause is removed, reeve redrive ${dead.id}`,
    ],
    [copy.id, `No run: it is a duplicate of delivery ${first.id},`],
    [first.id, 'release  accepted\nNo run: it waits for its turn.'],
  ];
  for (const [id, words] of rows) {
    const { status, out, error } = await reeve(['explain', id], { environment: connected() });
    expect({ status, error }, id).toEqual({ status: 0, error: '' });
    expect(out).toContain(words);
  }
  const { out } = await reeve(['explain', dead.id, '--json'], { environment: connected() });
  expect(JSON.parse(out)).toMatchObject({
    delivery: { id: dead.id, state: 'dead', reason: 'the body is not JSON' },
  });
});

describe('C4: without a forge', () => {
  const body = {
    action: 'opened',
    number: 1,
    issue: { number: 1, title: 'x' },
    repository: { id: 1, full_name: 'a/b' },
  };
  const ruleOf = (condition: string): string =>
    `version: 1\nrules: { a: { on: issues, if: '${condition}', steps: [{ uses: set-labels, with: { add: [x] } }] } }\n`;
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(data, name), text);
    return join(data, name);
  };

  it('replay is refused, because it cannot read the active rules', async () => {
    const { id } = await store.accept(
      makeDelivery({ eventType: 'issues', body: Buffer.from(JSON.stringify(body)) }),
    );

    const { status, out, error } = await reeve(['replay', id], { environment: { REEVE_DATA: data } });

    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(error).toContain('set FORGE_URL and FORGE_TOKEN, or try a rule file with --rules');
  });

  it('plan states that no rule was evaluated if all are skipped', async () => {
    const rules = await write('r.yml', ruleOf('true').replace('on: issues', 'on: issues.closed'));
    const payload = await write('p.json', JSON.stringify(body));

    const { out } = await reeve(['plan', '--event', 'issues', '--payload', payload, '--rules', rules], {});

    expect(out).toMatch(/- a: skipped \(.*\)[\s\S]*No rule was evaluated\.\n$/);
  });

  it('replay and plan do not claim that nothing has to change if a rule could not be evaluated', async () => {
    const rules = await write('r.yml', ruleOf('label_definitions.size() == 0'));
    const recorded = await write('e.json', JSON.stringify({ eventType: 'issues', payload: body }));
    const payload = await write('p.json', JSON.stringify(body));

    const replayed = await reeve(['replay', recorded, '--rules', rules], {});
    const planned = await reeve(['plan', '--event', 'issues', '--payload', payload, '--rules', rules], {});

    for (const { status, out } of [replayed, planned]) {
      expect(out).toContain('No change; 1 rule could not be evaluated.');
      expect(out).not.toContain('Nothing to change');
      expect(status).toBe(1);
    }
  });
});

it('C4: plan, runners and drift need no webhook secret', async () => {
  expect(await reeve(['runners', '--json'], { environment: connected() })).toMatchObject({
    status: 0,
    out: '[]\n',
  });
  expect((await reeve(['drift', '--json'], { environment: connected() })).error).not.toContain('secret');
  const payload = join(data, 'p.json');
  await writeFile(
    payload,
    '{"action":"opened","number":1,"issue":{"number":1},"repository":{"id":1,"full_name":"a/b"}}',
  );
  const rules = join(data, 'r.yml');
  await writeFile(rules, 'version: 1\nrules: {}\n');

  const { status, error } = await reeve(
    ['plan', '--event', 'issues', '--payload', payload, '--rules', rules],
    {
      environment: connected(),
    },
  );

  // The command gets as far as connecting to the forge, which does not exist.
  expect(error).toContain('cannot be reached');
  expect(status).toBe(3);
});
