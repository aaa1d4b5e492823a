import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a quarter of a minute and more, the longest first. */
const longest = [
  'flows/shipped-plans',
  'commands/doctor',
  'flows/every-action',
  'queue/embedded-histories',
  'flows/merge-queue',
  'flows/missed-deliveries',
  'flows/auto-merge',
  'dashboard/browser',
  'engine/random-pairs',
  'package',
  'flows/budgets',
  'commands/lost-store',
  'actions/laws',
  'commands/shutdown',
  'flows/backport',
  'flows/queue-kills',
  'flows/queue-crash',
  'flows/labels',
  'flows/demo',
  'flows/shipped-rules',
  'flows/notify',
  'flows/forged-identity',
  'flows/faults',
  'flows/sources',
  'forge/smart-http/push-limits',
  'commands/setup',
  'commands/start',
  'ci/action',
  'store/postgres/contract',
  'twins',
  'flows/clock-changes',
  'flows/outages',
  'forge/authorization-probes',
  'flows/reference-examples',
  'forge/kill',
].map((name) => `test/${name}.test.ts`);

/**
 * Starts these files first, so that none of them runs on at the end beside idle workers; then the others as Vitest would,
 * the largest first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const missing = longest.filter((path) => !existsSync(join(root, path)));
    if (missing.length > 0) throw new Error(`test/support/longest-first.ts names ${missing.join(', ')}`);
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.indexOf(relative(root, moduleId));
      return place === -1 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
