import { type FakeRunner, registerRunner } from './runner.ts';
import type { RecordingSetup } from './setup.ts';
import type { Topic } from './step.ts';

const label = 'pretended';

/**
 * What workflows bring. Forgejo tells only how a run ended, and by kinds of its own. It never sends `action_run_recover`: the
 * function that finds the run before is a stub there (`models/actions/run.go` GetRunBefore).
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
        // Schedules are looked at once a minute, and the first look only notes them.
        timeoutSeconds: 200,
        perform: () =>
          write('nightly.yml', `on:\n  schedule:\n    - cron: '* * * * *'\njobs:\n${job('nightly')}`),
      },
    ],
  };
}
