import { expect, it } from 'vitest';
import type { RuleRow } from '../../../../src/server/dashboard/data.ts';
import { makeDelivery, makeRun } from '../../../store/make.ts';
import { serveDashboard } from '../../../support/serve-dashboard.ts';

const rule: RuleRow = {
  id: '/etc/reeve/rules/docs.yml#docs',
  name: 'docs',
  file: 'docs.yml',
  line: 3,
  mode: 'enforce',
  listensTo: ['issues.opened'],
  description: undefined,
};
const dashboard = serveDashboard([rule]);

const search = async (q: string): Promise<string | undefined> => {
  const { headers, text } = await dashboard.operator.get(`/search?${new URLSearchParams({ q })}`);
  return headers.get('location') ?? /<p role="status">(.*?)<\/p>/.exec(text)?.[1];
};

it.each([
  ['acme/shop#7', './subjects/acme/shop/issues/7'],
  ['  acme/shop#7 ', './subjects/acme/shop/issues/7'],
  ['https://forge.example.org/acme/shop/pulls/7/files', './subjects/acme/shop/issues/7'],
  ['https://forge.example.org/acme/shop/issues/7#issuecomment-3', './subjects/acme/shop/issues/7'],
  ['https://forge.example.org/acme/shop', './deliveries?search=acme%2Fshop'],
  ['acme/shop', './deliveries?search=acme%2Fshop'],
  ['../shop#7', './deliveries?search=..%2Fshop%237'],
  ['docs', './rules/show?rule=%2Fetc%2Freeve%2Frules%2Fdocs.yml%23docs'],
  ['pull_request', './deliveries?search=pull_request'],
  ['https://evil.example.org/acme/shop', './deliveries?search=https%3A%2F%2Fevil.example.org%2Facme%2Fshop'],
  ['//evil.example.org', './deliveries?search=%2F%2Fevil.example.org'],
  ['4711', 'No delivery has the number 4711.'],
  ['', 'Enter what you are looking for in the field above.'],
])('a search for %j leads to its page', async (query, expected) => {
  expect(await search(query)).toBe(expected);
});

it('a search for an id leads to the delivery or the run', async () => {
  const { store } = dashboard;
  const { id, uuid } = { ...(await store.accept(makeDelivery({ uuid: 'b5a1' }))), uuid: 'b5a1' };
  const run = makeRun({});
  await store.appendRuns([run]);

  expect(await search(id)).toBe(`./deliveries/${id}`);
  expect(await search(run.id.toUpperCase())).toBe(`./runs/${run.id}`);
  expect(await search(uuid)).toBe(`./deliveries?search=${uuid}`);
});

it('every page has the search, and a navigation of four groups with the pages of the current one', async () => {
  const { text } = await dashboard.operator.get('/sweeps');
  const links = (label: string): readonly string[] => {
    const nav = new RegExp(`<nav[^>]* aria-label="${label}">(.*?)</nav>`, 's').exec(text)?.[1] ?? '';
    return [...nav.matchAll(/<a href="([^"]*)"( aria-current="\w+")?>(.*?)<\/a>/g)].map(
      ([, to, current = '', name]) => `${name} ${to}${current}`,
    );
  };

  expect(text).toContain('<form class="find" role="search" method="get" action="./search">');
  expect(links('Groups of pages')).toEqual([
    'Overview ./',
    'Events ./deliveries',
    'Rules ./rules aria-current="true"',
    'System ./runners',
  ]);
  expect(links('Pages of Rules')).toEqual([
    'Rules ./rules',
    'Sweeps ./sweeps aria-current="page"',
    'Drift ./drift',
    'Simulate ./simulate',
  ]);
});
