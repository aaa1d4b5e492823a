import {
  eventFamilies
} from "./chunk-QVU6XQ2A.mjs";

// src/rules/test-grammar.ts
import { z } from "zod";
var kinds = [
  ...new Set(Object.entries(eventFamilies).flatMap(([family, row]) => [family, ...Object.keys(row.types)]))
];
var EventForm = z.strictObject({
  kind: z.enum(kinds).describe("A family (`pull_request`) or an Event-Type (`pull_request_sync`)."),
  activity: z.string().min(1).optional().describe("The payload's `action`; may also stand in the payload."),
  payload: z.record(z.string(), z.unknown()).optional(),
  file: z.string().min(1).optional().describe("A recorded payload, as a path beside this file.")
}).refine((event) => event.payload === void 0 !== (event.file === void 0), {
  message: "give either payload or file"
});
var ExpectedChange = z.strictObject({
  action: z.string().optional(),
  target: z.string().optional(),
  value: z.unknown().optional()
}).describe("Members that are not named are not compared.");
var ItemForm = z.partialRecord(
  z.enum(["repository", "organization", "pull_request", "issue", "branch", "notification", "runner"]),
  z.record(z.string(), z.unknown())
).refine((item) => Object.keys(item).length === 1, { message: "name one kind of item" });
var CaseForm = z.strictObject({
  name: z.string().min(1).max(200),
  event: EventForm.optional(),
  item: ItemForm.optional().describe("The item of a sweep, instead of an event: `{ runner: { \u2026 } }`."),
  facts: z.record(z.string(), z.unknown()).optional().describe("Fact or variable \u2192 value; `contents`: path \u2192 value."),
  now: z.iso.datetime({ offset: true }).optional().describe("The run's instant."),
  expect: z.strictObject({
    changes: z.array(ExpectedChange).optional().describe("Exactly these changes, in any order."),
    verdicts: z.record(z.string(), z.enum(["matched", "unmatched", "failed", "skipped"])).optional().describe("Rule \u2192 verdict."),
    failed: z.string().min(1).optional().describe("The rule that fails.")
  })
}).refine((one) => one.event === void 0 !== (one.item === void 0), {
  message: "give either event or item"
});
var TestFile = z.strictObject({ cases: z.array(CaseForm).min(1).max(200) });

export {
  TestFile
};
