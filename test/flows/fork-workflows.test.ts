import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCapabilities } from '../../src/client/capabilities.ts';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { realServer } from '../support/flow-names.ts';
import { skipWithout } from '../support/flow-requirements.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  triage:
    on: pull_request.opened
    steps:
      - { uses: set-labels, with: { add: [area/code] } }
`;
const workflow =
  'on: { pull_request: { types: [labeled] } }\njobs: { own: { runs-on: host, steps: [{ run: id }] } }\n';

/** The embedded forge runs no workflows, and Forgejo has other rules for approval. */
const isGitea =
  realServer !== undefined &&
  (await findCapabilities(createClient({ url: realServer.url }))).has.restricted_approval;

describe('a label set by a rule on a pull request from a fork, on a real Gitea', () => {
  let harness: Harness;
  beforeEach((context) =>
    skipWithout('a real Gitea: others have no approval of workflows, or another', isGitea, context),
  );
  afterEach(() => harness?.close());

  /** Returns the status of the run that the label started: `waiting` for an approval, or `queued` for a runner. */
  async function statusOfRun(): Promise<string> {
    const url = `${harness.forge.url}/api/v1/repos/${at.owner}/${at.repo}/actions/runs`;
    const headers = { authorization: `token ${realServer?.adminToken}` };
    for (let tries = 0; tries < 1_000; tries += 1) {
      // The workflow runs API is not part of the contract, because Reeve does not call it.
      const { workflow_runs: runs } = (await (await fetch(url, { headers })).json()) as {
        workflow_runs: readonly { status: string }[];
      };
      const [run] = runs;
      if (run !== undefined) return run.status;
      await sleep(200);
    }
    throw new Error('no workflow has started');
  }

  it.each([
    ['waits for approval if the account is restricted', true, 'waiting'],
    ['starts the workflow of the fork immediately if the account is not restricted', false, 'queued'],
  ] as const)(
    'A9: %s',
    async (_, isRestricted, expected) => {
      harness = await startHarness({ rules, isRestricted });
      const eve = await harness.forge.makePerson(people.eve);
      await eve.call(operations.createFork, { params: at, body: {} });
      const params = { owner: people.eve, repo: at.repo, filepath: '.gitea/workflows/own.yml' };
      const content = Buffer.from(workflow).toString('base64');
      await eve.call(operations.createFile, { params, body: { content, message: 'w', new_branch: 'work' } });

      await eve.call(operations.createPull, {
        params: at,
        body: { title: 'Work', head: `${people.eve}:work`, base: 'main' },
      });
      await harness.waitForRun(
        ({ trigger, outcomes }) => trigger.activity === 'opened' && outcomes.length > 0,
      );

      expect(await statusOfRun()).toBe(expected);
    },
    120_000,
  );
});
