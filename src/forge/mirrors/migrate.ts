import { messageOf, ReeveError } from '../../platform/errors.ts';
import { isOrganizationOwner } from '../access/permissions.ts';
import { userNamed } from '../access/redirects.ts';
import { refreshRepository } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { formatGoDuration, parseGoDuration } from '../core/time.ts';
import { listRefs } from '../git/refs.ts';
import { defineHandlers } from '../http/handler.ts';
import { createRepository } from '../repositories/create.ts';
import { toRepository } from '../views/repository.ts';
import { storeMirror } from './pull-mirrors.ts';
import { minIntervalSeconds } from './push-mirrors.ts';
import { parseRemote, type Remote, RemoteAddressError, resolveRemote } from './remote-address.ts';
import { fetchRemote, readRemoteHead } from './remote-git.ts';

const defaultIntervalSeconds = 8 * 3600;

type MigrationCall = { readonly context: ForgeContext; readonly caller: UserRow };

function findHolder({ context, caller }: MigrationCall, name: string, id: number): UserRow {
  const { db } = context;
  const holder = name
    ? userNamed(db, name)
    : id
      ? db.get<UserRow>('SELECT * FROM users WHERE id = ? AND id > 0', id)
      : caller;
  if (!holder) throw new ForgeProblem(422, `user does not exist [uid: ${id}, name: ${name}]`);
  if (caller.is_admin || holder.id === caller.id) return holder;
  if (holder.type !== 'organization') throw new ForgeProblem(403, 'Given user is not an organization.');
  if (isOrganizationOwner(db, holder, caller)) return holder;
  throw new ForgeProblem(403, 'Given user is not owner of organization.');
}

async function findSource(
  context: ForgeContext,
  address: string,
  login: Omit<Remote, 'address'>,
): Promise<Remote> {
  try {
    const remote = parseRemote(address, login.username, login.password);
    await resolveRemote(context, remote);
    return remote;
  } catch (error) {
    if (!(error instanceof RemoteAddressError)) throw error;
    const messages = {
      url: 'The provided URL is invalid.',
      protocol: 'The provided URL is invalid.',
      local: 'You are not allowed to import local repositories.',
      host: 'You can not import from disallowed hosts.',
    };
    throw new ForgeProblem(422, messages[error.mistake]);
  }
}

/** Gitea answers 500 for an interval that is none, or too short. */
function readInterval(text: string): number {
  const interval = text === '' ? defaultIntervalSeconds : parseGoDuration(text);
  if (interval === undefined || (interval !== 0 && interval < minIntervalSeconds))
    throw new ForgeProblem(
      422,
      `interval ${text} is set below Minimum Interval of ${formatGoDuration(minIntervalSeconds)}`,
    );
  return interval;
}

/** Fills a new repository from a remote, whose HEAD names the default branch. */
async function fillFrom(context: ForgeContext, repository: RepositoryRow, remote: Remote): Promise<void> {
  const git = context.git.open(repository.id);
  const place = { context, git, remote };
  try {
    await fetchRemote(place);
    const head = await readRemoteHead(place);
    const branches = await listRefs(git, ['refs/heads']);
    const names = branches.map(({ name }) => name.slice('refs/heads/'.length));
    const branch = names.find((name) => name === head) ?? names[0];
    if (branch !== undefined) await context.git.setDefaultBranch(repository.id, branch);
    context.db.run(
      'UPDATE repositories SET default_branch = ?, original_url = ? WHERE id = ?',
      branch ?? repository.default_branch,
      remote.address,
      repository.id,
    );
    await refreshRepository(
      context,
      git,
      { ...repository, default_branch: branch ?? repository.default_branch },
      [],
    );
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    const isLogin = /Authentication failed|could not read Username/.test(error.message);
    throw new ForgeProblem(422, `${isLogin ? 'Authentication' : 'Migration'} failed: ${messageOf(error)}`);
  }
}

/** Repositories that are copied from another server, once or again and again. */
export const migrateHandlers = defineHandlers({
  async migrateRepository({ context, caller, body }) {
    const holder = findHolder({ context, caller }, body.repo_owner ?? '', body.uid ?? 0);
    const login = { username: body.auth_username ?? '', password: body.auth_password ?? '' };
    const remote = await findSource(context, body.clone_addr, login);
    if (body.service && body.service !== 'git')
      throw new ForgeProblem(422, `the service ${body.service} is not supported: use git`);
    const interval = body.mirror ? readInterval(body.mirror_interval ?? '') : 0;
    const wanted = { name: body.repo_name, description: body.description, private: body.private };
    const { id } = await createRepository(context, holder, caller, wanted, async (repository) => {
      await fillFrom(context, repository, remote);
      if (body.mirror) context.db.transaction(() => storeMirror(context, repository.id, remote, interval));
    });
    const made = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', id);
    if (!made) throw new ForgeProblem(404, 'the repository was removed meanwhile');
    return toRepository(context, made, { owner: holder, viewer: caller, permission: 'admin' });
  },
});
