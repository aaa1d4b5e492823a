import {
  isSameSecret
} from "./chunk-OK4C527H.mjs";

// src/html.ts
var Html = class {
  text;
  constructor(text) {
    this.text = text;
  }
};
function html(pieces, ...fillings) {
  return new Html(pieces.map((piece, at) => piece + write(fillings[at])).join(""));
}
function write(filling) {
  if (filling === void 0) return "";
  if (filling instanceof Html) return filling.text;
  if (typeof filling === "object") return filling.map(write).join("");
  return escapeText(String(filling));
}
var entities = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
};
function escapeText(text) {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

// src/form-marks.ts
import { createHmac, randomBytes } from "node:crypto";
function createFormMarks() {
  const secret = randomBytes(32);
  const markOf = (who, purpose) => createHmac("sha256", secret).update(`${who}\0${purpose}`).digest("hex");
  return {
    markOf,
    isMarkOf: (mark, who, purpose) => isSameSecret(mark, markOf(who, purpose))
  };
}
function isSentByOtherSite(headers) {
  const site = headers["sec-fetch-site"];
  return site !== void 0 && site !== "same-origin" && site !== "none";
}

export {
  html,
  createFormMarks,
  isSentByOtherSite
};
