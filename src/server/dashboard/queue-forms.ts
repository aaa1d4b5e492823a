import type { FastifyInstance } from 'fastify';
import type { FormFields } from '../../platform/http/form.ts';
import { html } from '../../platform/http/html.ts';
import type { Log } from '../../platform/log.ts';
import type { QueueKey } from '../../store/queue-rows.ts';
import type { QueueCommand } from '../../work/merge-queue/queue-commands.ts';
import type { DashboardCommands, DashboardData } from './data.ts';
import type { PageView } from './page.ts';
import type { PageHandler } from './page-handler.ts';
import { viewerWords } from './viewer.ts';

/** Characters of the name of a branch. */
const maxBranchChars = 1_000;
const kinds: readonly QueueCommand['kind'][] = ['move', 'remove', 'pause', 'resume'];

/** Registers the forms that change merge queues. Operators alone: the rules of the operator decide who may merge. */
export function registerQueueForms(
  app: FastifyInstance,
  pageHandler: PageHandler,
  {
    dashboardData: { store },
    commands,
    log,
  }: {
    readonly dashboardData: { readonly store: Pick<DashboardData['store'], 'readQueue'> };
    readonly commands: Pick<DashboardCommands, 'queue'>;
    readonly log: Log;
  },
): void {
  for (const kind of kinds) {
    app.post(`/queues/${kind}`, (request, reply) =>
      pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
        const key = queueOfFields(fields);
        const command = commandOfFields(kind, fields);
        if (key === undefined || command === undefined) return notChanged;
        const queue = await store.readQueue(key);
        // Where another person or the queue was quicker there is nothing to do, and the page shows the state.
        const isChanged = queue && (await commands.queue(queue, command, viewerWords(viewer)));
        if (isChanged)
          log.info(
            { repository: queue.repository, base: key.base, ...command, by: viewer.name },
            'a merge queue is changed',
          );
        return 'queues';
      }),
    );
  }
}

function queueOfFields(fields: FormFields): QueueKey | undefined {
  const repositoryId = wholeNumber(fields.get('repository'));
  const base = fields.get('base');
  if (repositoryId === undefined || base === '' || base.length > maxBranchChars) return undefined;
  return { repositoryId, base };
}

function commandOfFields(kind: QueueCommand['kind'], fields: FormFields): QueueCommand | undefined {
  if (kind === 'pause' || kind === 'resume') return { kind };
  const number = wholeNumber(fields.get('number'));
  const position = wholeNumber(fields.get('position').trim());
  if (number === undefined) return undefined;
  if (kind === 'remove') return { kind, number };
  return position === undefined ? undefined : { kind, number, position };
}

function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

const notChanged: PageView = {
  status: 400,
  title: 'Not changed',
  content: html`<p role="alert">This names no pull request, position or queue, and nothing was done: a position is a number, and 1 is the first.</p>`,
};
