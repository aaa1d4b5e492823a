// src/same-secret.ts
import { hash, timingSafeEqual } from "node:crypto";
function isSameSecret(given, expected) {
  return isSameDigest(digestOfSecret(given), digestOfSecret(expected));
}
function digestOfSecret(secret) {
  return hash("sha256", secret, "buffer");
}
function isSameDigest(given, expected) {
  return timingSafeEqual(given, expected);
}

export {
  isSameSecret,
  digestOfSecret,
  isSameDigest
};
