import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Time that each file of tests took in the first run, which has no mutant. */
const firstMs = new Map<string, number>();
let files: readonly TestSpecification[] = [];

/** Runs the fast files of tests first: they test parts, and notice most mutants. The first failure ends a run. */
export class FastestFirst extends BaseSequencer {
  override async sort(given: TestSpecification[]): Promise<TestSpecification[]> {
    if (files.length === 0) {
      files = given;
      return given;
    }
    if (firstMs.size === 0) {
      for (const file of files)
        firstMs.set(file.moduleId, this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0);
    }
    const timeOf = ({ moduleId }: TestSpecification): number => firstMs.get(moduleId) ?? 0;
    return given.toSorted((one, other) => timeOf(one) - timeOf(other));
  }
}
