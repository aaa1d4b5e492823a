import { branch } from './branch.ts';
import { comment } from './comment.ts';
import type { Fact } from './fact.ts';
import { files } from './files.ts';
import { issue } from './issue.ts';
import { labelDefinitions } from './label-definitions.ts';
import { labels } from './labels.ts';
import { pullRequest } from './pull-request.ts';
import { repository } from './repository.ts';
import { repositoryId } from './repository-id.ts';

/** Every fact that a condition or an action may ask for, the live subject among them. */
export const facts: readonly Fact[] = [
  repository,
  repositoryId,
  pullRequest,
  issue,
  comment,
  branch,
  labels,
  labelDefinitions,
  files,
];

const byName = new Map(facts.map((fact) => [fact.name, fact]));

/** Returns the fact with this name, or undefined. */
export function findFact(name: string): Fact | undefined {
  return byName.get(name);
}
