import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { issuesAs } from '../row-fields.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';

export const Milestone = resource(
  { id: int, title: text },
  {
    description: text,
    state: z.enum(['open', 'closed']),
    open_issues: int,
    closed_issues: int,
    created_at: instant,
    updated_at: instant,
    closed_at: instant,
    due_on: instant,
  },
);
export type Milestone = z.output<typeof Milestone>;

const named = z.object({ ...inRepository, id: z.union([int, text]) });

export const milestoneOperations = {
  listMilestones: defineOperation({
    id: 'milestone.list',
    meaning: 'Lists milestones, by default the open ones (`state`).',
    method: 'GET',
    path: '/repos/{owner}/{repo}/milestones',
    ...issuesAs('reader'),
    query: z.object({ ...pages, state: text.optional(), name: text.optional() }),
    success: 200,
    response: list(Milestone),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/repo/milestone.go ListMilestones',
  }),
  createMilestone: defineOperation({
    id: 'milestone.create',
    meaning: 'Creates a milestone.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/milestones',
    ...issuesAs('writer'),
    body: z.strictObject({
      title: text,
      description: text.optional(),
      due_on: instant.optional(),
      state: text.optional(),
    }),
    mayBeMissing: ['title'],
    success: 201,
    response: Milestone,
    errors: [403, 404],
    source: 'routers/api/v1/repo/milestone.go CreateMilestone',
  }),
  getMilestone: defineOperation({
    id: 'milestone.get',
    meaning: 'Returns a milestone, by id, or by title if no id matches.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/milestones/{id}',
    ...issuesAs('reader'),
    params: named,
    success: 200,
    response: Milestone,
    errors: [404],
    source: 'routers/api/v1/repo/milestone.go GetMilestone',
  }),
  editMilestone: defineOperation({
    id: 'milestone.edit',
    meaning: 'Updates a milestone; an absent `due_on` clears the due date.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/milestones/{id}',
    ...issuesAs('writer'),
    params: named,
    body: z.strictObject({
      title: text.optional(),
      description: text.optional(),
      /** `closed` closes the milestone; any other value opens it. */
      state: text.optional(),
      /** Stored as the last second of that day. */
      due_on: instant.optional(),
    }),
    success: 200,
    response: Milestone,
    errors: [403, 404, 422],
    source: 'routers/api/v1/repo/milestone.go EditMilestone',
  }),
  deleteMilestone: defineOperation({
    id: 'milestone.delete',
    meaning: 'Deletes a milestone; its issues are kept.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/milestones/{id}',
    ...issuesAs('writer'),
    params: named,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/milestone.go DeleteMilestone',
  }),
} as const;
