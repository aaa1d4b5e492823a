import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/contract/parse-payload.ts
import { isUtf8 } from "node:buffer";
import secureJson from "secure-json-parse";
var maxDepth = 64;
function parsePayload(body) {
  if (!isUtf8(body)) throw new ReeveError("delivery-malformed", "the body is not UTF-8");
  if (depthOf(body) > maxDepth) {
    throw new ReeveError("delivery-malformed", `the body is nested deeper than ${maxDepth}`);
  }
  try {
    return secureJson.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"));
  } catch (error) {
    throw new ReeveError("delivery-malformed", `the body is not acceptable JSON: ${messageOf(error)}`, {
      cause: error
    });
  }
}
var quote = 34;
var backslash = 92;
function depthOf(body) {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === quote) {
      at = endOfString(body, at + 1);
    } else if (byte === 123 || byte === 91) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === 125 || byte === 93) {
      depth -= 1;
    }
  }
  return deepest;
}
function endOfString(body, from) {
  let end = body.indexOf(quote, from);
  while (end !== -1) {
    let slashes = 0;
    while (end - slashes > from && body[end - slashes - 1] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = body.indexOf(quote, end + 1);
  }
  return body.length;
}

export {
  parsePayload
};
