import { ReeveError } from '../../platform/errors.ts';
import { userNamed } from '../access/redirects.ts';
import { refreshRepository } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import { endCreation } from '../core/journal.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { listBranchNames } from '../git/refs.ts';
import type { UnadoptedName } from '../git/unadopted.ts';
import { defineHandlers } from '../http/handler.ts';
import { assertRepositoryName, insertRepository, isTaken } from '../repositories/create.ts';

type Unadopted = {
  readonly owner: UserRow;
  readonly name: string;
  readonly folder: UnadoptedName;
};

/** Ends the request with 404 where there is no account, no such folder, or a repository of this name already. */
function findUnadopted(
  context: ForgeContext,
  { username, reponame }: { readonly username: string; readonly reponame: string },
): Unadopted {
  const owner = found(userNamed(context.db, username));
  const folder = { owner: owner.lower_name, name: reponame.toLowerCase() };
  if (isTaken(context, owner, reponame) || !context.git.unadopted.exists(folder))
    throw new ForgeProblem(404, 'not found');
  assertRepositoryName(reponame);
  return { owner, name: reponame, folder };
}

/** Makes the folder a private repository of its owner; hooks hear nothing of it, as on Gitea. */
async function adoptRepository(context: ForgeContext, unadopted: Unadopted, actor: UserRow): Promise<void> {
  const { db, git } = context;
  const { owner, name, folder } = unadopted;
  const row = db.transaction(() =>
    insertRepository(context, { owner, actor }, { name, private: true }, 'main'),
  );
  try {
    await git.adopt(folder, row.id);
    await readAdopted(context, row);
  } catch (error) {
    // A row without its folder would answer 500 for ever.
    db.run('DELETE FROM repositories WHERE id = ?', row.id);
    await git.remove(row.id);
    const isRefused = error instanceof ReeveError && /\bfsck\b/.test(error.message);
    throw isRefused
      ? new ForgeProblem(422, `objects of the repository are refused: ${error.message}`)
      : error;
  }
  endCreation(db, row.id);
  await git.unadopted.remove(folder);
}

async function readAdopted(context: ForgeContext, row: RepositoryRow): Promise<void> {
  const { db, git } = context;
  const opened = git.open(row.id);
  const { folder } = opened;
  const names = await listBranchNames(opened);
  const [head, format] = await Promise.all([
    opened.git.run(['symbolic-ref', '--short', 'HEAD'], { folder, expect: [0, 1, 128] }),
    opened.git.run(['rev-parse', '--show-object-format'], { folder }),
  ]);
  const wanted = [head.stdout.toString('utf8').trim(), 'main', 'master', ...names];
  const branch = wanted.find((name) => names.includes(name)) ?? 'main';
  await git.setDefaultBranch(row.id, branch);
  const object_format = format.stdout.toString('latin1').trim();
  const sql = 'UPDATE repositories SET default_branch = ?, object_format = ? WHERE id = ?';
  db.run(sql, branch, object_format, row.id);
  await refreshRepository(context, opened, { ...row, default_branch: branch }, []);
}

const maxPattern = 200;

/** Returns whether a name fits a pattern in which `*` stands for any text and `?` for one character. */
function fitsPattern(pattern: string, name: string): boolean {
  const text = pattern.slice(0, maxPattern).replace(/\*+/g, '*');
  const source = text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^]*')
    .replaceAll('?', '[^]');
  return new RegExp(`^${source}$`).test(name);
}

/** Handlers for repositories on disk that no row names. */
export const unadoptedHandlers = defineHandlers({
  async listUnadopted({ context, query, page, reply }) {
    const [owners = '', names] = (query.query ?? '').split('/');
    const all = await context.git.unadopted.list();
    const isUnknown = ({ owner, name }: UnadoptedName): boolean => {
      const account = userNamed(context.db, owner);
      return account !== undefined && !isTaken(context, account, name);
    };
    const matching = all.filter(
      (one) => fitsPattern(owners || '*', one.owner) && fitsPattern(names ?? '*', one.name) && isUnknown(one),
    );
    reply.total(matching.length);
    return matching.slice(page.offset, page.offset + page.limit).map(({ owner, name }) => `${owner}/${name}`);
  },

  async adoptUnadopted({ context, params, caller }) {
    await adoptRepository(context, findUnadopted(context, params), caller);
    return undefined;
  },

  async deleteUnadopted({ context, params }) {
    await context.git.unadopted.remove(findUnadopted(context, params).folder);
    return undefined;
  },
});
