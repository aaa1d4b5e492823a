import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/store/sqlite.ts
import { mkdirSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync as DatabaseSync2 } from "node:sqlite";

// src/store/checkpoints.ts
import { Worker } from "node:worker_threads";
var noCheckpoints = { committed() {
}, async close() {
} };
var beginBytes = 16 * 2 ** 20;
var maxLogBytes = 64 * 2 ** 20;
var overheadBytes = 3 * 32768;
var thread = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData, { timeout: 1000 });
database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -512');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
parentPort.on('message', (question) => {
  if (question === 'close') { database.close(); parentPort.close(); return; }
  try { parentPort.postMessage(checkpoint.get()); } catch { parentPort.postMessage({ log: 0, checkpointed: 0 }); }
});
`;
function createThreadedCheckpoints(database, path, pageBytes2) {
  database.exec("PRAGMA wal_autocheckpoint = 0");
  const finish = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  let worker;
  let isUnderWay = false;
  let sinceBytes = 0;
  const start = () => {
    const started = new Worker(thread, {
      eval: true,
      execArgv: [],
      workerData: path,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 }
    });
    started.on("message", ({ log, checkpointed }) => {
      isUnderWay = false;
      if (checkpointed < log && log * pageBytes2 > maxLogBytes) finish.get();
    });
    started.on("error", () => {
      worker = void 0;
      isUnderWay = true;
      database.exec("PRAGMA wal_autocheckpoint = 512");
    });
    started.unref();
    return started;
  };
  return {
    committed(bytes) {
      sinceBytes += bytes + overheadBytes;
      if (isUnderWay || sinceBytes < beginBytes) return;
      sinceBytes = 0;
      isUnderWay = true;
      worker ??= start();
      worker.postMessage("checkpoint");
    },
    async close() {
      const ending = worker;
      if (ending === void 0) return;
      await new Promise((resolve) => {
        ending.once("exit", () => resolve());
        ending.ref();
        ending.postMessage("close");
      });
    }
  };
}

// src/store/failures.ts
var refusals = {
  5: "another process is writing and does not finish",
  8: "the file or its disk is read-only",
  10: "the disk reports an error",
  11: "the file is damaged",
  13: "the disk is full",
  14: "the file cannot be opened",
  26: "the file is no SQLite database"
};
function asStoreError(error, path) {
  const code = resultCodeOf(error);
  const reason = code === void 0 ? void 0 : refusals[code & 255];
  if (reason === void 0) return error;
  return new ReeveError("store-unwritable", `the store ${path} refuses: ${reason} (${messageOf(error)})`, {
    cause: error,
    retryAfterMs: 5e3
  });
}
function resultCodeOf(error) {
  if (!(error instanceof Error) || !("errcode" in error)) return void 0;
  return typeof error.errcode === "number" ? error.errcode : void 0;
}

// src/store/commits.ts
var maxSteps = 256;
var maxWeight = 4 * 2 ** 20;
var Commits = class {
  #database;
  #path;
  #durability;
  #checkpoints;
  #onRefused;
  #begin;
  #commit;
  #steps = [];
  #draining;
  #isClosed = false;
  /** `onRefused` is told when writes were refused of which some may be in the database all the same. */
  constructor(database, options) {
    this.#database = database;
    this.#path = options.path;
    this.#durability = options.durability;
    this.#checkpoints = options.checkpoints;
    this.#onRefused = options.onRefused;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
  }
  /**
   * Runs a synchronous write in the next transaction. `weight` is its size in bytes, where that matters. A write that
   * throws is rolled back alone; it may run twice, so whatever it changes beside the database must bear that.
   */
  write(write2, weight = 0) {
    if (this.#isClosed)
      return Promise.reject(new ReeveError("store-unwritable", `the store ${this.#path} is closed`));
    return new Promise((resolve, reject) => {
      this.#steps.push({ write: write2, weight, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }
  /** Takes no more, and resolves when all that waits was written. */
  async close() {
    this.#isClosed = true;
    await this.#draining;
  }
  async #drain() {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#steps.length > 0) await this.#flush(this.#take());
    this.#draining = void 0;
  }
  #take() {
    let weight = 0;
    let count = 0;
    for (const step of this.#steps) {
      if (count > 0 && (count >= maxSteps || weight + step.weight > maxWeight)) break;
      weight += step.weight;
      count += 1;
    }
    return this.#steps.splice(0, count);
  }
  async #flush(batch2) {
    try {
      const results = this.#run(batch2);
      await this.#durability.sync();
      let bytes = 0;
      for (const [index, step] of batch2.entries()) {
        bytes += step.weight;
        step.resolve(results[index]);
      }
      this.#checkpoints.committed(bytes);
    } catch (error) {
      this.#onRefused();
      const refused = asStoreError(error, this.#path);
      const isDisk = refused instanceof ReeveError && refused.code === "store-unwritable";
      if (isDisk || batch2.length === 1) {
        for (const step of batch2) step.reject(refused);
        return;
      }
      for (const step of batch2) await this.#flush([step]);
    }
  }
  /** Writes the batch whole; when it throws, nothing of it was written. */
  #run(batch2) {
    this.#durability.prepare();
    try {
      this.#begin.run();
      const results = batch2.map((step) => step.write());
      this.#commit.run();
      return results;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }
  #rollback() {
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } catch {
    }
  }
};

// src/store/durability.ts
import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
var syncData = promisify(fdatasync);
var noDurability = { prepare() {
}, async sync() {
}, close() {
} };
function createLogDurability(database, path) {
  const log = openSync(`${path}-wal`, "r+");
  const checkpoint = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  let isBroken = false;
  return {
    prepare() {
      if (!isBroken) return;
      const row = checkpoint.get();
      if (row?.busy !== 0) throw refusal(path, new Error("a reader holds the log"));
      isBroken = false;
    },
    async sync() {
      try {
        await syncData(log);
      } catch (error) {
        isBroken = true;
        throw refusal(path, error);
      }
    },
    close: () => closeSync(log)
  };
}
function refusal(path, cause) {
  return new ReeveError("store-unwritable", `the store ${path} cannot be synced: ${messageOf(cause)}`, {
    cause,
    retryAfterMs: 5e3
  });
}

// src/store/fingerprint.ts
import { crc32 } from "node:zlib";
function markOfUuid(uuid) {
  const digits = uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 15);
  if (/^[0-9a-f]{13}$/i.test(digits)) return Number.parseInt(digits, 16);
  return combine(crc32(uuid), uuid.length);
}
function markOfContent(eventType, body) {
  return combine(crc32(body, crc32(eventType)), body.length);
}
function combine(checksum, length) {
  return length % 2 ** 20 * 2 ** 32 + checksum;
}

// src/store/marks.ts
var Marks = class {
  #capacity;
  #young;
  #old;
  /** The newest `capacity` marks are never forgotten; at most twice as many are kept. */
  constructor(capacity) {
    this.#capacity = capacity;
    this.#young = createGeneration(capacity);
    this.#old = createGeneration(0);
  }
  /** Returns the row that carried the mark last. */
  find(mark) {
    return read(this.#young, mark) ?? read(this.#old, mark);
  }
  /** Notes that the row carries the mark. `mark` is a non-negative safe integer, `row` a positive one. */
  add(mark, row) {
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = createGeneration(this.#capacity);
    }
    write(this.#young, mark, row);
  }
};
function createGeneration(capacity) {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(capacity, 1) * 2));
  return { marks: new Float64Array(slots), rows: new Float64Array(slots), size: 0 };
}
function slotOf(generation, mark) {
  const mask = generation.rows.length - 1;
  let slot = Math.imul(mark % 4294967296 ^ mark / 4294967296, 2654435761) >>> 0;
  slot = (slot ^ slot >>> 15) & mask;
  while (generation.rows[slot] !== 0 && generation.marks[slot] !== mark) slot = slot + 1 & mask;
  return slot;
}
function read(generation, mark) {
  return generation.rows[slotOf(generation, mark)] || void 0;
}
function write(generation, mark, row) {
  const slot = slotOf(generation, mark);
  if (generation.rows[slot] === 0) generation.size += 1;
  generation.marks[slot] = mark;
  generation.rows[slot] = row;
}

// src/store/intake.ts
var rememberedDeliveries = 65536;
var copyWindowMs = 6e4;
function createIntake(database, options) {
  const insert = database.prepare(
    `INSERT INTO deliveries (door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes,
       lane, turn, repository_id, repository, settled_at, reason, copy_of)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  );
  const insertBody = database.prepare("INSERT INTO bodies (id, body) VALUES (?, ?)");
  const known = database.prepare("SELECT uuid, entry FROM deliveries WHERE id = ?");
  const original = database.prepare(
    `SELECT event_type, received_at, body FROM deliveries JOIN bodies USING (id)
     WHERE id = ? AND state = 'accepted' AND attempts = 0 AND bytes = ?`
  );
  const sameJob = database.prepare("SELECT id FROM deliveries WHERE uuid = ? AND door <> 'webhook'");
  const uuids = new Marks(rememberedDeliveries);
  const contents = new Marks(rememberedDeliveries);
  if (options.recognise) recognise(database, uuids, contents);
  const findKnown = (delivery, mark) => {
    const id = uuids.find(mark);
    const row = id === void 0 ? void 0 : known.get(id);
    return row?.uuid === delivery.uuid && row.entry === delivery.entry ? id : void 0;
  };
  const findOriginal = (delivery, mark) => {
    const id = contents.find(mark);
    const row = id === void 0 ? void 0 : original.get(id, delivery.body.length);
    if (row === void 0 || row.event_type !== delivery.eventType) return void 0;
    const ageMs = delivery.receivedAt.getTime() - Date.parse(String(row.received_at));
    if (Math.abs(ageMs) > copyWindowMs) return void 0;
    return row.body instanceof Uint8Array && Buffer.compare(row.body, delivery.body) === 0 ? id : void 0;
  };
  return {
    accept(delivery) {
      const uuidMark = markOfUuid(delivery.uuid);
      const knownId = findKnown(delivery, uuidMark);
      if (knownId !== void 0) return { id: String(knownId), known: true };
      const contentMark = markOfContent(delivery.eventType, delivery.body);
      const copyOf = findOriginal(delivery, contentMark);
      const receivedAt = delivery.receivedAt.toISOString();
      const { route } = delivery;
      const isCopy = copyOf !== void 0;
      const { lastInsertRowid } = insert.run(
        "webhook",
        delivery.uuid,
        delivery.eventType,
        delivery.entry,
        delivery.contentType,
        receivedAt,
        isCopy ? "settled" : "accepted",
        contentMark,
        delivery.body.length,
        route?.lane ?? null,
        route === void 0 ? null : turnOf(route.lane),
        route?.repositoryId ?? null,
        route?.repository ?? null,
        isCopy ? receivedAt : null,
        isCopy ? `copy of delivery ${copyOf}` : null,
        copyOf ?? null
      );
      const id = Number(lastInsertRowid);
      insertBody.run(id, delivery.body);
      uuids.add(uuidMark, id);
      if (isCopy) return { id: String(id), known: false, copyOf: String(copyOf) };
      contents.add(contentMark, id);
      return { id: String(id), known: false };
    },
    enqueue(job) {
      const same = sameJob.get(job.uuid);
      if (same !== void 0) return { id: String(same.id), known: true };
      const body = encodeJob(job);
      const { lastInsertRowid } = insert.run(
        job.door,
        job.uuid,
        job.kind,
        job.door,
        "application/json",
        job.receivedAt.toISOString(),
        "accepted",
        0,
        body.length,
        job.lane,
        turnOf(job.lane),
        null,
        null,
        null,
        null,
        null
      );
      insertBody.run(lastInsertRowid, body);
      return { id: String(lastInsertRowid), known: false };
    }
  };
}
function turnOf(lane) {
  const end = lane.indexOf("#");
  return end === -1 ? lane : lane.slice(0, end);
}
function encodeJob(job) {
  if (job.lane === "") throw new ReeveError("internal", `job ${job.kind} has no lane`);
  const text = JSON.stringify(job.payload ?? null);
  if (text === void 0)
    throw new ReeveError("internal", `the payload of job ${job.kind} is not plain data`);
  return Buffer.from(text);
}
function recognise(database, uuids, contents) {
  const rows = database.prepare(
    `SELECT id, uuid, mark, copy_of FROM deliveries
     WHERE id > (SELECT coalesce(max(id), 0) - ? FROM deliveries) AND door = 'webhook' ORDER BY id`
  );
  rows.setReturnArrays(true);
  for (const row of rows.iterate(rememberedDeliveries)) {
    const [id, uuid, mark, copyOf] = Object.values(row);
    uuids.add(markOfUuid(String(uuid)), Number(id));
    if (copyOf === null) contents.add(Number(mark), Number(id));
  }
}

// src/store/lanes.ts
import { randomUUID } from "node:crypto";

// src/store/store.ts
var deliveryStates = ["accepted", "claimed", "retry", "settled", "dead"];

// src/store/rows.ts
var deliveryColumns = `deliveries.id, door, uuid, event_type, entry, content_type, received_at, state, bytes, lane,
  repository_id, repository, attempts, failing_since, retry_at, settled_at, reason, copy_of, checkpoint,
  redriven_at, redriven_by`;
function deliveryOf(row) {
  return {
    id: String(row.id),
    door: doorOf(row.door),
    uuid: String(row.uuid),
    eventType: String(row.event_type),
    entry: String(row.entry),
    contentType: String(row.content_type),
    receivedAt: new Date(String(row.received_at)),
    state: stateOf(row.state),
    bytes: Number(row.bytes),
    lane: textOf(row.lane),
    repositoryId: row.repository_id === null ? void 0 : Number(row.repository_id),
    repository: textOf(row.repository),
    attempts: Number(row.attempts),
    failingSince: dateOf(row.failing_since),
    retryAt: dateOf(row.retry_at),
    settledAt: dateOf(row.settled_at),
    reason: textOf(row.reason),
    copyOf: textOf(row.copy_of),
    checkpoint: row.checkpoint === null ? void 0 : JSON.parse(String(row.checkpoint)),
    redrivenAt: dateOf(row.redriven_at),
    redrivenBy: textOf(row.redriven_by)
  };
}
function deliveryWithBodyOf(row) {
  return { ...deliveryOf(row), body: row.body instanceof Uint8Array ? row.body : new Uint8Array() };
}
function runOf(row) {
  return JSON.parse(String(row.run));
}
function doorOf(value) {
  return value === "cron" || value === "cli" ? value : "webhook";
}
function stateOf(value) {
  return deliveryStates.find((state) => state === value) ?? "dead";
}
function textOf(value) {
  return value === null || value === void 0 ? void 0 : String(value);
}
function dateOf(value) {
  return typeof value === "string" ? new Date(value) : void 0;
}

// src/store/lanes.ts
var maxReturning = 500;
var maxRounds = 1e4;
var maxUnroutedBytes = 16 * 2 ** 20;
function createLanes(database) {
  const unrouted = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id)
     WHERE state = 'accepted' AND routed = 0 ORDER BY deliveries.id LIMIT ?`
  );
  const toLane = database.prepare(
    `UPDATE deliveries SET routed = 1, lane = ?, turn = ?, repository_id = ?, repository = ?
     WHERE id = ? AND state = 'accepted' AND routed = 0`
  );
  const toEnd = database.prepare(
    `UPDATE deliveries SET routed = 1, state = ?, reason = ?, settled_at = ?, lane = coalesce(?, lane),
       repository_id = coalesce(?, repository_id), repository = coalesce(?, repository)
     WHERE id = ? AND state = 'accepted' AND routed = 0`
  );
  const returning = database.prepare(
    `UPDATE deliveries SET state = 'accepted', retry_at = NULL WHERE id IN
       (SELECT id FROM deliveries WHERE state = 'retry' AND retry_at <= ? ORDER BY retry_at LIMIT ${maxReturning})`
  );
  const take = database.prepare(
    "UPDATE deliveries SET state = 'claimed', lease = ?, attempts = attempts + 1 WHERE id = ?"
  );
  const read2 = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`
  );
  const giveBack = "UPDATE deliveries SET state = 'accepted', lease = NULL WHERE state = 'claimed'";
  const giveBackAll = database.prepare(giveBack);
  const giveBackOne = database.prepare(`${giveBack} AND lease = ?`);
  const heads = createHeads(database);
  return {
    unrouted(limit) {
      const found = [];
      let bytes = 0;
      for (const row of unrouted.iterate(limit)) {
        const delivery = deliveryWithBodyOf(rowOf(row));
        bytes += delivery.bytes;
        if (found.length > 0 && bytes > maxUnroutedBytes) break;
        found.push(delivery);
      }
      return found;
    },
    route(routings, at) {
      let settled = 0;
      for (const routing of routings) {
        const repository = "repository" in routing ? routing.repository ?? null : null;
        const repositoryId = "repositoryId" in routing ? routing.repositoryId ?? null : null;
        if (routing.to === "lane") {
          toLane.run(routing.lane, turnOf(routing.lane), repositoryId, repository, Number(routing.id));
          continue;
        }
        const lane = "lane" in routing ? routing.lane ?? null : null;
        const id = Number(routing.id);
        const { to, reason } = routing;
        const { changes } = toEnd.run(to, reason, at.toISOString(), lane, repositoryId, repository, id);
        if (to === "settled") settled += Number(changes);
      }
      return settled;
    },
    claim(limit, now) {
      returning.run(now.toISOString());
      const claims = [];
      for (const id of heads.next(limit)) {
        const lease = randomUUID();
        take.run(lease, id);
        claims.push({ ...deliveryWithBodyOf(rowOf(read2.get(id))), lease });
      }
      return claims;
    },
    reclaim(leases) {
      if (leases === void 0) giveBackAll.run();
      for (const lease of leases ?? []) giveBackOne.run(lease);
    }
  };
}
function createHeads(database) {
  const where = "state = 'accepted' AND routed = 1";
  const nextTurn = database.prepare(
    `SELECT turn FROM deliveries WHERE ${where} AND turn > ? ORDER BY turn LIMIT 1`
  );
  const nextLane = database.prepare(
    `SELECT lane, id FROM deliveries WHERE ${where} AND turn = ? AND lane > ? ORDER BY lane, id LIMIT 1`
  );
  const busyLanes = database.prepare("SELECT lane FROM deliveries WHERE state = 'claimed'");
  let lastTurn = "";
  const lastLanes = /* @__PURE__ */ new Map();
  const laneAfter = (turn, lane, busy) => {
    let row = nextLane.get(turn, lane);
    while (row !== void 0 && busy.has(String(row.lane))) row = nextLane.get(turn, String(row.lane));
    return row;
  };
  const headOf = (turn, busy) => {
    const last = lastLanes.get(turn) ?? "";
    const row = laneAfter(turn, last, busy) ?? (last === "" ? void 0 : laneAfter(turn, "", busy));
    if (row === void 0) {
      lastLanes.delete(turn);
      return void 0;
    }
    lastLanes.set(turn, String(row.lane));
    return Number(row.id);
  };
  return {
    next(limit) {
      const busy = new Set(busyLanes.all().map((row) => String(row.lane)));
      const heads = [];
      const idle = /* @__PURE__ */ new Set();
      let idleInARow = 0;
      while (heads.length < limit && idleInARow <= idle.size) {
        const row = nextTurn.get(lastTurn) ?? nextTurn.get("");
        if (row === void 0) break;
        const turn = String(row.turn);
        lastTurn = turn;
        const head = idle.has(turn) ? void 0 : headOf(turn, busy);
        if (head === void 0) {
          idle.add(turn);
          idleInARow += 1;
          continue;
        }
        idleInARow = 0;
        busy.add(lastLanes.get(turn) ?? "");
        heads.push(head);
      }
      if (lastLanes.size > maxRounds) lastLanes.clear();
      return heads;
    }
  };
}
function rowOf(row) {
  return row;
}

// src/store/lock.ts
import { chmodSync, closeSync as closeSync2, existsSync, openSync as openSync2 } from "node:fs";
import { DatabaseSync } from "node:sqlite";
function takeWorkerLock(path) {
  const file = `${path}.lock`;
  createPrivateFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("BEGIN IMMEDIATE");
    database.exec("CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL); DELETE FROM holder");
    database.prepare("INSERT INTO holder VALUES (?)").run(process.pid);
    database.exec("COMMIT; BEGIN IMMEDIATE");
  } catch (error) {
    const pid = holderOf(database);
    database.close();
    throw new ReeveError(
      "store-locked",
      `the store ${path} is in use by another Reeve (pid ${pid ?? "unknown"}): stop it, or give this one its own REEVE_DATA`,
      { cause: error }
    );
  }
  return { release: () => database.close() };
}
function createPrivateFile(path) {
  if (existsSync(path)) chmodSync(path, 384);
  else closeSync2(openSync2(path, "a", 384));
}
function holderOf(database) {
  try {
    return Number(database.prepare("SELECT pid FROM holder").get()?.pid) || void 0;
  } catch {
    return void 0;
  }
}

// src/store/migrations.ts
var migrations = [
  `
  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    door TEXT NOT NULL,
    uuid TEXT NOT NULL,
    event_type TEXT NOT NULL,
    entry TEXT NOT NULL,
    content_type TEXT NOT NULL,
    received_at TEXT NOT NULL,
    state TEXT NOT NULL,
    routed INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    lane TEXT,
    turn TEXT,
    repository_id INTEGER,
    repository TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease TEXT,
    failing_since TEXT,
    retry_at TEXT,
    settled_at TEXT,
    reason TEXT,
    copy_of INTEGER,
    checkpoint TEXT,
    redriven_at TEXT,
    redriven_by TEXT
  ) STRICT;
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
  CREATE INDEX unrouted ON deliveries (id) WHERE state = 'accepted' AND routed = 0;
  CREATE INDEX waiting ON deliveries (turn, lane, id) WHERE state = 'accepted' AND routed = 1;
  CREATE INDEX claimed ON deliveries (lane) WHERE state = 'claimed';
  CREATE INDEX retrying ON deliveries (retry_at) WHERE state = 'retry';
  CREATE INDEX dead ON deliveries (id) WHERE state = 'dead';
  CREATE INDEX jobs ON deliveries (uuid) WHERE door <> 'webhook';
  CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    delivery INTEGER,
    repository_id INTEGER,
    started_at TEXT NOT NULL,
    run TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_of_delivery ON runs (delivery) WHERE delivery IS NOT NULL;
  CREATE INDEX runs_of_repository ON runs (repository_id, number) WHERE repository_id IS NOT NULL;
  CREATE INDEX runs_without_delivery ON runs (started_at) WHERE delivery IS NULL;
  CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `
];
function migrate(database, path, steps = migrations) {
  for (; ; ) {
    database.exec("BEGIN IMMEDIATE");
    try {
      const version = versionOf(database);
      if (version > steps.length) {
        throw new ReeveError(
          "store-newer",
          `the store ${path} has schema ${version}, this program knows ${steps.length}: start the newer Reeve`
        );
      }
      const step = steps[version];
      if (step !== void 0) database.exec(`${step}; PRAGMA user_version = ${version + 1}`);
      database.exec("COMMIT");
      if (step === void 0) return;
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }
}
function versionOf(database) {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

// src/store/readings.ts
var searchStretch = 5e4;
var fewOf = {
  accepted: `deliveries.id IN (
    SELECT id FROM deliveries INDEXED BY unrouted WHERE state = 'accepted' AND routed = 0
    UNION ALL SELECT id FROM deliveries INDEXED BY waiting WHERE state = 'accepted' AND routed = 1)`,
  claimed: "deliveries.id IN (SELECT id FROM deliveries INDEXED BY claimed WHERE state = 'claimed')",
  retry: "deliveries.id IN (SELECT id FROM deliveries INDEXED BY retrying WHERE state = 'retry')"
};
function createReadings(database) {
  const one = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`
  );
  const outside = database.prepare(`SELECT ${deliveryColumns} FROM deliveries WHERE id = ?`);
  const run = database.prepare("SELECT run FROM runs WHERE id = ?");
  const newest = database.prepare("SELECT coalesce(max(id), 0) AS id FROM deliveries");
  const settled = database.prepare("SELECT count(*) AS n FROM deliveries WHERE state = 'settled'");
  const waiting = database.prepare(
    `SELECT (SELECT count(*) FROM deliveries WHERE state = 'accepted' AND routed = 0)
          + (SELECT count(*) FROM deliveries WHERE state = 'accepted' AND routed = 1) AS accepted,
       (SELECT count(*) FROM deliveries WHERE state = 'claimed') AS claimed,
       (SELECT count(*) FROM deliveries WHERE state = 'retry') AS retry,
       (SELECT count(*) FROM deliveries WHERE state = 'dead') AS dead`
  );
  const oldest = database.prepare(
    `SELECT received_at AS at FROM deliveries WHERE id IN (
       (SELECT min(id) FROM deliveries INDEXED BY unrouted WHERE state = 'accepted' AND routed = 0),
       (SELECT min(id) FROM deliveries INDEXED BY waiting WHERE state = 'accepted' AND routed = 1),
       (SELECT min(id) FROM deliveries INDEXED BY retrying WHERE state = 'retry')
     ) ORDER BY id LIMIT 1`
  );
  return {
    listDeliveries(query) {
      const limit = limitOf(query.limit);
      const from = query.before === void 0 ? Number(newest.get()?.id) + 1 : Number(query.before);
      const asked = new Conditions("deliveries.id < ?", from);
      if (query.state !== void 0) asked.add(fewOf[query.state] ?? `state = '${query.state}'`);
      if (query.repositoryId !== void 0) asked.add("repository_id = ?", query.repositoryId);
      const isSearch = query.search !== void 0 && query.search !== "";
      if (isSearch) {
        const text = String(query.search).toLowerCase();
        asked.add(
          "(instr(lower(event_type), ?) OR instr(lower(repository), ?) OR instr(lower(uuid), ?))",
          text,
          text,
          text
        );
      }
      const isFew = query.state !== void 0 && query.state !== "settled";
      const isStretch = (isSearch || query.repositoryId !== void 0) && !isFew;
      const floor = isStretch ? Math.max(from - searchStretch, 1) : 0;
      if (floor > 0) asked.add("deliveries.id >= ?", floor);
      const sql = `SELECT ${deliveryColumns} FROM deliveries WHERE ${asked.sql} ORDER BY deliveries.id DESC LIMIT ?`;
      const items = all(database, sql, [...asked.values, limit]).map(deliveryOf);
      const last = items.length === limit ? items.at(-1)?.id : void 0;
      return { items, next: last ?? (floor > 1 ? String(floor) : void 0) };
    },
    readDelivery(id) {
      const row = one.get(numberOf(id));
      return row === void 0 ? void 0 : deliveryWithBodyOf(row);
    },
    describeDelivery(id) {
      const row = outside.get(numberOf(id));
      return row === void 0 ? void 0 : deliveryOf(row);
    },
    listRuns(query) {
      const limit = limitOf(query.limit);
      const asked = new Conditions("number < ?", query.before === void 0 ? 2 ** 52 : Number(query.before));
      if (query.delivery !== void 0) asked.add("delivery = ?", numberOf(query.delivery));
      if (query.repositoryId !== void 0) asked.add("repository_id = ?", query.repositoryId);
      if (query.since !== void 0) asked.add("started_at >= ?", query.since.toISOString());
      const sql = `SELECT number, run FROM runs WHERE ${asked.sql} ORDER BY number DESC LIMIT ?`;
      const rows = all(database, sql, [...asked.values, limit]);
      const last = rows.length === limit ? rows.at(-1)?.number : void 0;
      return { items: rows.map(runOf), next: last === void 0 ? void 0 : String(last) };
    },
    readRun(id) {
      const row = run.get(id);
      return row === void 0 ? void 0 : runOf(row);
    },
    countWaiting() {
      const row = waiting.get();
      const of = (state) => Number(row?.[state]);
      return { accepted: of("accepted"), claimed: of("claimed"), retry: of("retry"), dead: of("dead") };
    },
    countSettled: () => Number(settled.get()?.n),
    oldestWaiting() {
      const row = oldest.get();
      return row === void 0 ? void 0 : new Date(String(row.at));
    }
  };
}
var Conditions = class {
  #texts = [];
  values = [];
  constructor(text, ...values) {
    this.add(text, ...values);
  }
  add(text, ...values) {
    this.#texts.push(text);
    this.values.push(...values);
  }
  get sql() {
    return this.#texts.join(" AND ");
  }
};
function all(database, sql, values) {
  return database.prepare(sql).all(...values);
}
function limitOf(limit) {
  return Math.min(Math.max(Math.trunc(limit ?? 50), 1), 500);
}
function numberOf(id) {
  return /^\d{1,15}$/.test(id) ? Number(id) : -1;
}

// src/store/retention.ts
var batch = 200;
function createRetention(database) {
  const oldest = database.prepare(
    // The newest stays whatever its age: ids go on from it.
    "SELECT id, state, received_at FROM deliveries WHERE id < (SELECT max(id) FROM deliveries) ORDER BY id"
  );
  const deleteDelivery = database.prepare("DELETE FROM deliveries WHERE id = ?");
  const deleteBody = database.prepare("DELETE FROM bodies WHERE id = ?");
  const deleteRuns = database.prepare("DELETE FROM runs WHERE delivery = ?");
  const deleteLoose = database.prepare(
    `DELETE FROM runs WHERE number IN
       (SELECT number FROM runs WHERE delivery IS NULL AND started_at < ? ORDER BY started_at LIMIT ${batch})`
  );
  const size = database.prepare(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
  );
  const settledBefore = (before) => {
    const ids = [];
    for (const row of oldest.iterate()) {
      if (ids.length === batch || String(row.received_at) >= before) break;
      if (row.state === "settled") ids.push(Number(row.id));
    }
    return ids;
  };
  return {
    deleteBatch(olderThan) {
      const before = olderThan?.toISOString() ?? "~";
      let runs = 0;
      const ids = settledBefore(before);
      for (const id of ids) {
        runs += Number(deleteRuns.run(id).changes);
        deleteBody.run(id);
        deleteDelivery.run(id);
      }
      runs += Number(deleteLoose.run(before).changes);
      return { deliveries: ids.length, runs };
    },
    bytesInUse: () => Number(size.get()?.bytes)
  };
}

// src/store/settlements.ts
function encodeRuns(runs) {
  return runs.map((run) => ({ id: run.id, startedAt: run.trigger.at, json: JSON.stringify(run) }));
}
function createSettlements(database) {
  const mine = "WHERE id = ? AND lease = ? AND state = 'claimed'";
  const end = database.prepare(
    `UPDATE deliveries SET state = ?, reason = ?, settled_at = ?, lease = NULL ${mine}`
  );
  const wait = database.prepare(
    `UPDATE deliveries SET state = 'retry', reason = ?, retry_at = ?, lease = NULL,
       failing_since = coalesce(failing_since, ?) ${mine}`
  );
  const giveBack = database.prepare(
    `UPDATE deliveries SET state = 'accepted', lease = NULL, attempts = attempts - 1 ${mine}`
  );
  const goOn = database.prepare(`UPDATE deliveries SET checkpoint = ? ${mine}`);
  const insert = database.prepare(
    "INSERT OR REPLACE INTO runs (id, delivery, repository_id, started_at, run) VALUES (?, ?, ?, ?, ?)"
  );
  const revived = `UPDATE deliveries SET state = 'accepted', routed = 0, attempts = 0, failing_since = NULL, settled_at = NULL,
       reason = NULL, redriven_at = ?, redriven_by = ? WHERE id = ?`;
  const reviveDead = database.prepare(`${revived} AND state = 'dead'`);
  const reviveSettled = database.prepare(`${revived} AND state = 'settled' AND door = 'webhook'`);
  const append = (runs, delivery, repositoryId) => {
    for (const run of runs) {
      const of = delivery === void 0 ? null : Number(delivery);
      insert.run(run.id, of, repositoryId ?? null, run.startedAt, run.json);
    }
  };
  return {
    append,
    settle(claim, runs, at, reason) {
      const { changes } = end.run("settled", reason ?? null, at.toISOString(), Number(claim.id), claim.lease);
      if (changes === 0) return false;
      append(runs, claim.id, claim.repositoryId);
      return true;
    },
    advance(claim, runs, repositoryId, checkpoint) {
      if (goOn.run(checkpoint, Number(claim.id), claim.lease).changes === 0) return false;
      append(runs, claim.id, repositoryId ?? claim.repositoryId);
      return true;
    },
    retry(claim, { at, reason }, now) {
      const values = [reason, at.toISOString(), now.toISOString(), Number(claim.id), claim.lease];
      return wait.run(...values).changes === 1;
    },
    release: (claim) => giveBack.run(Number(claim.id), claim.lease).changes === 1,
    bury: (claim, reason, at) => end.run("dead", reason, at.toISOString(), Number(claim.id), claim.lease).changes === 1,
    redrive(ids, by, at, also) {
      let dead = 0;
      let settled = 0;
      for (const id of ids) {
        const values = [at.toISOString(), by, Number(id)];
        dead += Number(reviveDead.run(...values).changes);
        if (also) settled += Number(reviveSettled.run(...values).changes);
      }
      return { dead, settled };
    }
  };
}

// src/store/sqlite.ts
var pageBytes = 32768;
async function openSqliteStore(options) {
  const { path, role } = options;
  let lock;
  let database;
  try {
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 448 });
      if (role === "worker") lock = takeWorkerLock(path);
      createPrivateFile(path);
    }
    database = openDatabase(options);
    migrate(database, path);
    return createSqliteStore(database, lock, options);
  } catch (error) {
    database?.close();
    lock?.release();
    throw asStoreError(error, path);
  }
}
function openDatabase(options) {
  const database = new DatabaseSync2(options.path, { timeout: 5e3 });
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON; PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = 512;
    PRAGMA journal_size_limit = 67108864; PRAGMA foreign_keys = ON`);
  if (options.maxFileBytes !== void 0) {
    database.exec(`PRAGMA max_page_count = ${Math.max(Math.floor(options.maxFileBytes / pageBytes), 1)}`);
  }
  return database;
}
function createSqliteStore(database, lock, { path, role, clock = { now: () => /* @__PURE__ */ new Date() }, monotonicMs = () => performance.now() }) {
  const durability = path === ":memory:" ? noDurability : createLogDurability(database, path);
  const checkpoints = path === ":memory:" || role === "reader" ? noCheckpoints : createThreadedCheckpoints(database, path, pageBytes);
  let isCountStale = false;
  const commits = new Commits(database, {
    path,
    durability,
    checkpoints,
    onRefused: () => {
      isCountStale = true;
    }
  });
  const intake = createIntake(database, { recognise: role === "worker" });
  const lanes = createLanes(database);
  const settlements = createSettlements(database);
  const readings = createReadings(database);
  const retention = createRetention(database);
  const putMemory = database.prepare("INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)");
  const dropMemory = database.prepare("DELETE FROM memory WHERE key = ?");
  const getMemory = database.prepare("SELECT value FROM memory WHERE key = ?");
  const leases = /* @__PURE__ */ new Map();
  if (role === "worker") lanes.reclaim();
  let settled = role === "worker" ? readings.countSettled() : 0;
  const read2 = (ask) => {
    try {
      return ask();
    } catch (error) {
      throw asStoreError(error, path);
    }
  };
  const asWorker = () => {
    if (role !== "worker")
      throw new ReeveError("internal", "a store opened as reader neither accepts nor claims");
  };
  const fenced = async (claim, write2) => {
    asWorker();
    if (await commits.write(write2)) return;
    leases.delete(claim.lease);
    throw new ReeveError("lease-lost", `delivery ${claim.id} is no longer ours: its lease has ended`);
  };
  const store = {
    async accept(delivery) {
      asWorker();
      const accepted = await commits.write(() => intake.accept(delivery), delivery.body.length);
      if (accepted.copyOf !== void 0) settled += 1;
      return accepted;
    },
    enqueue: async (job) => commits.write(() => intake.enqueue(job)),
    unrouted: async (limit) => read2(() => lanes.unrouted(limit)),
    async route(routings) {
      asWorker();
      const ended = await commits.write(() => lanes.route(routings, clock.now()));
      settled += ended;
    },
    async claim({ limit, leaseMs }) {
      asWorker();
      const nowMs = monotonicMs();
      const ended = [...leases].filter(([, endMs]) => endMs <= nowMs).map(([lease]) => lease);
      const claims = await commits.write(() => {
        lanes.reclaim(ended);
        const claims2 = lanes.claim(limit, clock.now());
        for (const claim of claims2) leases.set(claim.lease, nowMs + leaseMs);
        return claims2;
      });
      for (const lease of ended) leases.delete(lease);
      return claims;
    },
    async heartbeat(claim, leaseMs) {
      if ((leases.get(claim.lease) ?? 0) <= monotonicMs()) {
        throw new ReeveError("lease-lost", `delivery ${claim.id} is no longer ours: its lease has ended`);
      }
      leases.set(claim.lease, monotonicMs() + leaseMs);
    },
    async settle(claim, runs, reason) {
      const encoded = encodeRuns(runs);
      await fenced(claim, () => settlements.settle(claim, encoded, clock.now(), reason));
      leases.delete(claim.lease);
      settled += 1;
    },
    async advance(claim, { runs, repositoryId, checkpoint }) {
      const encoded = encodeRuns(runs);
      const json = JSON.stringify(checkpoint ?? null);
      await fenced(claim, () => settlements.advance(claim, encoded, repositoryId, json));
    },
    async retry(claim, again) {
      await fenced(claim, () => settlements.retry(claim, again, clock.now()));
      leases.delete(claim.lease);
    },
    async release(claim) {
      await fenced(claim, () => settlements.release(claim));
      leases.delete(claim.lease);
    },
    async bury(claim, reason) {
      await fenced(claim, () => settlements.bury(claim, reason, clock.now()));
      leases.delete(claim.lease);
    },
    async appendRuns(runs, { repositoryId } = {}) {
      const encoded = encodeRuns(runs);
      await commits.write(() => settlements.append(encoded, void 0, repositoryId));
    },
    listDeliveries: async (query = {}) => read2(() => readings.listDeliveries(query)),
    readDelivery: async (id) => read2(() => readings.readDelivery(id)),
    describeDelivery: async (id) => read2(() => readings.describeDelivery(id)),
    listRuns: async (query = {}) => read2(() => readings.listRuns(query)),
    readRun: async (id) => read2(() => readings.readRun(id)),
    async redrive(ids, by, { settled: also = false } = {}) {
      const { dead, settled: ended } = await commits.write(
        () => settlements.redrive(ids, by, clock.now(), also)
      );
      settled -= ended;
      return dead + ended;
    },
    counts: async () => read2(() => {
      if (role === "reader" || isCountStale) settled = readings.countSettled();
      isCountStale = false;
      return { ...readings.countWaiting(), settled };
    }),
    oldestWaiting: async () => read2(() => readings.oldestWaiting()),
    async remember(key, value) {
      const json = value === void 0 ? void 0 : JSON.stringify(value);
      await commits.write(() => {
        if (json === void 0) dropMemory.run(key);
        else putMemory.run(key, json);
      });
    },
    async recall(key) {
      const row = read2(() => getMemory.get(key));
      return row === void 0 ? void 0 : JSON.parse(String(row.value));
    },
    async prune({ olderThan, maxBytes }) {
      const gone = { deliveries: 0, runs: 0 };
      const goOn = async (before) => {
        const { deliveries, runs } = await commits.write(() => retention.deleteBatch(before));
        settled -= deliveries;
        gone.deliveries += deliveries;
        gone.runs += runs;
        return deliveries + runs > 0;
      };
      while (olderThan !== void 0 && await goOn(olderThan)) ;
      while (maxBytes !== void 0 && read2(retention.bytesInUse) > maxBytes && await goOn(void 0)) ;
      return gone;
    },
    async healthy() {
      try {
        await store.remember("health", clock.now().toISOString());
        const space = path === ":memory:" ? void 0 : await statfs(dirname(path));
        if (space === void 0) return { ok: true, freeBytes: void 0 };
        const freeBytes = space.bavail * space.bsize;
        if (freeBytes >= Math.min(200 * 2 ** 20, 0.05 * space.blocks * space.bsize))
          return { ok: true, freeBytes };
        return { ok: false, freeBytes, reason: `only ${Math.floor(freeBytes / 2 ** 20)} MB free at ${path}` };
      } catch (error) {
        return { ok: false, freeBytes: void 0, reason: messageOf(error) };
      }
    },
    async close() {
      if (!database.isOpen) return;
      await commits.close();
      await checkpoints.close();
      if (!database.isOpen) return;
      durability.close();
      database.close();
      lock?.release();
    }
  };
  return store;
}

export {
  deliveryStates,
  takeWorkerLock,
  migrations,
  openSqliteStore
};
