import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import { type SimulatedKind, type Simulation, simulatedKinds } from '../../../work/runs/simulate.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { operatorAccess } from '../visibility.ts';
import { viewRun } from './run-view.ts';

const kinds = Object.keys(simulatedKinds) as readonly SimulatedKind[];
const maxSubjectChars = 1_000;

/** The requested simulation: a kind, and the subject as entered. */
export type AskedSimulation = { readonly kind: SimulatedKind; readonly subject: string };

/** Returns the simulation requested by the fields of a form or a query. */
export function askedSimulation(get: (name: string) => string | null): AskedSimulation {
  const kind = kinds.find((one) => one === get('kind')) ?? 'pull_request';
  return { kind, subject: (get('subject') ?? '').trim().slice(0, maxSubjectChars) };
}

/** Shows the form that simulates the rules on a live subject. */
export async function simulatePage(pageRequest: PageRequest): Promise<PageView> {
  const asked = askedSimulation((name) => pageRequest.query.get(name));
  return { title: 'Simulate', content: simulateForm(asked, pageRequest) };
}

/** Shows what the rules in force would currently do with the subject. */
export function simulationView(
  { runs, left, ignored, broken }: Simulation,
  asked: AskedSimulation,
  pageRequest: PageRequest,
): PageView {
  const planned = runs.map(({ trigger, ...run }) => {
    const activity = trigger.activity === '' ? '' : `.${trigger.activity}`;
    const heading = html`<h2>${trigger.kind}${activity} ${trigger.item}</h2>`;
    return html`<section>${heading}${viewRun({ ...run, trigger }, operatorAccess, pageRequest)}</section>`;
  });
  const others = left.map(({ rule, why }) => html`<li>${nameOfRule(rule)}: ${why}</li>`);
  const files = broken.map(
    ({ source, problems }) => html`<h3>${source}</h3><pre tabindex="0">${problems.join('\n')}</pre>`,
  );
  const content = html`${simulateForm(asked, pageRequest)}
${ignored === undefined ? undefined : html`<p role="alert">${ignored}: its deliveries are ignored.</p>`}
${files.length > 0 ? html`<h2>Invalid files</h2>${files}` : undefined}
${planned}
${others.length > 0 ? html`<h2>Not planned</h2><ul>${others}</ul>` : undefined}`;
  return { title: `Simulation of ${asked.subject}`, content };
}

/** Shows why a subject could not be simulated. */
export function failedSimulationView(
  reason: string,
  asked: AskedSimulation,
  pageRequest: PageRequest,
): PageView {
  const content = html`${simulateForm(asked, pageRequest)}<p role="alert">${reason}</p>`;
  return { title: 'Not simulated', content };
}

function simulateForm({ kind, subject }: AskedSimulation, pageRequest: PageRequest): Html {
  const options = kinds.map((one) =>
    one === kind
      ? html`<option value="${one}" selected>${one} ${simulatedKinds[one]}</option>`
      : html`<option value="${one}">${one} ${simulatedKinds[one]}</option>`,
  );
  const fields = html`<label>Kind <select name="kind">${options}</select></label>
<label>Subject <input name="subject" value="${subject}" required autocomplete="off"></label> `;
  return html`<p>Plans what the rules in force would do with the subject as it is now. Nothing is written.</p>
${pageRequest.button('simulate', 'Simulate', fields)}`;
}
