import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that take at least fifteen seconds, the longest first. */
const longest = [
  'import/meaning',
  'flows/merge-queue',
  'work/merge-queue/embedded-histories',
  'server/dashboard/layout',
  'flows/budgets',
  'flows/shipped-plans',
  'flows/auto-merge',
  'store/crash',
  'cli/commands/doctor',
  'store/copy/copy',
  'flows/backport',
  'actions/laws',
  'engine/random-pairs',
  'documents/troubleshoot',
  'flows/missed-deliveries',
  'cli/commands/lost-store',
  'server/dashboard/browser',
  'work/merge-queue/ends',
  'flows/every-action',
  'flows/sweep-command',
  'cli/commands/shutdown',
  'flows/queue-kills',
  'cli/commands/setup',
  'store/postgres/faults',
  'flows/revoked-token',
  'flows/forged-identity',
  'flows/packs',
  'cli/commands/start',
  'flows/queue-crash',
  'flows/notify',
  'flows/shipped-sweep-plans',
  'cli/commands/store-copy',
  'flows/reference-examples',
  'forge/kill',
  'flows/labels',
  'language-server/session',
  'flows/sources',
  'server/receiver/socket',
  'flows/shipped-rules',
  'forge/pulls/protected-pushes',
  'flows/clock-changes',
  'flows/demo',
  'flows/sweep-plan',
  'package',
].map((name) => `test/${name}.test.ts`);

/**
 * Starts these files first, so that none of them is still running at the end while other workers are idle. The other
 * files follow, the largest first, as in Vitest by default.
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
