import type { Finding } from '../finding.ts';
import type { Examination } from './examination.ts';

/** A check of the doctor. The reference page is generated from the table of checks. */
export type Check = {
  readonly id: string;
  /** What the check examines. */
  readonly looks: string;
  /** When the check fails. */
  readonly fails: string;
  readonly remedy: string;
  /** Checks that this one depends on: it is skipped unless all of them pass. */
  readonly after?: readonly string[];
  readonly run: (examination: Examination) => Promise<Finding>;
};
