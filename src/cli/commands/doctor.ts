import { messageOf, ReeveError } from '../../platform/errors.ts';
import { loadSettings, type Settings, secretValues, type Variables } from '../../server/settings/config.ts';
import { databaseChecks } from '../connection/checks/database-checks.ts';
import { type Check, type Examination, examine } from '../connection/checks/examination.ts';
import { forgeChecks } from '../connection/checks/forge-checks.ts';
import { hookChecks } from '../connection/checks/hook-checks.ts';
import { incidentChecks } from '../connection/checks/incident-checks.ts';
import { machineChecks } from '../connection/checks/machine-checks.ts';
import { createReport, printEntry, type Report, type ReportEntry, wrong } from '../connection/finding.ts';
import { adviceOf } from '../connection/steps/steps.ts';
import type { ProgressStream } from '../output/progress-line.ts';
import { count, type Terminal } from '../output/terminal.ts';

type DoctorOptions = {
  readonly settings?: string;
  readonly thorough?: boolean;
  readonly test?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
};

/**
 * Checks everything that a connection needs and prints the problems first; the checks that passed are counted, or
 * listed with `all`. Returns the exit status: 0 without problems, 1 with problems, 2 for unreadable settings, 3 if the
 * forge is unreachable.
 */
export async function doctor(
  options: DoctorOptions,
  environment: Variables,
  terminal: Terminal,
  stream: ProgressStream = process.stderr,
): Promise<number> {
  let secrets: readonly string[] = [];
  const report = createReport(terminal, { isSilent: true, secrets: () => secrets });
  const settings = await readSettings(environment, report);
  let status = settings === undefined ? 2 : 0;
  if (settings !== undefined) {
    secrets = secretValues(settings);
    const test = options.test === false ? 'none' : options.thorough ? 'thorough' : 'repositories';
    const examination = examine({ environment, envFile: options.settings, settings, test });
    try {
      status = await runAll(checks, examination, report, stream);
    } finally {
      if (stream.isTTY) stream.write('\r\u001b[2K');
      await examination.close();
    }
  }
  if (!options.json) printReport(report.entries, options.all ?? false, terminal);
  const faults = report.entries.filter(({ state }) => state === 'wrong').length;
  const warnings = report.entries.filter(({ state }) => state === 'warning').length;
  if (options.json) terminal.out(JSON.stringify({ ok: faults === 0, checks: report.entries }));
  else if (faults === 0 && warnings === 0) terminal.out(terminal.style('green', 'Nothing is wrong.'));
  else if (faults === 0)
    terminal.out(terminal.style('yellow', `Nothing is wrong; ${count(warnings, 'warning')}.`));
  else terminal.out(terminal.style('red', `${count(faults, 'thing')} ${faults === 1 ? 'is' : 'are'} wrong.`));
  return status;
}

/** Checks whose results are printed even without a problem, because they say what is connected. */
const essential: ReadonlySet<string> = new Set(['rules', 'forge', 'token', 'own-events', 'served']);
/** Checks that are printed without a problem if they apply. */
const essentialIfUsed: ReadonlySet<string> = new Set(['polling']);
/** Beginning of the text of a check whose prerequisite failed. */
const blockedWords = 'skipped: ';

/**
 * Prints errors, then warnings, then what is connected. The other checks are counted, and skipped ones named, unless
 * `all` is set.
 */
function printReport(entries: readonly ReportEntry[], all: boolean, terminal: Terminal): void {
  const of = (state: ReportEntry['state']) => entries.filter((entry) => entry.state === state);
  const problems = [...of('wrong'), ...of('warning')];
  const others = entries.filter((entry) => !problems.includes(entry));
  const shown = all
    ? others
    : others.filter(
        ({ id, state, text }) =>
          (essential.has(id) && !text.startsWith(blockedWords)) ||
          (essentialIfUsed.has(id) && state === 'ok'),
      );
  for (const entry of problems) printEntry(entry, terminal);
  if (problems.length > 0 && others.length > 0) terminal.out('');
  for (const entry of shown) printEntry(entry, terminal);
  if (all) return;
  const hidden = others.filter((entry) => !shown.includes(entry));
  const skipped = hidden.filter(({ state }) => state === 'skipped').map(({ id }) => id);
  const passed = hidden.length - skipped.length;
  if (passed > 0)
    terminal.out(
      `${terminal.style('green', '✓')} ${count(passed, shown.length > 0 ? 'other check' : 'check')} passed`,
    );
  if (skipped.length > 0) terminal.out(terminal.style('dim', `– not checked: ${skipped.join(', ')}`));
  if (hidden.length > 0) terminal.out(terminal.style('dim', '--all lists them'));
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
async function runAll(
  table: readonly Check[],
  examination: Examination,
  report: Report,
  stream: ProgressStream,
): Promise<number> {
  let status = 0;
  const blocked = new Set<string>();
  for (const [index, check] of table.entries()) {
    // Nothing is printed before all checks have run, and a test delivery takes seconds.
    if (stream.isTTY) stream.write(`\r\u001b[2Kcheck ${index + 1} of ${table.length}: ${check.id}`);
    const before = check.after?.find((id) => blocked.has(id));
    if (before) {
      blocked.add(check.id);
      report.add(check.id, { state: 'skipped', text: `${blockedWords}${before} must pass first` });
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
