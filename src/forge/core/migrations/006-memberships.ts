/**
 * Names that accounts had, who lets a membership be seen, repositories on their way to another owner, and programs that
 * people sign in to. Of secrets, codes and the like only the SHA-256 is kept.
 */
export const memberships = /* sql */ `
-- People and organizations share a table; lists are of one kind, by name.
CREATE INDEX users_type ON users (type, lower_name);

CREATE TABLE account_redirects (
  lower_name TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX account_redirects_user ON account_redirects (user_id);

CREATE TABLE public_memberships (
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (org_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX public_memberships_user ON public_memberships (user_id);
CREATE TRIGGER memberships_ended AFTER DELETE ON team_members BEGIN
  DELETE FROM public_memberships WHERE org_id = OLD.org_id AND user_id = OLD.user_id AND NOT EXISTS (
    SELECT 1 FROM team_members m WHERE m.org_id = OLD.org_id AND m.user_id = OLD.user_id);
END;

CREATE TABLE transfers (
  repo_id INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
  doer_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  recipient_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  team_ids TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX transfers_doer ON transfers (doer_id);
CREATE INDEX transfers_recipient ON transfers (recipient_id);

CREATE TABLE oauth2_applications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  secret_digest TEXT NOT NULL,
  is_confidential INTEGER NOT NULL DEFAULT 0,
  skip_secondary_authorization INTEGER NOT NULL DEFAULT 0,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth2_applications_user ON oauth2_applications (user_id, id);

CREATE TABLE oauth2_grants (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  application_id INTEGER NOT NULL REFERENCES oauth2_applications (id) ON DELETE CASCADE,
  scope TEXT NOT NULL,
  nonce TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, application_id)
) STRICT;
CREATE INDEX oauth2_grants_application ON oauth2_grants (application_id);

CREATE TABLE oauth2_codes (
  digest TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES oauth2_grants (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL DEFAULT '',
  challenge_method TEXT NOT NULL DEFAULT '',
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth2_codes_grant ON oauth2_codes (grant_id);
CREATE INDEX oauth2_codes_expiry ON oauth2_codes (expires_at);

CREATE TABLE signing_keys (
  name TEXT PRIMARY KEY,
  private_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
