import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BareServer, json, startBareServer } from '../../support/bare-server.ts';
import { reeve } from '../../support/command.ts';

const rules = `version: 1
rules:
  hooks:
    in: acme/*
    on: { schedule: "17 3 * * *" }
    each: repository
    steps:
      - uses: sync-hooks
        with:
          hooks: [{ url: "https://ci.example.org/", name: ci, events: [push, workflow_run] }]
  runs:
    on: workflow_run.completed
    steps:
      - uses: sync-organization
        with: { visibility: private }
`;

let folder: string;
let path: string;
let server: BareServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-check-'));
  path = join(folder, 'rules.yml');
  await writeFile(path, rules);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function checkOn(version: string) {
  server = await startBareServer((request, response) => {
    const path = request.path.split('?')[0] ?? '';
    if (path.endsWith('/version')) return json(response, { version });
    if (path.endsWith('/user')) return json(response, { id: 9, login: 'reeve' });
    return json(response, [], 200, { 'x-total-count': '0' });
  });
  return reeve(['check', '--json', path], { environment: { FORGE_URL: server.url, FORGE_TOKEN: 'token' } });
}

it('finds nothing on a forge that supports everything used in the file', async () => {
  const { status, out } = await checkOn('1.27.0');

  expect(JSON.parse(out).problems).toEqual([]);
  expect(status).toBe(0);
  expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
});

it('reports the lines that need features the forge does not support', async () => {
  const { status, out } = await checkOn('15.0.3+gitea-1.22.0');
  const problems: readonly { line: number; code: string; message: string }[] = JSON.parse(out).problems;

  expect(status).toBe(1);
  expect(problems.map(({ line, code }) => `${line} ${code}`)).toEqual([
    '8 capability',
    '8 capability',
    '11 capability',
  ]);
  expect(problems.map(({ message }) => message)).toEqual([
    'sync-hooks says hooks.name: this forge (15.0.3+gitea-1.22.0) does not support names of hooks',
    'sync-hooks says hooks.events workflow_run: this forge (15.0.3+gitea-1.22.0) does not support the hook event workflow_run',
    'rule runs listens to workflow_run: this forge (15.0.3+gitea-1.22.0) does not support the hook event workflow_run',
  ]);
});

it('warns of an event that the forge does not send to a rule that listens to others as well', async () => {
  await writeFile(
    path,
    `version: 1
rules:
  merge:
    on: [pull_request.opened, status]
    each: pull_request
    if: labels.exists(l, l.name == "merge")
    steps: [{ uses: merge }]
`,
  );

  const { status, out } = await checkOn('15.0.3+gitea-1.22.0');
  const { problems, warnings } = JSON.parse(out);

  expect(problems).toEqual([]);
  expect(status).toBe(0);
  expect(warnings).toContainEqual(
    expect.objectContaining({
      code: 'unsent-event',
      line: 3,
      message:
        'rule merge listens to status: this forge (15.0.3+gitea-1.22.0) does not support the hook event status; the rule runs for its other events, and what waits for checks is looked at again',
    }),
  );
});

it('stays offline without credentials', async () => {
  server = await startBareServer((_request, response) => json(response, {}, 500));

  const { status } = await reeve(['check', path], { environment: { FORGE_URL: server.url } });

  expect(status).toBe(0);
  expect(server.requests).toEqual([]);
});

it('reports that the forge cannot be reached', async () => {
  server = await startBareServer((_request, response) => json(response, {}));
  const environment = { FORGE_URL: 'http://127.0.0.1:9', FORGE_TOKEN: 'token' };

  expect(await reeve(['check', path], { environment })).toMatchObject({ status: 3 });
});
