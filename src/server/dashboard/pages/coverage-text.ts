import type { TestCoverage } from '../data.ts';

/** Returns the steps that rule tests reach, as a few words: `2 of 3 steps`. */
export function coverageText(coverage: TestCoverage | undefined): string {
  if (coverage?.state !== 'known') return coverage?.state === 'no-tests' ? 'no tests' : 'not known';
  const { steps } = coverage;
  const reached = steps.filter(({ isReached }) => isReached).length;
  return `${reached} of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
}
