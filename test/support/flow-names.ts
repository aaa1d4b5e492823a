import { randomBytes } from 'node:crypto';
import { realForge } from './real-forge.ts';

/**
 * The real server that flows run on, when the environment names one: `FORGE_URL`, `FORGE_TOKEN` (a site administrator's,
 * with every scope) and, where there is one, `FORGE_RESTART`, a command that stops the server and returns once it answers
 * again. Undefined: every harness starts the embedded forge.
 */
export const realServer = findRealServer();

export type RealServer = {
  /** Address without a slash at the end; the API stands below `/api/v1`. */
  readonly url: string;
  readonly adminToken: string;
  readonly restartCommand: string | undefined;
};

function findRealServer(): RealServer | undefined {
  const forge = realForge();
  return forge && { url: forge.url, adminToken: forge.token, restartCommand: process.env.FORGE_RESTART };
}

/** A server that others use too must not know these names yet; a forge of one's own knows none. */
const ending = realServer ? `-${randomBytes(4).toString('hex')}` : '';
const unguessable = realServer ? randomBytes(12).toString('hex') : '';

/** The organization that flows are about, the same through a test file. */
export const acme = `acme${ending}`;
/** Its first repository. */
export const at = { owner: acme, repo: 'demo' } as const;
/** Accounts: a site administrator, a person, the bot, and a contributor from outside. */
export const people = {
  root: `root${ending}`,
  ada: `ada${ending}`,
  bot: `reeve${ending}`,
  eve: `eve${ending}`,
} as const;

/** Returns a further name for a person or an organization that a test makes itself. */
export const uniqueName = (name: string): string => `${name}${ending}`;

export const passwordOf = (name: string): string => `${name}-password${unguessable}`;

/** Milliseconds that a flow waits for a state at most: a real server delivers when it comes to it. */
export const timeoutMs = 240_000;
