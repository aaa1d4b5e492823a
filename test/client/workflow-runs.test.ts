import { expect, it } from 'vitest';
import { normalizeWorkflowRuns } from '../../src/client/normalize.ts';

const forgejoRun = {
  id: 7,
  index_in_repo: 3,
  title: 'add a',
  workflow_id: 'build.yml',
  prettyref: 'main',
  commit_sha: 'abc',
  event: 'push',
  trigger_event: 'workflow_dispatch',
  trigger_user: { login: 'ada' },
  started: '2026-01-02T03:04:05Z',
  stopped: '2026-01-02T03:05:05Z',
};

it.each([
  ['waiting', { status: 'queued' }],
  ['blocked', { status: 'waiting' }],
  ['running', { status: 'in_progress' }],
  ['success', { status: 'completed', conclusion: 'success' }],
  ['failure', { status: 'completed', conclusion: 'failure' }],
  ['unknown', { status: 'unknown' }],
])('a Forgejo run that is %s has the fields of a Gitea run', (status, expected) => {
  const answer = { total_count: 1, workflow_runs: [{ ...forgejoRun, status }] };
  const run = {
    id: 7,
    run_number: 3,
    display_title: 'add a',
    path: 'build.yml',
    head_branch: 'main',
    head_sha: 'abc',
    event: 'workflow_dispatch',
    actor: { login: 'ada' },
    started_at: '2026-01-02T03:04:05Z',
    ...expected,
  };

  expect(normalizeWorkflowRuns(answer)).toMatchObject({ total_count: 1, workflow_runs: [run] });
  expect(normalizeWorkflowRuns({ ...forgejoRun, status })).toMatchObject(run);
});

it.each([[{ id: 1, run_number: 2, status: 'queued' }], [{ workflow_runs: null }], [null], ['junk']])(
  'a response of Gitea, or junk, is unchanged: %j',
  (answer) => {
    expect(normalizeWorkflowRuns(answer)).toEqual(answer);
  },
);
