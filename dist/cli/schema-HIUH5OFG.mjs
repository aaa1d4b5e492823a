import "./chunk-VLKRB5AY.mjs";
import {
  RuleFile
} from "./chunk-QVU6XQ2A.mjs";
import {
  actions
} from "./chunk-PGPAQ2TF.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-P5GSASXZ.mjs";
import "./chunk-KZNQZHIP.mjs";

// src/rules/schema.ts
import { z } from "zod";
function schemaOfRules(actions2) {
  const schema2 = toJsonSchema(RuleFile);
  const step = find(schema2, ["properties", "rules", "additionalProperties", "properties", "steps", "items"]);
  if (step) {
    step.properties = { ...asSchema(step.properties), uses: usesOf(actions2) };
    step.allOf = actions2.map((action) => ({
      if: { properties: { uses: { const: action.name } }, required: ["uses"] },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word.
      then: { properties: { with: { ...toJsonSchema(action.arguments), description: action.meaning } } }
    }));
  }
  return { ...schema2, title: "Rules of Reeve" };
}
function usesOf(actions2) {
  return {
    description: "The action.",
    oneOf: actions2.map((action) => ({ const: action.name, description: action.meaning }))
  };
}
function toJsonSchema(schema2) {
  return z.toJSONSchema(schema2, {
    target: "draft-7",
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      Reflect.deleteProperty(jsonSchema, "holds");
    }
  });
}
function asSchema(value) {
  return typeof value === "object" && value !== null ? value : {};
}
function find(schema2, path) {
  let inner = schema2;
  for (const name of path) inner = asSchema(inner)[name];
  return typeof inner === "object" && inner !== null ? inner : void 0;
}

// src/commands/schema.ts
function schema(terminal) {
  terminal.out(JSON.stringify(schemaOfRules(actions), null, 2));
  return 0;
}
export {
  schema
};
