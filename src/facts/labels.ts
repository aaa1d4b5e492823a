import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { atIndex } from './where.ts';

/** The labels that the issue or pull request carries now. */
export const labels = defineFact({
  name: 'labels',
  meaning: 'The labels that the issue or pull request carries now. A facts file may give names alone.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Label),
  of: ['issue', 'pull_request', 'notification'],
  requests: 1,
  within: ['pull_request', 'issue'],
  example: 'labels.exists(l, l.name == "security")',
  complete: completeLabels,
  ask: ({ client, subject }) => client.call(operations.listIssueLabels, { params: atIndex(subject) }),
});

/** Makes labels of names, for facts files and rule tests; ids are counted, since names decide there. */
export function completeLabels(written: unknown): unknown {
  if (!Array.isArray(written)) return written;
  return written.map((label, place) => (typeof label === 'string' ? { id: place + 1, name: label } : label));
}
