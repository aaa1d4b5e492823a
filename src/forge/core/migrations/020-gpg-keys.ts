/**
 * Keys of OpenPGP with their subkeys, and badges. `emails` is a JSON list of the addresses that belonged to the account when the key was
 * added; `content` the packet of the key in base64. `is_signer` tells whether signatures of commits are verified with the key.
 */
export const gpgKeys = /* sql */ `
CREATE TABLE gpg_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  primary_id INTEGER REFERENCES gpg_keys (id) ON DELETE CASCADE,
  key_id TEXT NOT NULL,
  content TEXT NOT NULL,
  emails TEXT NOT NULL DEFAULT '[]',
  can_sign INTEGER NOT NULL,
  can_encrypt INTEGER NOT NULL,
  is_signer INTEGER NOT NULL,
  is_verified INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpg_keys_primary ON gpg_keys (key_id) WHERE primary_id IS NULL;
CREATE INDEX gpg_keys_key ON gpg_keys (key_id);
CREATE INDEX gpg_keys_user ON gpg_keys (user_id, id);
CREATE INDEX gpg_keys_of_primary ON gpg_keys (primary_id);

CREATE TABLE badges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL DEFAULT '',
  image_url TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE user_badges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  badge_id INTEGER NOT NULL REFERENCES badges (id) ON DELETE CASCADE,
  UNIQUE (user_id, badge_id)
) STRICT;
CREATE INDEX user_badges_badge ON user_badges (badge_id);
`;
