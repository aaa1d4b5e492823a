// src/log.ts
import { pino } from "pino";
var logLevels = ["silent", "error", "warn", "info", "debug"];
function createLog(options) {
  const hide = createRedactor(options.secrets ?? []);
  const target = options.destination ?? pino.destination({ fd: 2, sync: true });
  const destination = { write: (line) => target.write(hide(line)) };
  return pino(
    { level: options.level ?? "info", base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination
  );
}
var silentLog = { debug() {
}, info() {
}, warn() {
}, error() {
} };
function createRedactor(secrets) {
  const spellings = /* @__PURE__ */ new Set();
  for (const secret of secrets) {
    if (secret.length < 8) continue;
    spellings.add(secret);
    spellings.add(JSON.stringify(secret).slice(1, -1));
    spellings.add(encodeURIComponent(secret));
    spellings.add(Buffer.from(secret).toString("base64").replace(/=+$/, ""));
  }
  const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
  return (text) => {
    let hidden = text;
    for (const secret of longestFirst) hidden = hidden.replaceAll(secret, "[secret]");
    return hidden;
  };
}

export {
  logLevels,
  createLog,
  silentLog,
  createRedactor
};
