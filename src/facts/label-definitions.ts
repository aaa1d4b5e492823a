import type { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import { list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact } from './fact.ts';
import { completeLabels } from './labels.ts';
import { ways } from './ways.ts';
import { repositoryOf, repositoryParams } from './where.ts';

/**
 * A label that is available in the repository; `level` is `repository` or `organization`, depending on where the label
 * is defined.
 */
export const LabelDefinition = Label.extend({ level: text });
export type LabelDefinition = z.output<typeof LabelDefinition>;

/** All labels available in the repository: first its own, then those of the organization. */
export const labelDefinitions = defineFact({
  name: 'label_definitions',
  meaning:
    'All labels that are available in the repository: its own (`level` repository), then its organization’s (`level` organization). Cached until a label is created or a label does not match.',
  shows: 'repository',
  visibleTo: 'repository',
  shape: list(LabelDefinition),
  of: ['repository', 'issue', 'pull_request', 'branch'],
  changes: [ways.labelEdited],
  needs: { access: 'reader', scopes: ['issue', 'organization'] },
  requests: 2,
  example: 'label_definitions.exists(l, l.name == "triage")',
  complete: (written) => {
    const completed = completeLabels(written);
    return Array.isArray(completed)
      ? completed.map((label) => ({ level: 'repository', ...label }))
      : completed;
  },
  async ask(context) {
    const key = `${repositoryOf(context.subject).id}/label_definitions`;
    const remembered = context.anew ? undefined : context.memory.get(key);
    // The cast is safe: only the code below sets this key.
    if (remembered !== undefined) {
      context.noteAge(context.memory.ageMs(key));
      return remembered as LabelDefinition[];
    }
    const [own, shared] = await Promise.all([ownLabels(context), sharedLabels(context)]);
    const definitions = [...own, ...shared];
    context.memory.set(key, definitions);
    return definitions;
  },
});

async function ownLabels({ client, subject }: AskContext): Promise<LabelDefinition[]> {
  const found: LabelDefinition[] = [];
  for await (const label of client.items(operations.listLabels, { params: repositoryParams(subject) })) {
    found.push({ ...label, level: 'repository' });
  }
  return found;
}

async function sharedLabels({ client, subject, memory }: AskContext): Promise<LabelDefinition[]> {
  const found: LabelDefinition[] = [];
  const { owner } = repositoryParams(subject);
  // Users have no shared labels. The cache entry applies to all repositories of the owner.
  const key = `owner/${owner.toLowerCase()}/is-user`;
  if (memory.get(key) === true) return found;
  try {
    for await (const label of client.items(operations.listOrganizationLabels, { params: { org: owner } })) {
      found.push({ ...label, level: 'organization' });
    }
  } catch (error) {
    // 404: the owner is a user. 403: the token has no permission to read organizations; `set-labels` then reports
    // missing labels.
    const absent =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'forge-forbidden');
    if (!absent) throw error;
    if (error.code === 'forge-not-found') memory.set(key, true);
  }
  return found;
}
