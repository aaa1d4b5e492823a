import { z } from 'zod';
import { eventFamilies } from '../../contract/events/event-families.ts';
import { subjectKinds } from '../../contract/events/subject.ts';

const kinds = [
  ...new Set(Object.entries(eventFamilies).flatMap(([family, row]) => [family, ...Object.keys(row.types)])),
] as [string, ...string[]];

const EventForm = z
  .strictObject({
    kind: z.enum(kinds).describe('A family (`pull_request`) or an Event-Type (`pull_request_sync`).'),
    activity: z.string().min(1).optional().describe("The payload's `action`; may also stand in the payload."),
    payload: z.record(z.string(), z.unknown()).optional(),
    file: z.string().min(1).optional().describe('A recorded payload, as a path beside this file.'),
  })
  .refine((event) => (event.payload === undefined) !== (event.file === undefined), {
    message: 'give either payload, a map of members, or file, the path of a recorded payload',
  });

const ExpectedChange = z
  .strictObject({
    action: z.string().optional(),
    target: z.string().optional(),
    value: z.unknown().optional(),
  })
  .describe('Members that are not named are not compared.');
export type ExpectedChange = z.output<typeof ExpectedChange>;

const ExpectedRefusal = ExpectedChange.extend({
  why: z.string().min(1).optional().describe('A part of the reason.'),
});
export type ExpectedRefusal = z.output<typeof ExpectedRefusal>;

/** The item of a sweep: one key, the kind of `each`, and the item as conditions see it (durations as `15m`). */
const ItemForm = z
  .partialRecord(z.enum(subjectKinds), z.record(z.string(), z.unknown()))
  .refine((item) => Object.keys(item).length === 1, {
    message: 'name one kind of item: a case is about one item',
  });

const Parameters = z.record(z.string(), z.unknown());

export const CaseForm = z
  .strictObject({
    name: z.string().min(1).max(200),
    with: Parameters.optional().describe('Values of parameters for this case.'),
    event: EventForm.optional(),
    item: ItemForm.optional().describe('The item of a sweep, instead of an event: `{ runner: { … } }`.'),
    facts: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Fact or variable → value; `contents`: path → value.'),
    'same-head': z
      .array(z.record(z.string(), z.unknown()))
      .max(50)
      .optional()
      .describe('Facts of each other open pull request with the same head commit, for statuses.'),
    now: z.iso
      .datetime({ offset: true, error: 'write an instant with its offset, such as 2026-01-31T12:00:00Z' })
      .optional()
      .describe("The run's instant."),
    expect: z
      .strictObject({
        changes: z.array(ExpectedChange).optional().describe('Exactly these changes, in any order.'),
        includes: z.array(ExpectedChange).min(1).optional().describe('At least these changes.'),
        refused: z
          .array(ExpectedRefusal)
          .optional()
          .describe('The changes that are wanted and refused, all of them; default: none.'),
        verdicts: z
          .record(z.string(), z.enum(['matched', 'unmatched', 'failed', 'skipped']))
          .optional()
          .describe('Rule → verdict.'),
        failed: z.string().min(1).optional().describe('The rule that fails.'),
      })
      .refine(({ changes, includes }) => changes === undefined || includes === undefined, {
        message: 'give either changes, exactly these, or includes, at least these',
      }),
  })
  .refine((one) => (one.event === undefined) !== (one.item === undefined), {
    message:
      'give either event: { kind, activity, payload }, or item: { pull_request: { … } } for a rule with a schedule',
  });

/** Tests of the rules beside them: `NAME.test.yml` beside `NAME.yml`. */
export const TestFile = z.strictObject({
  with: Parameters.optional().describe(
    'Values of the parameters of the file, for all cases; default: their defaults.',
  ),
  cases: z.array(CaseForm).min(1).max(200),
});
export type CaseForm = z.output<typeof CaseForm>;
