import type { Check } from './check.ts';
import { databaseChecks } from './database-checks.ts';
import { forgeChecks } from './forge-checks.ts';
import { hookChecks } from './hook-checks.ts';
import { incidentChecks } from './incident-checks.ts';
import { machineChecks } from './machine-checks.ts';

/** All checks of `reeve doctor`, in order. A new check is a row in one of these tables. */
export const checks: readonly Check[] = [
  ...machineChecks,
  ...databaseChecks,
  ...forgeChecks,
  ...hookChecks,
  ...incidentChecks,
];
