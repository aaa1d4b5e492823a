import type { FastifyInstance } from 'fastify';
import { ReeveError } from '../../platform/errors.ts';
import { parseSimulatedSubject } from '../../work/runs/simulation/simulated-subject.ts';
import type { DashboardCommands } from './data.ts';
import type { PageView } from './page.ts';
import type { PageHandler, PageRequest } from './page-handler.ts';
import { askedSimulation, failedSimulationView, simulationView } from './pages/simulate.ts';

/** Registers the form that simulates. Operators alone: rules of the operator see what readers of a repository do not. */
export function registerSimulateCommand(
  app: FastifyInstance,
  pageHandler: PageHandler,
  { commands }: { readonly commands: DashboardCommands },
): void {
  app.post('/simulate', (request, reply) =>
    pageHandler.act(request, reply, 'operators', (pageRequest) => answer(pageRequest, commands)),
  );
}

async function answer(pageRequest: PageRequest, commands: DashboardCommands): Promise<PageView> {
  const asked = askedSimulation((name) => pageRequest.fields.get(name));
  try {
    const subject = parseSimulatedSubject(asked.kind, asked.subject);
    return simulationView(await commands.simulate(subject), asked, pageRequest);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return { ...failedSimulationView(error.message, asked, pageRequest), status: error.http };
  }
}
