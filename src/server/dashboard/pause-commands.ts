import type { FastifyInstance } from 'fastify';
import { nameOfScope, type PauseScope } from '../../engine/bounds/pauses.ts';
import type { FormFields } from '../../platform/http/form.ts';
import { html } from '../../platform/http/html.ts';
import type { Log } from '../../platform/log.ts';
import { findPauseScope, scopeOfName } from '../../work/runs/pause-scope.ts';
import type { DashboardCommands, DashboardData } from './data.ts';
import type { PageView } from './page.ts';
import type { PageHandler } from './page-handler.ts';
import { viewerWords } from './viewer.ts';

/** Characters of a name; a path of a rule file and a name of a rule are shorter. */
const maxNameChars = 1_000;

/** Registers the forms that pause and resume writes. Operators alone: a pause also stops rules of the operator. */
export function registerPauseCommands(
  app: FastifyInstance,
  pageHandler: PageHandler,
  {
    dashboardData: data,
    commands,
    log,
  }: { readonly dashboardData: DashboardData; readonly commands: DashboardCommands; readonly log: Log },
): void {
  app.post('/pauses', (request, reply) =>
    pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
      const given = scopeOfFields(fields);
      if (given === undefined) return notPaused;
      const rules = async (): Promise<readonly string[]> => data.rules().map(({ id }) => id);
      const found = await findPauseScope(given, rules, data.store);
      if (!('scope' in found)) return notPaused;
      const isNew = await commands.pause(found.scope, viewerWords(viewer));
      if (isNew) log.info({ scope: nameOfScope(found.scope), by: viewer.name }, 'writes are paused');
      return pathBack(fields);
    }),
  );

  app.post('/pauses/end', (request, reply) =>
    pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
      const scope = scopeOfFields(fields);
      // Where another person was quicker there is nothing to do, and the page shows the state.
      const isEnded = scope !== undefined && (await commands.resume(scope, viewerWords(viewer)));
      if (isEnded) log.info({ scope: nameOfScope(scope), by: viewer.name }, 'writes are resumed');
      return pathBack(fields);
    }),
  );
}

/** A button names its kind: a rule may have the name `all`. A name that a person wrote is read as the command line reads it. */
function scopeOfFields(fields: FormFields): PauseScope | undefined {
  const kind = fields.get('kind');
  if (kind === 'all') return { kind };
  const name = fields.get('name').trim();
  if (name === '' || name.length > maxNameChars) return undefined;
  if (kind === 'rule') return { kind, name: name.replace(/^#/, '') };
  return kind === 'repository' ? { kind, name } : scopeOfName(name);
}

/** Returns the path of the page with the button; a form may name these pages and no other. */
function pathBack(fields: FormFields): string {
  return /^(?:rules|deliveries\/\d{1,15})$/.exec(fields.get('back'))?.[0] ?? '';
}

const notPaused: PageView = {
  status: 400,
  title: 'Not paused',
  content: html`<p role="alert">There is no rule of this name, and nothing was done: write the name of a rule, OWNER/REPO or all.</p>`,
};
