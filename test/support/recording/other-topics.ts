import type { RecordingSetup, Topic } from './setup.ts';

/** Events of wiki pages and commit statuses. */
export function createWikiTopic({ ask, clone, repository: at, people: { ada } }: RecordingSetup): Topic {
  const page = (title: string, text: string) => ({
    title,
    content_base64: Buffer.from(text).toString('base64'),
    message: `Write ${title}`,
  });
  return {
    name: 'wiki',
    steps: [
      {
        name: 'page',
        expects: ['wiki.created'],
        perform: () => ask('POST', `/repos/${at}/wiki/new`, { as: ada, body: page('How to', 'So.\n') }),
      },
      {
        name: 'page-edited',
        expects: ['wiki.edited'],
        perform: () =>
          ask('PATCH', `/repos/${at}/wiki/page/How-to`, { as: ada, body: page('How to', 'Or so.\n') }),
      },
      {
        name: 'silent-wiki-push',
        expects: [],
        async perform() {
          const wiki = await clone(`${at}.wiki`, ada);
          await wiki.commit({ 'Pushed.md': 'By git.\n' });
          await wiki.git('push', '--quiet', 'origin', 'HEAD');
        },
      },
      {
        name: 'page-deleted',
        expects: ['wiki.deleted'],
        perform: () => ask('DELETE', `/repos/${at}/wiki/page/How-to`, { as: ada }),
      },
      {
        name: 'status',
        expects: ['status'],
        async perform() {
          const { commit } = await ask('GET', `/repos/${at}/branches/main`, { as: ada });
          const target = { target_url: 'https://ci.example.org/1', description: 'All is well.' };
          const body = { state: 'success', context: 'ci/test', ...target };
          await ask('POST', `/repos/${at}/statuses/${commit.id}`, { as: ada, body });
        },
      },
    ],
  };
}

/** Events of releases and packages. */
export function createReleaseTopic({
  ask,
  repository: at,
  organization,
  people: { ada },
}: RecordingSetup): Topic {
  const file = `/api/packages/${organization}/generic/tool/1.0.0/tool.txt`;
  let id = 0;
  return {
    name: 'releases and packages',
    steps: [
      {
        name: 'release',
        expects: ['push', 'create', 'release.published'],
        async perform() {
          const body = { tag_name: 'v1.0.0', name: 'One', body: 'The first.', target_commitish: 'main' };
          id = (await ask('POST', `/repos/${at}/releases`, { as: ada, body })).id;
        },
      },
      {
        name: 'release-edited',
        expects: ['release.updated'],
        perform: () =>
          ask('PATCH', `/repos/${at}/releases/${id}`, { as: ada, body: { body: 'The very first.' } }),
      },
      {
        name: 'release-deleted',
        expects: ['release.deleted'],
        perform: () => ask('DELETE', `/repos/${at}/releases/${id}`, { as: ada }),
      },
      {
        name: 'silent-draft',
        expects: [],
        async perform() {
          const body = { tag_name: 'v2.0.0', name: 'Two', draft: true, target_commitish: 'main' };
          id = (await ask('POST', `/repos/${at}/releases`, { as: ada, body })).id;
        },
      },
      {
        name: 'draft-published',
        expects: ['push', 'create', 'release.published'],
        perform: () => ask('PATCH', `/repos/${at}/releases/${id}`, { as: ada, body: { draft: false } }),
      },
      {
        name: 'package',
        expects: ['package.created'],
        hooks: ['organization', 'system'],
        perform: () => ask('PUT', file, { as: ada, body: 'content' }),
      },
      {
        name: 'package-of-repository',
        expects: ['package.created'],
        hooks: ['organization', 'system'],
        async perform() {
          await ask('POST', `/packages/${organization}/generic/tool/-/link/demo`, { as: ada });
          await ask('PUT', file.replace('1.0.0', '1.1.0'), { as: ada, body: 'content' });
        },
      },
      {
        name: 'package-deleted',
        expects: ['package.deleted'],
        hooks: ['organization', 'system'],
        perform: () => ask('DELETE', file.replace(/\/tool.txt$/, ''), { as: ada }),
      },
    ],
  };
}

/** Events of deleted repositories, and changes to repositories that send no event. */
export function createRemovalTopic({
  ask,
  repository: at,
  organization,
  people: { ada },
}: RecordingSetup): Topic {
  return {
    name: 'farewell',
    steps: [
      {
        name: 'silent-settings',
        expects: [],
        async perform() {
          await ask('PATCH', `/repos/${at}`, {
            as: ada,
            body: { description: 'Otherwise.', has_wiki: false },
          });
          await ask('PUT', `/user/starred/${at}`, { as: ada });
          await ask('PUT', `/repos/${at}/subscription`, { as: ada });
          await ask('PATCH', `/repos/${at}`, { as: ada, body: { archived: true } });
          await ask('PATCH', `/repos/${at}`, { as: ada, body: { archived: false } });
          await ask('PATCH', `/repos/${organization}/copy`, { as: ada, body: { name: 'renamed' } });
        },
      },
      {
        name: 'repository-deleted',
        expects: ['repository.deleted'],
        hooks: ['organization', 'system'],
        perform: () => ask('DELETE', `/repos/${organization}/renamed`, { as: ada }),
      },
      {
        name: 'personal-repository-deleted',
        expects: ['repository.deleted'],
        hooks: ['user', 'system'],
        perform: () => ask('DELETE', `/repos/${ada.name}/own`, { as: ada }),
      },
      {
        name: 'recorded-repository-deleted',
        expects: ['repository.deleted'],
        hooks: ['organization', 'system'],
        perform: () => ask('DELETE', `/repos/${at}`, { as: ada }),
      },
    ],
  };
}

const label = 'pretended';

/**
 * Events of workflows. Forgejo only reports how a run ended, with kinds of events that Gitea does not have. It never
 * sends `action_run_recover`: its function that finds the previous run is a stub (`models/actions/run.go`
 * GetRunBefore).
 */
export function createWorkflowTopic(setup: RecordingSetup): Topic {
  const { repository: at, people } = setup;
  const { ada } = people;
  const isForgejo = setup.version.includes('+gitea-');
  const on = (gitea: readonly string[], forgejo: readonly string[] = []) => (isForgejo ? forgejo : gitea);
  const write = (name: string, text: string) => {
    const content = Buffer.from(text).toString('base64');
    const body = { content, message: `Add ${name}`, branch: 'main' };
    return setup.ask('POST', `/repos/${at}/contents/.gitea/workflows/${name}`, { as: ada, body });
  };
  const dispatch = () =>
    setup.ask('POST', `/repos/${at}/actions/workflows/ci.yml/dispatches`, { as: ada, body: { ref: 'main' } });
  const job = (name: string, more = '') =>
    `  ${name}:\n    runs-on: ${label}\n${more}    steps:\n      - name: Say it\n        run: echo it\n`;
  const jobEnds = ['workflow_job.in_progress', 'workflow_job.completed'];
  let runner: FakeRunner;

  return {
    name: 'workflows',
    steps: [
      {
        name: 'workflow-pushed',
        expects: ['push', ...on(['workflow_run.requested', 'workflow_job.queued', 'workflow_job.waiting'])],
        async perform() {
          const second = job('second', '    needs: first\n');
          await write(
            'ci.yml',
            `on:\n  push:\n    paths: [.gitea/workflows/ci.yml]\n  workflow_dispatch:\njobs:\n${job('first')}${second}`,
          );
        },
      },
      {
        name: 'run-succeeded',
        expects: on([...jobEnds, ...jobEnds, 'workflow_run.completed'], ['action_run_success.success']),
        async perform() {
          runner = await registerRunner(setup, label);
          await runner.run('SUCCESS');
          await runner.run('SUCCESS');
        },
      },
      {
        name: 'workflow-dispatched',
        expects: on(['workflow_run.requested', 'workflow_job.queued', 'workflow_job.waiting']),
        perform: dispatch,
      },
      {
        name: 'run-failed',
        expects: on(
          [...jobEnds, 'workflow_job.completed', 'workflow_run.completed'],
          ['action_run_failure.failure'],
        ),
        perform: () => runner.run('FAILURE'),
      },
      {
        name: 'run-recovered',
        expects: on(
          ['workflow_run.requested', ...jobEnds, ...jobEnds, 'workflow_run.completed'],
          ['action_run_success.success'],
        ),
        async perform() {
          await dispatch();
          await runner.run('SUCCESS');
          await runner.run('SUCCESS');
        },
      },
      {
        name: 'scheduled',
        expects: ['push', ...on(['workflow_run.requested'])],
        // Schedules are checked once a minute, and the first check only registers them.
        timeoutSeconds: 200,
        perform: () =>
          write('nightly.yml', `on:\n  schedule:\n    - cron: '* * * * *'\njobs:\n${job('nightly')}`),
      },
    ],
  };
}

/** Runner that executes nothing. It takes a job, reports its start, and reports its result. */
interface FakeRunner {
  /** Takes the next job as soon as one is available, and reports on it in two messages: running and finished. */
  run(result: 'SUCCESS' | 'FAILURE'): Promise<void>;
}

/**
 * Registers a runner of a repository through the runner protocol in its JSON form (source: forge
 * `routers/api/actions/runner/runner.go`).
 */
async function registerRunner(setup: RecordingSetup, label: string): Promise<FakeRunner> {
  const { ask, repository, url, people } = setup;
  const path = `/repos/${repository}/actions/runners/registration-token`;
  const as = people.ada;
  // Gitea creates the token with POST, older versions of Forgejo with GET.
  const { token } = await ask('POST', path, { as }).catch(() => ask('GET', path, { as }));
  const call = async (method: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/actions/runner.v1.RunnerService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const about = { name: 'pretender', version: 'v1', labels: [label] };
  const { runner } = await call('Register', { token, ...about, agentLabels: [label] });
  const known = { 'x-runner-uuid': runner.uuid, 'x-runner-token': runner.token };
  await call('Declare', { version: about.version, labels: about.labels }, known);

  async function fetchTask(): Promise<{ id: string }> {
    for (let tries = 0; tries < 60; tries += 1) {
      const { task } = await call('FetchTask', { tasksVersion: '0' }, known);
      if (task) return task;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error('there is no job for the runner');
  }

  return {
    async run(result) {
      const { id } = await fetchTask();
      const startedAt = new Date().toISOString();
      const step = { id: '0', startedAt, logIndex: '0', logLength: '0' };
      await call('UpdateTask', { state: { id, startedAt, steps: [step] } }, known);
      const over = { result: `RESULT_${result}`, stoppedAt: new Date().toISOString() };
      await call('UpdateTask', { state: { id, startedAt, ...over, steps: [{ ...step, ...over }] } }, known);
    },
  };
}
