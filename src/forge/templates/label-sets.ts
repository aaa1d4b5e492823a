import { ForgeProblem } from '../core/errors.ts';

/** A label as a set describes it; the colour is six hex digits. */
type LabelTemplate = {
  readonly name: string;
  readonly exclusive: boolean;
  readonly color: string;
  readonly description: string;
};

const independent = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  exclusive: false,
  color,
  description,
});

/** Of labels of one scope (the part before the last slash), an issue has at most one. */
const scoped = (name: string, color: string, description: string): LabelTemplate => ({
  ...independent(name, color, description),
  exclusive: true,
});

/** Labels that a new repository may start with, by the name that `issue_labels` takes. */
const sets: Readonly<Record<string, readonly LabelTemplate[]>> = {
  Advanced: [
    scoped('kind/bug', 'd73a4a', 'Does not work as documented'),
    scoped('kind/documentation', '0e6ba8', 'About the documentation alone'),
    scoped('kind/feature', '1c7c3a', 'Adds what does not exist yet'),
    scoped('kind/question', '7057ff', 'Asks how something works'),
    scoped('kind/security', '8b1a8b', 'About a weakness, or the defence against one'),
    scoped('priority/urgent', 'b60205', 'Before everything else'),
    scoped('priority/high', 'd95f0e', 'Before the next release'),
    scoped('priority/normal', 'e0a800', 'Planned'),
    scoped('priority/low', '4c9a52', 'When there is time'),
    scoped('status/blocked', '9b2226', 'Waits for something else'),
    scoped('status/duplicate', '8a8f98', 'Another issue says the same'),
    scoped('status/needs information', '57606a', 'Waits for an answer of its author'),
    scoped('status/ready', '2f9e8f', 'Can be worked on'),
    scoped('status/rejected', '33383d', 'Stays as it is'),
    independent('breaking', 'c2185b', 'Users have to change something'),
  ],
  Default: [
    independent('bug', 'ee0701', 'Something is not working'),
    independent('duplicate', 'cccccc', 'This issue or pull request already exists'),
    independent('enhancement', '84b6eb', 'New feature'),
    independent('help wanted', '128a0c', 'Need some help'),
    independent('invalid', 'e6e6e6', 'Something is wrong'),
    independent('question', 'cc317c', 'More information is needed'),
    independent('wontfix', 'ffffff', "This won't be fixed"),
  ],
};

export const labelSetNames: readonly string[] = Object.keys(sets);

/** Returns the labels of a set, or undefined for a name that is none. */
export function findLabelSet(name: string): readonly LabelTemplate[] | undefined {
  return Object.hasOwn(sets, name) ? sets[name] : undefined;
}

/** Returns the labels of a set; no name gives none, an unknown one ends the request with 422. */
export function labelSet(name: string | undefined): readonly LabelTemplate[] {
  if (name === undefined || name === '') return [];
  const labels = findLabelSet(name);
  if (!labels) throw new ForgeProblem(422, `template "${name}" is not a set of labels`);
  return labels;
}
