import type { Finding } from '../finding.ts';
import type { Examination } from './examination.ts';

/** One thing that the doctor looks at. The reference page is made from the table of them. */
export type Check = {
  readonly id: string;
  readonly looks: string;
  /** When it is wrong. */
  readonly fails: string;
  /** What to do then. */
  readonly remedy: string;
  /** Checks without which this one cannot say anything: it is passed over unless they are all right. */
  readonly after?: readonly string[];
  readonly run: (examination: Examination) => Promise<Finding>;
};
