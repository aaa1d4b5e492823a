import {
  activitiesOf,
  eventFamilies,
  familyOf,
  parseEvent
} from "./chunk-QVU6XQ2A.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/contract/named-event.ts
function namedEvent(kind, payload) {
  if (familyOf(kind) !== void 0) return parseEvent(kind, payload);
  const types = Object.hasOwn(eventFamilies, kind) ? eventFamilies[kind].types : void 0;
  if (types === void 0) {
    throw new ReeveError(
      "usage",
      `there is no event "${kind}"; known are ${Object.keys(eventFamilies).join(", ")}`
    );
  }
  const review = payload.review;
  const said = typeof review === "object" && review !== null && "type" in review ? review.type : payload.action;
  const type = Object.entries(types).find(
    ([name, activities]) => name === said || activities.includes(String(said))
  );
  if (type === void 0) {
    const known = activitiesOf(kind).join(", ");
    throw new ReeveError(
      "usage",
      `the payload does not say which ${kind} it is: its action is none of ${known}`
    );
  }
  return parseEvent(type[0], payload);
}

export {
  namedEvent
};
