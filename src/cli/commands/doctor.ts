import { messageOf, ReeveError } from '../../platform/errors.ts';
import { loadSettings, type Settings, secretValues, type Variables } from '../../server/settings/config.ts';
import { databaseChecks } from '../connection/checks/database-checks.ts';
import { type Check, type Examination, examine } from '../connection/checks/examination.ts';
import { forgeChecks } from '../connection/checks/forge-checks.ts';
import { hookChecks } from '../connection/checks/hook-checks.ts';
import { incidentChecks } from '../connection/checks/incident-checks.ts';
import { machineChecks } from '../connection/checks/machine-checks.ts';
import { createReport, type Report, wrong } from '../connection/finding.ts';
import { adviceOf } from '../connection/steps/steps.ts';
import { count, type Terminal } from '../output/terminal.ts';

type DoctorOptions = {
  readonly settings?: string;
  readonly thorough?: boolean;
  readonly test?: boolean;
  readonly json?: boolean;
};

/**
 * Checks everything that a connection needs and prints the problems. Returns the exit status: 0 without problems, 1
 * with problems, 2 for unreadable settings, 3 if the forge is unreachable.
 */
export async function doctor(
  options: DoctorOptions,
  environment: Variables,
  terminal: Terminal,
): Promise<number> {
  let secrets: readonly string[] = [];
  const report = createReport(terminal, { json: options.json ?? false, secrets: () => secrets });
  const settings = await readSettings(environment, report);
  let status = settings === undefined ? 2 : 0;
  if (settings !== undefined) {
    secrets = secretValues(settings);
    const test = options.test === false ? 'none' : options.thorough ? 'thorough' : 'repositories';
    const examination = examine({ environment, envFile: options.settings, settings, test });
    try {
      status = await runAll(checks, examination, report);
    } finally {
      await examination.close();
    }
  }
  const faults = report.entries.filter(({ state }) => state === 'wrong').length;
  const warnings = report.entries.filter(({ state }) => state === 'warning').length;
  if (options.json) terminal.out(JSON.stringify({ ok: faults === 0, checks: report.entries }));
  else if (faults === 0 && warnings === 0) terminal.out(terminal.style('green', 'Nothing is wrong.'));
  else if (faults === 0)
    terminal.out(terminal.style('yellow', `Nothing is wrong; ${count(warnings, 'warning')}.`));
  else terminal.out(terminal.style('red', `${count(faults, 'thing')} ${faults === 1 ? 'is' : 'are'} wrong.`));
  return status;
}

async function readSettings(environment: Variables, report: Report): Promise<Settings | undefined> {
  try {
    const settings = await loadSettings(environment);
    report.add('settings', { state: 'ok', text: 'the settings can be used' });
    return settings;
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    report.add(
      'settings',
      wrong(messageOf(error), 'correct these; docs/reference/settings.md explains each setting'),
    );
    return undefined;
  }
}

/** Runs checks in order and skips checks whose prerequisites failed. Returns the exit status. */
async function runAll(table: readonly Check[], examination: Examination, report: Report): Promise<number> {
  let status = 0;
  const blocked = new Set<string>();
  for (const check of table) {
    const before = check.after?.find((id) => blocked.has(id));
    if (before) {
      blocked.add(check.id);
      report.add(check.id, { state: 'skipped', text: `skipped: ${before} must pass first` });
      continue;
    }
    try {
      const finding = await check.run(examination);
      report.add(check.id, finding);
      if (finding.state !== 'wrong') continue;
      blocked.add(check.id);
      status ||= 1;
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error;
      blocked.add(check.id);
      report.add(check.id, wrong(messageOf(error), adviceOf(error)));
      // For scripts, an unreachable forge takes precedence over other failures.
      status = error.exit === 3 ? 3 : status || 1;
    }
  }
  return status;
}

/** All checks of `reeve doctor`, in order. A new check is a row in one of these tables. */
export const checks: readonly Check[] = [
  ...machineChecks,
  ...databaseChecks,
  ...forgeChecks,
  ...hookChecks,
  ...incidentChecks,
];
