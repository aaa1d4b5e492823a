import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { int, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** Transfer of a repository to another owner. */
export const transferOperations = {
  transferRepository: defineOperation({
    id: 'repository.transfer',
    meaning:
      'Transfers a repository: 202 if it is moved immediately (the caller may create repositories there), 201 if the new owner must accept.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/transfer',
    ...repositoryAs('owner'),
    body: z.strictObject({
      new_owner: text,
      /** Teams that get access; the new owner must be their organization. */
      team_ids: z.array(int).optional(),
    }),
    mayBeMissing: ['new_owner'],
    success: 202,
    response: Repository,
    errors: [403, 404, 409, 422],
    source: 'routers/api/v1/repo/transfer.go Transfer',
  }),
  acceptTransfer: defineOperation({
    id: 'repository.accept-transfer',
    meaning: 'Accepts a pending transfer.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/transfer/accept',
    ...repositoryAs('signed-in'),
    success: 202,
    response: Repository,
    errors: [403, 404, 409],
    baseline: { 'name in use': 500 },
    source: 'routers/api/v1/repo/transfer.go AcceptTransfer',
  }),
  rejectTransfer: defineOperation({
    id: 'repository.reject-transfer',
    meaning: 'Rejects a pending transfer.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/transfer/reject',
    ...repositoryAs('signed-in'),
    success: 200,
    response: Repository,
    errors: [403, 404],
    source: 'routers/api/v1/repo/transfer.go RejectTransfer',
  }),
} as const;
