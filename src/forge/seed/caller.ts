import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import {
  type AnswerOf,
  type AnyInput,
  fillPath,
  type InputOf,
  type Operation,
} from '../../contract/operation.ts';
import { ReeveError } from '../../platform/errors.ts';
import { tokenDigest } from '../access/actor.ts';
import { userNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { secondsOf } from '../core/time.ts';
import type { SeedRepository } from './shape.ts';

/** Calls operations of this very forge as the people of a seed: what a seed brings about, a client could. */
export interface SeedCaller {
  /** Returns the answer; throws `usage` with the forge's words where the operation is refused. */
  call<O extends Operation>(name: string, operation: O, input: InputOf<O>): Promise<AnswerOf<O>>;
  /** Takes the credentials away again. */
  close(): void;
}

/** A repository of a seed while it is made: who makes it, and the path parameters that name it. */
export type Making = {
  readonly caller: SeedCaller;
  readonly by: string;
  readonly params: { readonly owner: string; readonly repo: string };
  readonly repository: SeedRepository;
};

/** Creates the caller. Each person gets a token while the seed runs; it is never shown. */
export function createSeedCaller(app: FastifyInstance, context: ForgeContext): SeedCaller {
  const { db, clock } = context;
  const tokens = new Map<string, { id: number; secret: string }>();

  function tokenOf(name: string): string {
    const known = tokens.get(name.toLowerCase());
    if (known) return known.secret;
    const user = userNamed(db, name);
    if (!user) throw new ReeveError('usage', `there is no account ${name}`);
    const secret = randomBytes(20).toString('hex');
    const { lastId } = db.run(
      'INSERT INTO tokens (user_id, name, digest, last_eight, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      user.id,
      `seed-${secret.slice(0, 8)}`,
      tokenDigest(secret),
      secret.slice(-8),
      '["all"]',
      secondsOf(clock()),
    );
    tokens.set(name.toLowerCase(), { id: lastId, secret });
    return secret;
  }

  return {
    async call<O extends Operation>(name: string, operation: O, input: InputOf<O>) {
      // The row's type has shaped the input; here only its members are looked at.
      const { params, query, body } = input as AnyInput;
      const path = fillPath(operation, params);
      const search = new URLSearchParams(
        Object.entries(query ?? {}).map(([member, value]) => [member, String(value)]),
      );
      const answer = await app.inject({
        method: operation.method,
        url: `/api/v1${path}?${search}`,
        headers: { authorization: `token ${tokenOf(name)}`, 'content-type': 'application/json' },
        ...(operation.body ? { payload: JSON.stringify(body ?? {}) } : {}),
      });
      if (answer.statusCode >= 300) {
        throw new ReeveError(
          'usage',
          `${operation.method} ${path} as ${name}: ${answer.statusCode} ${answer.body.slice(0, 300)}`,
        );
      }
      const shaped = operation.response?.parse(answer.body === '' ? null : answer.json());
      return shaped as AnswerOf<O>;
    },
    close() {
      for (const { id } of tokens.values()) db.run('DELETE FROM tokens WHERE id = ?', id);
      tokens.clear();
    },
  };
}
