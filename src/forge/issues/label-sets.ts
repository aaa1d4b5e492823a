import { ForgeProblem } from '../core/errors.ts';
import type { NewLabel } from './labels.ts';

/** Labels that a new repository may start with, by the name that `issue_labels` takes. */
const sets: Readonly<Record<string, readonly NewLabel[]>> = {
  Default: [
    { name: 'bug', color: 'ee0701', description: 'Something is not working' },
    { name: 'duplicate', color: 'cccccc', description: 'This issue or pull request already exists' },
    { name: 'enhancement', color: '84b6eb', description: 'New feature' },
    { name: 'help wanted', color: '128a0c', description: 'Need some help' },
    { name: 'invalid', color: 'e6e6e6', description: 'Something is wrong' },
    { name: 'question', color: 'cc317c', description: 'More information is needed' },
    { name: 'wontfix', color: 'ffffff', description: "This won't be fixed" },
  ],
};

/** Returns the labels of a set; no name gives none, an unknown one ends the request with 422. */
export function labelSet(name: string | undefined): readonly NewLabel[] {
  if (name === undefined || name === '') return [];
  const labels = Object.hasOwn(sets, name) ? sets[name] : undefined;
  if (!labels) throw new ForgeProblem(422, `template "${name}" is not a set of labels`);
  return labels;
}
