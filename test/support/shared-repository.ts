import type { Account, Answer, ContractForge } from './contract-forge.ts';

export const roles = ['owner', 'writer', 'reader', 'stranger', 'anonymous'] as const;
export type Role = (typeof roles)[number];

/** Private repository with an account for every role. */
export interface SharedRepository {
  /** Full name, as `owner/name`. */
  readonly fullName: string;
  readonly owner: Account;
  readonly writer: Account;
  readonly reader: Account;
  readonly stranger: Account;
  /** Sends a request below the repository's path, by default as the owner. */
  ask(method: string, path: string, options?: { body?: unknown; as?: Role | Account }): Promise<Answer>;
  /** Returns the status for each role, in the order of `roles`. */
  statuses(method: string, path: string, body?: unknown): Promise<number[]>;
}

/** Creates a private repository with an owner, a writer, a reader and a stranger. */
export async function makeSharedRepository(
  forge: ContractForge,
  options: Record<string, unknown> = {},
): Promise<SharedRepository> {
  const [owner, writer, reader, stranger] = await Promise.all([
    forge.makeUser(),
    forge.makeUser(),
    forge.makeUser(),
    forge.makeUser(),
  ]);
  const repository = await forge.makeRepository(owner, { private: true, ...options });
  await forge.share(repository, owner, { with: writer, permission: 'write' });
  await forge.share(repository, owner, { with: reader, permission: 'read' });
  const people = { owner, writer, reader, stranger, anonymous: undefined };
  const shared: SharedRepository = {
    fullName: repository,
    owner,
    writer,
    reader,
    stranger,
    ask(method, path, { body, as = 'owner' } = {}) {
      const account = typeof as === 'string' ? people[as] : as;
      return forge.ask(method, `/repos/${repository}${path}`, { as: account, body });
    },
    async statuses(method, path, body) {
      const found: number[] = [];
      for (const as of roles) found.push((await shared.ask(method, path, { body, as })).status);
      return found;
    },
  };
  return shared;
}

/**
 * Repeats a request until the condition holds, because a real forge does some work after it has responded. Returns the
 * last response.
 */
export async function waitFor<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + 240_000;
  let answer = await ask();
  while (!holds(answer) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer = await ask();
  }
  return answer;
}
