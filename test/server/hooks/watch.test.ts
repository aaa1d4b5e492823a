import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import { isSevere } from '../../../src/engine/incidents/incident.ts';
import { hookJob } from '../../../src/server/hooks/watch.ts';
import { WebhookForm } from '../../../src/server/settings/operator-file.ts';
import { acme, people, type SweepHarness, startSweepHarness } from '../../support/sweep-harness.ts';

const url = 'https://bot.example.org/webhook';
const params = { owner: acme, repo: 'demo' };

let harness: SweepHarness;
beforeAll(async () => {
  harness = await startSweepHarness();
});
afterAll(() => harness.close());

/** Runs the job with these locations, as the account of a client. Returns the open incidents. */
async function watch(
  places: Readonly<Record<string, unknown>>,
  { client = harness.bot, slot = 'slot', at = new Date('2026-05-04T10:30:00Z') } = {},
): Promise<readonly string[]> {
  const webhook = WebhookForm.parse({ url, ...places });
  const job = hookJob({ webhook, client, login: async () => people.bot, store: harness.store });
  await job.run(at, slot);
  const open = await harness.store.listIncidents();
  expect(open.every((incident) => isSevere(incident))).toBe(true);
  return open.map(({ kind, key, reason }) => `${kind} ${key}: ${reason}`);
}

const createHook = (address = url) =>
  harness.bot.call(operations.createHook, {
    params,
    body: { type: 'gitea', active: true, events: ['push'], config: { url: address, content_type: 'json' } },
  });

it('a hook that is missing, disabled or changed on the forge is an incident until it delivers again', async () => {
  const places = { repositories: [`${acme}/demo`] };
  const advice = ': its events arrive late or never; reeve setup corrects it';
  const seen: (readonly string[])[] = [await watch(places)];
  const { id } = await createHook();
  seen.push(await watch(places));
  const edit = (body: object) => harness.bot.call(operations.editHook, { params: { ...params, id }, body });
  await edit({ active: false });
  seen.push(await watch(places));
  await edit({ active: true, config: { url: 'https://other.example.org/webhook', content_type: 'json' } });
  await harness.store.remember(`setup hook repository ${acme}/demo`, { id });
  seen.push(await watch(places));
  // A person adds a hook to the right address: what the stored one does no longer matters.
  await createHook();
  seen.push(await watch(places));

  expect(seen).toEqual([
    [`hook-silent repository ${acme}/demo: has no hook to ${url}${advice}`],
    [],
    [`hook-silent repository ${acme}/demo: has a disabled hook${advice}`],
    [
      `hook-silent repository ${acme}/demo: has a hook that now points to another address: its events arrive late or never; another Reeve may run at that address: run reeve setup here only if that one is stopped for good; otherwise stop this one`,
    ],
    [],
  ]);
});

it('hooks that the account may not list are no incident, and a failing forge changes nothing', async () => {
  const places = { organizations: [acme] };
  expect(await watch(places)).toHaveLength(1);
  harness.proxy.decide = () => ({ kind: 'answer', status: 502, body: '' });
  const client = createClient({
    url: harness.proxy.url,
    credentials: { token: harness.environment.FORGE_TOKEN ?? '' },
    sleep: async () => {},
  });
  await expect(watch(places, { client })).rejects.toThrow('502');
  expect(await harness.store.listIncidents()).toHaveLength(1);
  expect(await watch({ ...places, organizations: [acme] }, { client: harness.ada })).toEqual([]);
});

it('many hooks are examined every hour, or every ten minutes while one is silent', async () => {
  const repositories = Array.from({ length: 21 }, (_, at) => `${acme}/${at === 20 ? 'ops' : 'gone'}-${at}`);
  await harness.makeRepository('ops-20');
  expect(await watch({ repositories })).toEqual([]);
  const found = [expect.stringContaining(`${acme}/ops-20: has no hook`)];
  expect(await watch({ repositories }, { slot: 'start@1' })).toEqual(found);
  await harness.bot.call(operations.createHook, {
    params: { owner: acme, repo: 'ops-20' },
    body: { type: 'gitea', active: true, events: ['push'], config: { url, content_type: 'json' } },
  });
  expect(await watch({ repositories })).toEqual([]);
});
