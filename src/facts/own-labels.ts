import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { completeLabels } from './labels.ts';
import { organizationParams, repositoryParams } from './where.ts';

/** The labels that the repository, or the organization if that is the subject, defines itself. */
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
