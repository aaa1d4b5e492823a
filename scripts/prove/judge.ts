import type {
  DrillProof,
  DrillResult,
  Proof,
  ReliabilityPromise,
  Row,
  TestProof,
  Verdict,
} from './promise.ts';
import type { TestResult } from './reporter.ts';

/** What a proof has shown. */
export type Finding = { readonly verdict: Verdict; readonly figure: string };

export const isTestProof = (proof: Proof): proof is TestProof => 'file' in proof;
export const isDrillProof = (proof: Proof): proof is DrillProof => 'drill' in proof;

/**
 * Returns what tests have shown. Skipped tests prove nothing: a proof whose tests are all skipped is skipped with their reasons,
 * and one that no test belongs to is broken.
 */
export function judgeTests({ file, titled }: TestProof, tests: readonly TestResult[]): Finding {
  const own = tests.filter((test) => test.file === file && (titled?.test(test.name) ?? true));
  const failed = own.find(({ state }) => state === 'failed' || state === 'pending');
  if (failed !== undefined) return { verdict: 'broken', figure: `${failed.name}: ${failed.note}` };
  const passed = own.filter(({ state }) => state === 'passed');
  if (passed.length > 0) {
    const figures = [...new Set(passed.flatMap(({ figure }) => figure ?? []))];
    return { verdict: 'ok', figure: figures.join('; ') || countOf(passed.length) };
  }
  if (own.length === 0)
    return { verdict: 'broken', figure: `no test of ${file} ran${titled ? ` that matches ${titled}` : ''}` };
  const reasons = [...new Set(own.map(({ note }) => note || 'the test is skipped on this machine'))];
  return { verdict: 'skipped', figure: reasons.join('; ') };
}

export function judgeDrill(result: DrillResult): Finding {
  if ('skipped' in result) return { verdict: 'skipped', figure: result.skipped };
  return { verdict: result.isKept ? 'ok' : 'broken', figure: result.figure };
}

/** Returns the row of a promise: broken when a proof is, skipped when one is, with what the others have shown. */
export function rowOf(
  { id, promise, target }: ReliabilityPromise,
  findings: readonly Finding[],
  isQuick: boolean,
): Row {
  const worst = (['broken', 'skipped', 'ok'] as const).find((each) =>
    findings.some(({ verdict }) => verdict === each),
  );
  const figures = merged(findings).map(({ verdict, figure }) =>
    verdict === 'ok' ? figure : `${verdict}: ${figure}`,
  );
  return {
    id,
    promise,
    target: isQuick ? target.quick : target.full,
    figure: figures.join('; '),
    verdict: worst ?? 'broken',
  };
}

const countOf = (count: number): string => (count === 1 ? '1 test passed' : `${count} tests passed`);

/** Counts of tests without a figure of their own are added up. */
function merged(findings: readonly Finding[]): readonly Finding[] {
  const counts = findings.map(({ verdict, figure }) =>
    verdict === 'ok' ? Number(/^(\d+) tests? passed$/.exec(figure)?.[1] ?? 0) : 0,
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  const others = findings.filter((_, index) => counts[index] === 0);
  return total === 0 ? others : [...others, { verdict: 'ok', figure: countOf(total) }];
}
