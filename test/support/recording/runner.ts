import type { RecordingSetup } from './setup.ts';

/** A runner that runs nothing: it takes a job, says that it began, and says how it ended. */
export interface FakeRunner {
  /** Takes the next job, as soon as there is one, and reports on it in two messages: it runs, it is over. */
  run(result: 'SUCCESS' | 'FAILURE'): Promise<void>;
}

/**
 * Registers a runner of a repository. It speaks the runners' protocol in its JSON form (source: forge
 * `routers/api/actions/runner/runner.go`).
 */
export async function registerRunner(setup: RecordingSetup, label: string): Promise<FakeRunner> {
  const { ask, repository, url, people } = setup;
  const path = `/repos/${repository}/actions/runners/registration-token`;
  const as = people.ada;
  // Gitea makes the token by POST, older Forgejo by GET.
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
