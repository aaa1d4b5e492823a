import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { permissionOf, readableCondition } from '../../../../src/forge/platform/access/permissions.ts';
import { type Database, openDatabase } from '../../../../src/forge/platform/database.ts';
import type { RepositoryRow, UserRow } from '../../../../src/forge/platform/rows.ts';

let db: Database;
beforeEach(() => {
  db = openDatabase(':memory:');
});
afterEach(() => db.close());

function addUser(name: string, members: Record<string, string | number> = {}): UserRow {
  const row = { name, lower_name: name, created_at: 0, updated_at: 0, ...members };
  const columns = Object.keys(row);
  const { lastId } = db.run(
    `INSERT INTO users (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...Object.values(row),
  );
  return db.get<UserRow>('SELECT * FROM users WHERE id = ?', lastId) as UserRow;
}

function addRepository(owner: UserRow, isPrivate: boolean): RepositoryRow {
  const { lastId } = db.run(
    `INSERT INTO repositories (owner_id, name, lower_name, is_private, created_at, updated_at) VALUES (?, ?, ?, ?, 0, 0)`,
    owner.id,
    `r${isPrivate}`,
    `r${isPrivate}`,
    isPrivate,
  );
  return db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', lastId) as RepositoryRow;
}

function addTeam(organization: UserRow, member: UserRow, permission: string, all: boolean): number {
  const { lastId } = db.run(
    `INSERT INTO teams (org_id, name, lower_name, permission, includes_all_repositories) VALUES (?, ?, ?, ?, ?)`,
    organization.id,
    permission,
    permission,
    permission,
    all,
  );
  db.run(
    'INSERT INTO team_members (team_id, user_id, org_id) VALUES (?, ?, ?)',
    lastId,
    member.id,
    organization.id,
  );
  return lastId;
}

/**
 * Returns whether the list of readable repositories contains this repository. The list must agree with the permission
 * of the single repository.
 */
function isListed(repository: RepositoryRow, caller: UserRow | undefined): boolean {
  const { sql, values } = readableCondition(caller);
  const query = `SELECT 1 AS one FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.id = ? AND ${sql}`;
  return db.get(query, repository.id, ...values) !== undefined;
}

describe('the permission of an account', () => {
  it.each([
    ['public', false, 'read', 'read', 'read'],
    ['limited', false, 'none', 'read', 'none'],
    ['private', false, 'none', 'none', 'none'],
    ['public', true, 'none', 'none', 'none'],
  ])(
    'on a repository of a %s owner (private: %s) is %s for an anonymous caller, %s for a stranger and %s for a restricted account',
    (visibility, isPrivate, anonymous, stranger, restricted) => {
      const owner = addUser('acme', { type: 'organization', visibility });
      const repository = addRepository(owner, isPrivate);
      const callers = [undefined, addUser('ada'), addUser('eve', { is_restricted: 1 })];

      const held = callers.map((caller) => permissionOf(db, caller, repository, owner));

      expect(held).toEqual([anonymous, stranger, restricted]);
      expect(callers.map((caller) => isListed(repository, caller))).toEqual(
        held.map((one) => one !== 'none'),
      );
    },
  );

  it.each(['read', 'write', 'admin', 'owner'])('is %s through a team for all repositories', (permission) => {
    const owner = addUser('acme', { type: 'organization', visibility: 'private' });
    const repository = addRepository(owner, true);
    const ada = addUser('ada');
    addTeam(owner, ada, permission, true);

    // A member of an administrator team counts as an owner, as in Gitea.
    const held = permission === 'admin' ? 'owner' : permission;
    expect(permissionOf(db, ada, repository, owner)).toBe(held);
    expect(isListed(repository, ada)).toBe(true);
  });

  it("is that of a team for the team's repositories, but not for other repositories", () => {
    const owner = addUser('acme', { type: 'organization', visibility: 'private' });
    const ada = addUser('ada');
    const [own, other] = [addRepository(owner, true), addRepository(owner, false)];
    const team = addTeam(owner, ada, 'write', false);
    db.run('INSERT INTO team_repositories (team_id, repo_id) VALUES (?, ?)', team, own.id);

    expect(permissionOf(db, ada, own, owner)).toBe('write');
    // A member can see the organization, and therefore its public repositories.
    expect(permissionOf(db, ada, other, owner)).toBe('read');
  });

  it('is the higher one of team and collaboration', () => {
    const owner = addUser('acme', { type: 'organization' });
    const ada = addUser('ada');
    const repository = addRepository(owner, true);
    addTeam(owner, ada, 'read', true);
    db.run(
      `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, 'admin', 0)`,
      repository.id,
      ada.id,
    );

    expect(permissionOf(db, ada, repository, owner)).toBe('admin');
  });

  it('is that of an owner for the owner and for site administrators', () => {
    const ada = addUser('ada');
    const root = addUser('root', { is_admin: 1 });
    const repository = addRepository(ada, true);

    expect([ada, root].map((user) => permissionOf(db, user, repository, ada))).toEqual(['owner', 'owner']);
  });
});
