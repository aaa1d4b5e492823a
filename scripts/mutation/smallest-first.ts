import { statSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Runs the small files of tests first: they test parts, take milliseconds, and notice most mutants. The first failure ends a run. */
export class SmallestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const size = (file: TestSpecification): number => statSync(file.moduleId).size;
    return files.toSorted((one, other) => size(one) - size(other));
  }
}
