import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { inRepository, int, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** Transfer of a repository to another owner. */
export const transferOperations = {
  transferRepository: defineOperation({
    id: 'repository.transfer',
    meaning:
      'Transfers a repository: 202 if it is moved immediately (the caller may create repositories there), 201 if the new owner must accept.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/transfer',
    params: z.object(inRepository),
    body: z.strictObject({
      new_owner: text,
      /** Teams of the new owner, an organization, that get access. */
      team_ids: z.array(int).optional(),
    }),
    success: 202,
    response: Repository,
    errors: [403, 404, 409, 422],
    access: 'owner',
    scopes: ['repository'],
    source: 'routers/api/v1/repo/transfer.go Transfer',
  }),
  acceptTransfer: defineOperation({
    id: 'repository.accept-transfer',
    meaning: 'Accepts a pending transfer.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/transfer/accept',
    params: z.object(inRepository),
    success: 202,
    response: Repository,
    errors: [403, 404, 409],
    access: 'signed-in',
    scopes: ['repository'],
    baseline: { 'name in use': 500 },
    source: 'routers/api/v1/repo/transfer.go AcceptTransfer',
  }),
  rejectTransfer: defineOperation({
    id: 'repository.reject-transfer',
    meaning: 'Rejects a pending transfer.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/transfer/reject',
    params: z.object(inRepository),
    success: 200,
    response: Repository,
    errors: [403, 404],
    access: 'signed-in',
    scopes: ['repository'],
    source: 'routers/api/v1/repo/transfer.go RejectTransfer',
  }),
} as const;
