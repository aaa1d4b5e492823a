import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { ways } from './ways.ts';
import { indexParams, organizationParams, repositoryParams } from './where.ts';

/** The current labels of the issue or pull request. */
export const labels = defineFact({
  name: 'labels',
  meaning: 'The current labels of the issue or pull request. In a facts file, names are enough.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Label),
  of: ['issue', 'pull_request', 'notification'],
  changes: [ways.labels, ways.labelEdited],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  within: ['pull_request', 'issue'],
  example: 'labels.exists(l, l.name == "security")',
  complete: completeLabels,
  ask: ({ client, subject }) => client.call(operations.listIssueLabels, { params: indexParams(subject) }),
});

/** Creates labels from names, for facts files and rule tests; ids are numbered. */
export function completeLabels(written: unknown): unknown {
  if (!Array.isArray(written)) return written;
  return written.map((label, place) => (typeof label === 'string' ? { id: place + 1, name: label } : label));
}

/** The labels that the repository (or the organization, if it is the subject) defines itself. */
export const ownLabels = defineFact({
  name: 'own_labels',
  meaning:
    'The labels that the repository defines itself, without those of its organization; for an organization, its own. Never cached. In a facts file, names are enough.',
  shows: 'repository',
  visibleTo: 'repository',
  shape: list(Label),
  of: ['repository', 'organization'],
  needs: { access: 'reader', scopes: ['issue', 'organization'] },
  requests: 1,
  example: 'own_labels.all(l, l.description != "")',
  complete: completeLabels,
  async ask({ client, subject }) {
    const found: Label[] = [];
    const pages =
      subject.kind === 'organization'
        ? client.items(operations.listOrganizationLabels, { params: organizationParams(subject) })
        : client.items(operations.listLabels, { params: repositoryParams(subject) });
    for await (const label of pages) found.push(label);
    return found;
  },
});
