import { randomBytes } from 'node:crypto';
import { realForge } from './real-forge.ts';

/**
 * Real server on which flows run, if the environment gives one: `FORGE_URL`, `FORGE_TOKEN` (a site administrator's,
 * with every scope) and optionally `FORGE_RESTART`, a command that stops the server and returns once the server
 * responds again. If undefined, every harness starts the embedded forge.
 */
export const realServer = findRealServer();

export type RealServer = {
  /** Address without a trailing slash; the API is below `/api/v1`. */
  readonly url: string;
  readonly adminToken: string;
  readonly restartCommand: string | undefined;
};

function findRealServer(): RealServer | undefined {
  const forge = realForge();
  return forge && { url: forge.url, adminToken: forge.token, restartCommand: process.env.FORGE_RESTART };
}

/** Suffix of the names. On a shared server, these names must not exist yet; a private forge starts without names. */
const ending = realServer ? `-${randomBytes(4).toString('hex')}` : '';
const unguessable = realServer ? randomBytes(12).toString('hex') : '';

/** Organization of the flows. The name is the same throughout a test file. */
export const acme = `acme${ending}`;
/** First repository of the organization. */
export const at = { owner: acme, repo: 'demo' } as const;
/** Accounts: a site administrator, a person, the bot, and an external contributor. */
export const people = {
  root: `root${ending}`,
  ada: `ada${ending}`,
  bot: `reeve${ending}`,
  eve: `eve${ending}`,
} as const;

/** Returns an additional name for a person or an organization that a test creates. */
export const uniqueName = (name: string): string => `${name}${ending}`;

export const passwordOf = (name: string): string => `${name}-password${unguessable}`;

/** Maximum time in milliseconds that a flow waits for a state, because a real server decides when it delivers. */
export const timeoutMs = 240_000;
