import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type ActionMemory, createActionMemory } from '../actions/memory.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { createBudgetLedger } from '../engine/budget/ledger.ts';
import type { BudgetLedger } from '../engine/budget/write-history.ts';
import { executionPrefix } from '../engine/evaluate-rules.ts';
import { standardDeliveryLifetimeMs } from '../engine/limits.ts';
import type { PlannedChange } from '../engine/proposal.ts';
import { isSent, type OneTimeGuard, type RunInput } from '../engine/run-context.ts';
import type { Clock } from '../platform/clock.ts';
import { count } from '../platform/count.ts';
import { messageOf } from '../platform/errors.ts';
import { isSameSecret } from '../platform/http/constant-time-equal.ts';
import { createRedactor } from '../platform/redactor.ts';
import type { ActionRunner } from './runner.ts';

/**
 * What a job remembers of earlier jobs, in a ref of the repository: the writes of the last hour, the commands and
 * one-time changes that were executed, and the ages of drift. The ref names a commit without a parent, whose one file
 * has two lines: the header with the seal, and the content as JSON. The content has digests, counters and times, and no
 * text of the forge. Each update is pushed on condition that the ref still names the commit that was read; otherwise
 * the ref is read again, and the update is made on its new content, so that jobs that run at the same time lose
 * nothing. An update that allows a write is pushed before the write is sent.
 */

/** State of a job. `refused`: the state cannot be used, so that nothing may be written. */
export type JobState =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'kept'; readonly state: KeptState };

const hourMs = 3_600_000;
/** Maximum size of the file. */
const maxBytes = 1024 * 1024;
/** Time for which executed commands and one-time changes are kept, unless the file becomes too large. */
const onceKeptMs = 90 * 86_400_000;
/** Time for which they are kept in any case: commands of older comments are not executed. */
const onceNeededMs = standardDeliveryLifetimeMs;
/** Maximum number of pushes for one update, if other jobs push in between. */
const maxAttempts = 60;
/** Maximum number of pushes that fail although no other job has pushed. */
const maxFailures = 3;
const gitTimeoutMs = 120_000;
const minSecretLength = 16;

const digest = z.string().regex(/^[\w-]{1,43}$/);
/** Digests of several rules are separated by commas. */
const digests = z.string().regex(/^[\w,-]{0,4096}$/);
const whole = z.number().int();
/** The content of the state. Everything that could be a text is a digest with a key. */
const StateBody = z.strictObject({
  /** Time from which the state is complete, in ms. Earlier writes are unknown. */
  fromMs: whole,
  /** One-time changes of jobs of runs up to this id may be missing. */
  floor: whole,
  /** Writes of the last hour by place, in the form of `engine/budget/ledger.ts`. */
  writes: z.record(
    digest,
    z.strictObject({
      at: z.iso.datetime(),
      writes: z.array(z.tuple([digest]).rest(z.array(z.union([digests, z.number()])))),
      reserved: z.array(z.never()),
    }),
  ),
  /** Executed commands and one-time changes: time in ms, id of the run, and the delivery of a command. */
  once: z.record(digest, z.union([z.tuple([whole, whole]), z.tuple([whole, whole, digest])])),
  /** First and last time of drift in ms, by rule, item and target. */
  drift: z.record(digest, z.record(digest, z.record(digest, z.tuple([whole, whole])))),
});
export type StateBody = z.output<typeof StateBody>;
type StoredWrites = StateBody['writes'][string];

/** A state as read from the ref, or as written. `oid`: the commit; undefined if the ref does not exist. */
type KnownState = { readonly oid: string | undefined; readonly counter: number; readonly body: StateBody };

type Edit = {
  readonly apply: (body: StateBody) => StateBody;
  readonly end: (failure?: { readonly error: unknown }) => void;
};

/**
 * Opens the state that the input `state` names. Returns the reason if it cannot be used: it has no valid seal, or it
 * was begun less than an hour ago, so that the writes of the hour before are unknown. Begins the state if the ref does
 * not exist. Call it only in jobs that may write. Throws if an input is invalid, or the ref cannot be read.
 */
export async function openState(
  runner: ActionRunner,
  {
    url,
    token,
    repository,
  }: { readonly url: string; readonly token: string; readonly repository: RepositoryRef },
): Promise<JobState> {
  const { ref, secret } = stateInputs(runner);
  if (ref === '') return { kind: 'none' };
  const place = `${url.replace(/\/+$/, '')}/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.name)}.git`;
  const remote = await RemoteRef.open({ url: place, ref, token, environment: runner.environment });
  const parts = {
    remote,
    clock: runner.clock,
    seal: new Seal(secret, ref, repository.id),
    run: runIdOf(runner),
  };
  try {
    const opened = await openKnown(parts, isBegunByHand(runner));
    if (opened.kind !== 'kept') await remote.close();
    return opened;
  } catch (error) {
    await remote.close();
    throw error;
  }
}

type StateParts = {
  readonly remote: RemoteRef;
  readonly clock: Clock;
  readonly seal: Seal;
  /** Id of the run of the workflow; 0 if the runner names none. */
  readonly run: number;
};

async function openKnown(parts: StateParts, isByHand: boolean): Promise<JobState> {
  const { remote, clock, seal, run } = parts;
  const nowMs = clock.now().getTime();
  for (let attempt = 1; ; attempt += 1) {
    const found = await remote.read();
    const known = found === undefined ? undefined : seal.open(found.text);
    if (known !== undefined && 'body' in known && !(isByHand && known.body.fromMs > nowMs - hourMs)) {
      const fullFrom = known.body.fromMs + hourMs;
      if (fullFrom > nowMs) return { kind: 'refused', why: youngWords(fullFrom) };
      return { kind: 'kept', state: new KeptState(parts, { ...known, oid: found?.oid }) };
    }
    if (known !== undefined && 'why' in known && !isByHand) {
      return {
        kind: 'refused',
        why: `the state ${known.why}, so no budget is left: start the workflow by hand with state-begin: true`,
      };
    }
    // The state begins: there is none, or a person asks for it. One that is valid keeps what it has.
    const kept = known !== undefined && 'body' in known ? known : undefined;
    const body: StateBody = {
      ...(kept?.body ?? { floor: run - 1, writes: {}, once: {}, drift: {} }),
      fromMs: isByHand ? nowMs - hourMs : nowMs,
    };
    const counter = (kept?.counter ?? 0) + 1;
    const oid = await remote.write(seal.close({ counter, body }), found?.oid);
    if (oid !== undefined) {
      if (isByHand) return { kind: 'kept', state: new KeptState(parts, { oid, counter, body }) };
      return { kind: 'refused', why: youngWords(nowMs + hourMs) };
    }
    if (attempt >= maxAttempts)
      throw new Error('the state cannot be begun: other jobs write it at the same time');
  }
}

function youngWords(fullMs: number): string {
  return `the state did not exist before, so the writes of the hour before are unknown, and no budget is left until ${new Date(fullMs).toISOString()}: wait, or start the workflow by hand with state-begin: true`;
}

function stateInputs(runner: ActionRunner): { readonly ref: string; readonly secret: string } {
  const [ref, secret] = [runner.input('state'), runner.input('state-secret')];
  runner.hide(secret);
  if (ref === '') return { ref, secret };
  // Gitea takes pushes to refs/for/ for pull requests, and other folders have meanings of their own.
  const isOwn = /^refs(\/[A-Za-z0-9][A-Za-z0-9_-]*){2,6}$/.test(ref) && ref.length <= 200;
  if (!isOwn || /^refs\/(heads|tags|pull|for|for-review|draft|notes|remotes|replace|reeve)\//.test(ref))
    throw new Error(
      `state is "${ref}": write a ref that is neither a branch nor a tag, such as refs/automation/state`,
    );
  if (secret.length < minSecretLength)
    throw new Error(
      `state-secret seals the state: set it to a secret of at least ${minSecretLength} characters, for example from: openssl rand -hex 32`,
    );
  return { ref, secret };
}

/** Returns whether a person with write access has started the job, and asks for the beginning of the state. */
function isBegunByHand(runner: ActionRunner): boolean {
  const { GITHUB_EVENT_NAME: trigger, GITHUB_RUN_ATTEMPT: attempt = '1' } = runner.environment;
  // A repeated run keeps its id, so runs between it and now would count as new.
  return runner.input('state-begin') === 'true' && trigger === 'workflow_dispatch' && attempt === '1';
}

/** Returns the id of the run of the workflow, which grows with each run and stays the same when a run is repeated. */
function runIdOf({ environment }: ActionRunner): number {
  const id = Number(environment.GITHUB_RUN_ID ?? '');
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

/** A state with a valid seal, whose updates are pushed. */
export class KeptState {
  readonly #parts: StateParts;
  #known: KnownState;
  readonly #first: number;
  #waiting: Edit[] = [];
  #isPushing = false;
  /** Stands for the run, in occasions without an event, if the runner names none. */
  readonly #unnamedRun = randomUUID();

  constructor(parts: StateParts, known: KnownState) {
    this.#parts = parts;
    this.#known = known;
    this.#first = known.counter;
  }

  /** The writes of the last hour. Reservations are not kept: no later job repeats the run of a job. */
  get ledger(): BudgetLedger {
    const { clock, seal } = this.#parts;
    const revise = async (name: string, edit: (value: unknown) => unknown): Promise<unknown> => {
      const key = seal.digestOf(name);
      let result: unknown;
      await this.#revise((body) => {
        const before = body.writes[key];
        // The cast is safe: the ledger reads only what it has written.
        result = edit(before);
        if (result === before || result === undefined) return body;
        const after: StoredWrites = { ...(result as StoredWrites), reserved: [] };
        if (JSON.stringify(after.writes) === JSON.stringify(before?.writes ?? [])) return body;
        return { ...body, writes: { ...body.writes, [key]: after } };
      });
      return result;
    };
    return createBudgetLedger({ now: () => clock.now(), store: { isShared: true, revise } });
  }

  /** A memory that keeps executed commands, and all other data as long as the process. */
  get memory(): ActionMemory {
    const { seal, run } = this.#parts;
    const own = createActionMemory();
    const current = (): StateBody => this.#known.body;
    const isKept = (key: string): boolean => key.startsWith(executionPrefix);
    const read = (body: StateBody, key: string): { delivery: string; at: string } | undefined => {
      const [atMs, , delivery] = body.once[seal.digestOf(key)] ?? [];
      return atMs === undefined ? undefined : { delivery: delivery ?? '', at: new Date(atMs).toISOString() };
    };
    const set = async (key: string, value: unknown): Promise<void> => {
      const { delivery, at } = value as { readonly delivery: string; readonly at: string };
      await this.#revise((body) => {
        const known = read(body, key);
        if (known !== undefined && known.delivery !== delivery)
          throw new Error(`another job executed the commands of the comment at ${known.at}`);
        return { ...body, once: { ...body.once, [seal.digestOf(key)]: [Date.parse(at), run, delivery] } };
      });
    };
    return {
      get: async (key) => (isKept(key) ? read(current(), key) : own.get(key)),
      set: (key, value) => (isKept(key) ? set(key, value) : own.set(key, value)),
      async revise(key, edit) {
        if (!isKept(key)) return own.revise(key, edit);
        const value = edit(read(current(), key));
        await set(key, value);
        return value;
      },
    };
  }

  /**
   * A guard that lets a one-time change be made once for each event and rule, or once for each item in a run of a
   * workflow with a schedule, also if the job is repeated.
   */
  get oneTime(): OneTimeGuard {
    const { seal, clock, run } = this.#parts;
    return async (changes, input) => {
      const occasion = this.#occasionOf(input);
      const sent = changes.filter((planned) => isSent(planned, input));
      const reasons = new Map<PlannedChange, string>();
      const recorded = new Map<PlannedChange, string>();
      if (sent.length === 0) return { reasons };
      await this.#revise((body) => {
        reasons.clear();
        recorded.clear();
        const added: Record<string, [number, number]> = {};
        for (const planned of sent) {
          const rules = planned.proposals.map(({ rule, step }) => `${rule.id} ${step}`).toSorted();
          const key = seal.digestOf(JSON.stringify(['once', occasion, rules, planned.change.target]));
          const [atMs] = body.once[key] ?? [];
          if (atMs !== undefined) reasons.set(planned, `${madeBefore} ${new Date(atMs).toISOString()}`);
          else if (run > 0 && run <= body.floor)
            reasons.set(planned, 'it is made once, and the state no longer knows the jobs of this time');
          else {
            added[key] = [clock.now().getTime(), run];
            recorded.set(planned, key);
          }
        }
        if (Object.keys(added).length === 0) return body;
        return { ...body, once: { ...body.once, ...added } };
      });
      const release = async (unmade: readonly PlannedChange[]): Promise<void> => {
        const keys = new Set(unmade.flatMap((planned) => recorded.get(planned) ?? []));
        if (keys.size === 0) return;
        await this.#revise((body) => ({
          ...body,
          once: Object.fromEntries(Object.entries(body.once).filter(([key]) => !keys.has(key))),
        }));
      };
      return { reasons, release };
    };
  }

  #occasionOf({ event, trigger }: RunInput): string {
    if (event !== undefined) return `${event.eventType} ${sortedJson(event.payload)}`;
    return `run ${this.#parts.run || this.#unnamedRun} ${trigger.item ?? ''}`;
  }

  /**
   * Records what a sweep of a rule found: the targets that differ, for each item that was processed. Returns the first
   * time of each, by item and target as one text. `isComplete`: items that were not processed no longer exist.
   */
  async noteDrift(
    rule: string,
    found: ReadonlyMap<string, readonly string[]>,
    { startedAt, isComplete }: { readonly startedAt: Date; readonly isComplete: boolean },
  ): Promise<ReadonlyMap<string, Date>> {
    const { seal, clock } = this.#parts;
    const [key, nowMs, startedMs] = [seal.digestOf(rule), clock.now().getTime(), startedAt.getTime()];
    const since = new Map<string, Date>();
    await this.#revise((body) => {
      const before = body.drift[key] ?? {};
      const after: Record<string, Record<string, [number, number]>> = {};
      for (const [item, targets] of Object.entries(before)) {
        // Another job may have found it meanwhile.
        const isRecent = Object.values(targets).some(([, seenMs]) => seenMs >= startedMs);
        if (!isComplete || isRecent) after[item] = targets;
      }
      for (const [item, targets] of found) {
        const itemKey = seal.digestOf(item);
        const entries = targets.map((target): [string, [number, number]] => {
          const targetKey = seal.digestOf(target);
          const firstMs = before[itemKey]?.[targetKey]?.[0] ?? nowMs;
          since.set(driftName(item, target), new Date(firstMs));
          return [targetKey, [firstMs, nowMs]];
        });
        if (entries.length === 0) delete after[itemKey];
        else after[itemKey] = Object.fromEntries(entries);
      }
      const { [key]: _gone, ...others } = body.drift;
      if (Object.keys(after).length === 0) return key in body.drift ? { ...body, drift: others } : body;
      return { ...body, drift: { ...others, [key]: after } };
    });
    return since;
  }

  /** Returns what the job did with the state, as one line. */
  describe(): string {
    const { counter } = this.#known;
    return counter === this.#first
      ? `state ${counter} is unchanged`
      : `state ${this.#first} became ${counter}`;
  }

  /** Removes the files of the job. */
  close(): Promise<void> {
    return this.#parts.remote.close();
  }

  /**
   * Makes an edit, and pushes the result. `apply` may be called several times, each time with the current content; only
   * the last call takes effect.
   */
  #revise(apply: (body: StateBody) => StateBody): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ apply, end: (failure) => (failure ? reject(failure.error) : resolve()) });
      if (!this.#isPushing) void this.#pushAll();
    });
  }

  /** Edits that wait for a push are pushed together. */
  async #pushAll(): Promise<void> {
    this.#isPushing = true;
    while (this.#waiting.length > 0) {
      const edits = this.#waiting.splice(0);
      try {
        for (const [edit, failure] of await this.#push(edits)) edit.end(failure);
      } catch (error) {
        for (const { end } of edits) end({ error });
      }
    }
    this.#isPushing = false;
  }

  async #push(edits: readonly Edit[]): Promise<ReadonlyMap<Edit, { readonly error: unknown } | undefined>> {
    const { remote, seal, clock } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      const before = this.#known;
      const ends = new Map<Edit, { readonly error: unknown } | undefined>();
      let body = before.body;
      for (const edit of edits) {
        try {
          body = edit.apply(body);
          ends.set(edit, undefined);
        } catch (error) {
          ends.set(edit, { error });
        }
      }
      if (body === before.body) return ends;
      const after = { counter: before.counter + 1, body: fitState(body, clock.now().getTime()) };
      const oid = await remote.write(seal.close(after), before.oid);
      if (oid !== undefined) {
        this.#known = { ...after, oid };
        return ends;
      }
      if (attempt >= maxAttempts)
        throw new Error(`the state cannot be written: other jobs wrote it ${attempt} times meanwhile`);
      await clock.sleep(Math.random() * Math.min(attempt * 50, 1_000));
      this.#known = await this.#readAgain(before);
    }
  }

  async #readAgain({ oid, counter }: KnownState): Promise<KnownState> {
    const { remote, seal } = this.#parts;
    const found = await remote.read();
    if (found === undefined) throw new Error('the state was deleted while the job ran');
    const known = seal.open(found.text);
    if ('why' in known) throw new Error(`the state ${known.why}`);
    if (found.oid !== oid && known.counter <= counter)
      throw new Error(`an older state was put back while the job ran: ${known.counter} after ${counter}`);
    return { ...known, oid: found.oid };
  }
}

/** Begins the reason against a one-time change that another job has made. Nothing is left to do, so it is no finding. */
export const madeBefore = 'it is made once, and a job made it, or tried to, at';

/** Returns the name of a target of an item in the result of `noteDrift`. */
export function driftName(item: string, target: string): string {
  return `${item} ${target}`;
}

/**
 * Returns the content without what has expired. If it is still too large, first ages of drift are dropped, then the
 * oldest one-time changes, with a floor, below which all count as made. Throws if that is not enough.
 */
export function fitState(body: StateBody, nowMs: number): StateBody {
  let fitted: StateBody = {
    ...dropOnce(body, nowMs - onceKeptMs),
    writes: Object.fromEntries(
      Object.entries(body.writes).filter(([, { at }]) => Date.parse(at) > nowMs - hourMs),
    ),
  };
  const isTooLarge = (): boolean => Buffer.byteLength(JSON.stringify(fitted)) > maxBytes - maxHeaderBytes;
  while (isTooLarge() && Object.keys(fitted.drift).length > 0)
    fitted = { ...fitted, drift: newerHalf(fitted.drift) };
  while (isTooLarge()) {
    const times = Object.values(fitted.once).map(([atMs]) => atMs);
    const old = times.filter((atMs) => atMs < nowMs - onceNeededMs).toSorted((a, b) => a - b);
    const middleMs = old[Math.floor(old.length / 2)];
    if (middleMs === undefined)
      throw new Error(
        `the state is full: it has ${count(times.length, 'command')} and one-time changes of the last seven days, and forgets none of them`,
      );
    fitted = dropOnce(fitted, middleMs + 1);
  }
  return fitted;
}

function dropOnce(body: StateBody, beforeMs: number): StateBody {
  const entries = Object.entries(body.once);
  const gone = entries.filter(([, [atMs]]) => atMs < beforeMs);
  if (gone.length === 0) return body;
  return {
    ...body,
    // Runs without an id are in no order.
    floor: Math.max(body.floor, ...gone.flatMap(([, [, run]]) => (run > 0 ? [run] : []))),
    once: Object.fromEntries(entries.filter(([, [atMs]]) => atMs >= beforeMs)),
  };
}

/** Returns the half of the drift that was seen last; nothing of a single one. */
function newerHalf(drift: StateBody['drift']): StateBody['drift'] {
  const all = Object.entries(drift).flatMap(([rule, items]) =>
    Object.entries(items).flatMap(([item, targets]) =>
      Object.entries(targets).map(([target, times]) => ({ rule, item, target, times })),
    ),
  );
  const newest = all.toSorted((a, b) => b.times[1] - a.times[1]).slice(0, Math.floor(all.length / 2));
  const left: StateBody['drift'] = {};
  for (const { rule, item, target, times } of newest) {
    left[rule] ??= {};
    const items = left[rule];
    items[item] = { ...items[item], [target]: times };
  }
  return left;
}

/** Returns JSON that does not depend on the order of members. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

const maxHeaderBytes = 200;
const headerPattern = /^reeve-state 1 (\d{1,15}) (\d{1,15}) ([0-9a-f]{64})$/;

/** Seals states with a secret, and checks their seals. A seal is bound to the repository, the ref and the counter. */
class Seal {
  readonly #secret: string;
  readonly #ref: string;
  readonly #repositoryId: number;

  constructor(secret: string, ref: string, repositoryId: number) {
    this.#secret = secret;
    this.#ref = ref;
    this.#repositoryId = repositoryId;
  }

  /** Returns the digest of a text, which cannot be found from the text without the secret. */
  digestOf(text: string): string {
    return this.#hmac(`digest\n${text}`).toString('base64url').slice(0, 16);
  }

  /** Returns the file of a state. */
  close({ counter, body }: { readonly counter: number; readonly body: StateBody }): string {
    const json = JSON.stringify(body);
    return `reeve-state 1 ${this.#repositoryId} ${counter} ${this.#sealOf(counter, json)}\n${json}\n`;
  }

  /** Returns a state from its file, or why it cannot be used. */
  open(text: string): Omit<KnownState, 'oid'> | { readonly why: string } {
    if (Buffer.byteLength(text) > maxBytes) return { why: 'is larger than 1 MiB' };
    const [header = '', json = ''] = text.split('\n');
    const [, id, number, seal = ''] = headerPattern.exec(header) ?? [];
    if (id === undefined) return { why: 'has no seal' };
    if (Number(id) !== this.#repositoryId) return { why: `belongs to another repository, ${id}` };
    const counter = Number(number);
    if (!isSameSecret(seal, this.#sealOf(counter, json)))
      return { why: 'has a wrong seal: it was made with another secret, or changed' };
    // Only a version of Reeve with this secret has made it, possibly another one.
    const parsed = StateBody.safeParse(JSON.parse(json));
    if (!parsed.success) return { why: 'was written by another version of Reeve' };
    return { counter, body: parsed.data };
  }

  #sealOf(counter: number, json: string): string {
    return this.#hmac(`state 1\n${this.#repositoryId}\n${this.#ref}\n${counter}\n${json}`).toString('hex');
  }

  #hmac(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(text).digest();
  }
}

/** Name of the file in the commit. */
const fileName = 'state';
/** The ref in the job's own repository under which the commit is read. */
const readRef = 'refs/read/state';
const writtenRef = 'refs/written/state';

/** Variables of the runner that lead git to the forge. */
const passedOn = [
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  ...['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]),
];

/** A ref of the repository on the forge, read and written with git from a temporary repository. */
class RemoteRef {
  readonly #url: string;
  readonly #ref: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #redact: (text: string) => string;
  #isReady = false;

  private constructor({ url, ref, token, environment }: RemoteOptions, folder: string) {
    const login = `Basic ${Buffer.from(`reeve:${token}`).toString('base64')}`;
    // The token is in the environment, because other accounts of the host can read arguments.
    const settings = [
      ['http.extraHeader', `Authorization: ${login}`],
      ['http.followRedirects', 'false'],
      ['http.lowSpeedLimit', '1'],
      ['http.lowSpeedTime', '60'],
      ['credential.helper', ''],
      ['fetch.fsckObjects', 'true'],
    ];
    const given = passedOn.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    });
    const certificates = environment.NODE_EXTRA_CA_CERTS;
    this.#environment = Object.fromEntries([
      ...(certificates ? [['GIT_SSL_CAINFO', certificates]] : []),
      ...given,
      ['PATH', environment.PATH ?? process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'],
      ['HOME', folder],
      ['LC_ALL', 'C'],
      ['GIT_DIR', folder],
      ['GIT_TERMINAL_PROMPT', '0'],
      ['GIT_CONFIG_NOSYSTEM', '1'],
      ['GIT_CONFIG_GLOBAL', '/dev/null'],
      ['GIT_CONFIG_COUNT', String(settings.length)],
      ...settings.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ]);
    this.#url = url;
    this.#ref = ref;
    this.#folder = folder;
    this.#redact = createRedactor([token, login]);
  }

  static async open(options: RemoteOptions): Promise<RemoteRef> {
    return new RemoteRef(options, await mkdtemp(join(tmpdir(), 'reeve-state-')));
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Returns the commit of the ref and the text of its file; undefined if the ref does not exist. */
  async read(): Promise<{ readonly oid: string; readonly text: string } | undefined> {
    if ((await this.#listed()) === undefined) return undefined;
    const fetched = ['fetch', '--quiet', '--no-tags', '--depth=1', '--no-write-fetch-head'];
    await this.#git([...fetched, '--', this.#url, `+${this.#ref}:${readRef}`]);
    const file = `${readRef}:${fileName}`;
    const found = await this.#git(['cat-file', '--batch-check'], `${readRef}\n${file}\n`);
    const [[oid = ''] = [], [, type, size] = []] = found.split('\n').map((line) => line.split(' '));
    // A file that is missing or too large has no valid seal.
    if (type !== 'blob') return { oid, text: '' };
    if (Number(size) > maxBytes) return { oid, text: ' '.repeat(maxBytes + 1) };
    return { oid, text: await this.#git(['cat-file', 'blob', file]) };
  }

  /**
   * Writes a commit with the text, on condition that the ref still names the commit `before`, or does not exist. Returns
   * the new commit; undefined if another one has come before.
   */
  async write(text: string, before: string | undefined): Promise<string | undefined> {
    await this.#ready();
    // Two jobs that write the same state must not make the same commit: the second push would count as accepted.
    const message = `Reeve: state of jobs\n\n${randomUUID()}\n`;
    const stream = [
      `reset ${writtenRef}\ncommit ${writtenRef}\nmark :1\ncommitter Reeve <reeve@localhost> now`,
      `data ${message.length}\n${message}`,
      `M 100644 inline ${fileName}\ndata ${Buffer.byteLength(text)}\n${text}`,
      'get-mark :1\ndone\n',
    ];
    const importing = ['fast-import', '--quiet', '--done', '--force', '--date-format=now'];
    const oid = (await this.#git(importing, stream.join('\n'))).trim();
    const lease = `--force-with-lease=${this.#ref}:${before ?? ''}`;
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#git(['push', '--quiet', '--no-verify', lease, '--', this.#url, `${oid}:${this.#ref}`]);
        return oid;
      } catch (error) {
        // The push may have arrived although its answer did not.
        const now = await this.#listed();
        if (now === oid) return oid;
        if (now !== before) return undefined;
        if (failures >= maxFailures)
          throw new Error(
            `the state cannot be written: ${messageOf(error)}; the token needs write access to the code (permissions: contents: write)`,
          );
      }
    }
  }

  /** Returns the commit of the ref on the forge. */
  async #listed(): Promise<string | undefined> {
    const lines = (await this.#git(['ls-remote', '--', this.#url, 'HEAD', this.#ref])).split('\n');
    const rows = lines.filter((line) => line !== '').map((line) => line.split('\t'));
    if (!this.#isReady) await this.#init(rows.some(([oid = '']) => oid.length === 64));
    return rows.find(([, name]) => name === this.#ref)?.[0];
  }

  async #ready(): Promise<void> {
    if (!this.#isReady) await this.#listed();
  }

  /** Creates the repository, with the hash of the one on the forge. */
  async #init(isSha256: boolean): Promise<void> {
    const format = isSha256 ? 'sha256' : 'sha1';
    await this.#git(['init', '--bare', '--quiet', '--template=', `--object-format=${format}`]);
    this.#isReady = true;
  }

  async #git(args: readonly string[], input = ''): Promise<string> {
    const child = spawn('git', args, {
      cwd: this.#folder,
      env: this.#environment,
      timeout: gitTimeoutMs,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output: Buffer[] = [];
    let said = '';
    child.stdout.on('data', (bytes: Buffer) => output.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => {
      if (said.length < 2_000) said += bytes.toString();
    });
    // git may end before it has read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      if (code === 0) return Buffer.concat(output).toString();
      const words = said
        .trim()
        .replaceAll(/\s*\n\s*/g, '; ')
        .slice(0, 500);
      throw new Error(`git ${args[0]} of the state: ${words || `it ended with ${code ?? 'a signal'}`}`);
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (isMissing) throw new Error('state needs the program git in the container of the job');
      throw new Error(this.#redact(messageOf(error)));
    }
  }
}

type RemoteOptions = {
  readonly url: string;
  readonly ref: string;
  readonly token: string;
  readonly environment: ActionRunner['environment'];
};
