import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Credentials } from '../../src/client/credentials.ts';
import { operations } from '../../src/contract/operations.ts';
import { visitWithPassword } from '../support/dashboard-visitor.ts';
import { patienceMs } from '../support/flow-names.ts';
import { at, type Stage, setStage } from '../support/stage.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
`;

let stage: Stage;
afterEach(() => stage.close());

async function readyz(): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${stage.server.url}/readyz`);
  return { status: answer.status, body: await answer.json() };
}

it('a revoked token shows on readyz, overview and metrics; its file is read again, and what waited is done', {
  timeout: 10 * patienceMs,
}, async () => {
  /** What the file of the token holds by now. */
  let inFile: Credentials | undefined;
  stage = await setStage({ rules, readCredentials: () => inFile });
  await stage.quiet();
  expect(await readyz()).toEqual({ status: 200, body: { status: 'ok' } });
  const password = (await readFile(join(stage.data, 'dashboard.password'), 'utf8')).trim();
  const visitor = await visitWithPassword(stage.server.url, password);
  const metrics = async () => {
    const authorization = `Basic ${Buffer.from(`reader:${password}`).toString('base64')}`;
    return (await fetch(`${stage.server.url}/metrics`, { headers: { authorization } })).text();
  };

  await stage.revokeToken();
  const issue = await stage.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });

  await expect
    .poll(readyz, { timeout: patienceMs })
    .toEqual({ status: 200, body: { status: 'degraded', forge: 'refused' } });
  expect((await visitor.get('/')).text).toContain('The forge refuses our credential');
  expect(await metrics()).toContain('reeve_forge_state{state="refused"} 1');
  expect((await stage.server.store.counts()).dead).toBe(0);

  await stage.renewToken();
  inFile = { token: stage.token };

  await expect.poll(() => stage.labelsOf(issue.number)).toEqual(['area/docs']);
  await expect.poll(readyz, { timeout: patienceMs }).toEqual({ status: 200, body: { status: 'ok' } });
  expect((await visitor.get('/')).text).not.toContain('refuses our credential');
  expect(await metrics()).toContain('reeve_forge_state{state="ok"} 1');
});
