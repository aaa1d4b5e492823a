/**
 * Public keys. A key belongs to one account, or to the repositories that have it as deploy key (`user_id` is null), never to both:
 * `git` over SSH finds whose it is by the key alone. The trigger removes a key with its last deploy key.
 */
export const keys = /* sql */ `
CREATE TABLE public_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  fingerprint TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX public_keys_name ON public_keys (user_id, name) WHERE user_id IS NOT NULL;

CREATE TABLE deploy_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id INTEGER NOT NULL REFERENCES public_keys (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  is_read_only INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, name),
  UNIQUE (repo_id, key_id)
) STRICT;
CREATE INDEX deploy_keys_key ON deploy_keys (key_id);
CREATE TRIGGER deploy_keys_removed AFTER DELETE ON deploy_keys BEGIN
  DELETE FROM public_keys WHERE id = OLD.key_id AND user_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM deploy_keys WHERE key_id = OLD.key_id);
END;
`;
