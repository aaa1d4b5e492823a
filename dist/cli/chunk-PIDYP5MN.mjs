// src/sweeps/cron.ts
import { createTask, parse } from "node-cron";
var minuteMs = 6e4;
var quarterMs = 15 * minuteMs;
var horizonMs = 5 * 366 * 864e5;
var maxCounted = 1e3;
function createCron({ cron, timezone }) {
  const fields = parse(cron);
  const everyHour = fields.hour.length === 24;
  const days = createTask(cron, () => {
  }, { timezone: "UTC" });
  void days.destroy();
  const minute = fields.minute[0] ?? 0;
  const hour = fields.hour[0] ?? 0;
  const isDay = remembering((dayMs) => days.match(new Date(dayMs + (hour * 60 + minute) * minuteMs)));
  const offsetAt = createOffset(timezone);
  const isNamed = (wallMs) => {
    const wall = new Date(wallMs);
    return fields.hour.includes(wall.getUTCHours()) && fields.minute.includes(wall.getUTCMinutes()) && isDay(Math.floor(wallMs / 864e5) * 864e5);
  };
  function* inQuarter(startMs) {
    const offsetMs = offsetAt(startMs);
    const jumpMs = offsetMs - offsetAt(startMs - quarterMs);
    const skipped = !everyHour && jumpMs > 0 && namedBetween(startMs + offsetMs - jumpMs, startMs + offsetMs);
    for (let atMs = startMs; atMs < startMs + quarterMs; atMs += minuteMs) {
      const named = isNamed(atMs + offsetMs) && (everyHour || !isRepeated(atMs, offsetMs));
      if (named || skipped && atMs === startMs) yield atMs;
    }
  }
  const namedBetween = (fromMs, untilMs) => {
    for (let wallMs = fromMs; wallMs < untilMs; wallMs += minuteMs) if (isNamed(wallMs)) return true;
    return false;
  };
  const isRepeated = (atMs, offsetMs) => {
    for (let backMs = quarterMs; backMs <= 12 * quarterMs; backMs += quarterMs) {
      if (offsetAt(atMs - backMs) - offsetMs === backMs) return true;
    }
    return false;
  };
  const strideFrom = (startMs) => {
    const wall = new Date(startMs + offsetAt(startMs));
    const dayMs = Math.floor(wall.getTime() / 864e5) * 864e5;
    const hours = 21 - wall.getUTCHours();
    return hours > 0 && !isDay(dayMs) && !isDay(dayMs - 864e5) ? hours * 4 * quarterMs : quarterMs;
  };
  function* from(after, untilMs) {
    let startMs = Math.floor(after.getTime() / quarterMs) * quarterMs;
    while (startMs <= untilMs) {
      for (const atMs of inQuarter(startMs)) if (atMs > after.getTime() && atMs <= untilMs) yield atMs;
      startMs += strideFrom(startMs);
    }
  }
  return {
    next(after) {
      for (const atMs of from(after, after.getTime() + horizonMs)) return new Date(atMs);
      return void 0;
    },
    due(after, until) {
      let last;
      let count = 0;
      const begin = new Date(Math.max(after.getTime(), until.getTime() - 366 * 864e5));
      for (const atMs of from(begin, until.getTime())) {
        last = new Date(atMs);
        count = Math.min(count + 1, maxCounted);
      }
      return { last, count };
    }
  };
}
function nextTimes(schedule, after, count) {
  const cron = createCron(schedule);
  const times = [];
  for (let at = cron.next(after); at && times.length < count; at = cron.next(at)) times.push(at);
  return times;
}
function createOffset(timezone) {
  if (timezone === "UTC" || timezone === "Etc/UTC") return () => 0;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  });
  return remembering((atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (name) => parts.get(name) ?? 0;
    const wallMs = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"));
    return wallMs - Math.floor(atMs / minuteMs) * minuteMs;
  });
}
function remembering(ask) {
  const known = /* @__PURE__ */ new Map();
  return (at) => {
    const before = known.get(at);
    if (before !== void 0) return before;
    if (known.size > 5e3) known.clear();
    const result = ask(at);
    known.set(at, result);
    return result;
  };
}

export {
  createCron,
  nextTimes
};
