import { z } from 'zod';
import type { RepositoryRef } from '../contract/events/subject.ts';
import type { MemoryRows } from '../store/store.ts';

/**
 * A temporary repository whose events test a hook. `id` is absent until the forge has created the repository, and
 * `isGone` is set once it is deleted.
 */
const TestRepository = z.object({
  name: z.string(),
  id: z.number().optional(),
  isGone: z.boolean().optional(),
});
export type TestRepository = z.output<typeof TestRepository>;

/** Names of test repositories begin like this, so that events of others cost no query. */
export const testRepositoryPrefix = 'reeve-try-';

const key = 'setup test repositories';
/** Number of test repositories that are remembered: deliveries about them may wait until Reeve starts. */
const maxRemembered = 50;

/** Stores a test repository, or what is new about it. Done before it is created: its first event may arrive at once. */
export async function rememberTestRepository(store: MemoryRows, one: TestRepository): Promise<void> {
  await store.revise(key, (value) =>
    [one, ...parse(value).filter(({ name }) => name !== one.name)].slice(0, maxRemembered),
  );
}

/** Returns the test repositories, newest first. */
export async function recallTestRepositories(store: MemoryRows): Promise<readonly TestRepository[]> {
  return parse(await store.recall(key));
}

function parse(value: unknown): readonly TestRepository[] {
  const parsed = z.array(TestRepository).safeParse(value);
  return parsed.success ? parsed.data : [];
}

/**
 * Returns whether a repository is a test repository of this installation. Its name alone is not enough, because anyone
 * may create a repository with such a name, and its events would start no rules.
 */
export async function isTestRepository(
  store: MemoryRows,
  { id, owner, name }: RepositoryRef,
): Promise<boolean> {
  if (!name.startsWith(testRepositoryPrefix)) return false;
  const known = (await recallTestRepositories(store)).find((one) => one.name === `${owner}/${name}`);
  return known !== undefined && (known.id === undefined || known.id === id);
}
