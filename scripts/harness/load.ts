import { setTimeout as pause } from 'node:timers/promises';
import { createSender, headersOf, type Sender } from './sender.ts';

type Kind = 'served' | 'foreign' | 'unknown' | 'repeated' | 'forged' | 'large';
/** Statuses of an accepted or already known delivery: a repeat may overtake the original. */
const taken = [202, 200];
/** Kinds of deliveries, with their shares and expected statuses. */
const kinds: Readonly<Record<Kind, { readonly share: number; readonly statuses: readonly number[] }>> = {
  /** About an issue of the served repository: a rule reads the issue and compares its labels. */
  served: { share: 0.25, statuses: taken },
  /** Of a repository that is not served. */
  foreign: { share: 0.4, statuses: taken },
  /** Of a type that no version knows. */
  unknown: { share: 0.2, statuses: taken },
  /** With the UUID of an earlier delivery. */
  repeated: { share: 0.08, statuses: taken },
  /** An address that sends too many wrong deliveries is rate-limited. */
  forged: { share: 0.05, statuses: [401, 429] },
  large: { share: 0.02, statuses: [413] },
};

export type LoadTarget = {
  readonly url: string;
  readonly authorization: string;
  readonly secret: string;
  /** Size larger than Reeve accepts. */
  readonly tooLargeBytes: number;
  /** Repository and issues for `served`, as the forge describes them. */
  readonly repository: { readonly id: number; readonly full_name: string; readonly owner: object };
  readonly issues: readonly { readonly number: number }[];
  /** `uuid`: of a delivery that was acknowledged for the first time. */
  readonly onAnswer: (answer: {
    readonly uuid: string | undefined;
    /** Kind and status, if another status was expected. */
    readonly wrong: string | undefined;
    readonly ms: number;
  }) => void;
};

export interface Load {
  /** Sends at this rate per second until `isOver` returns true. */
  sendAt(perSecond: number, isOver: () => boolean): Promise<void>;
  /** Sends as fast as `connections` permit; returns how many new deliveries were acknowledged. */
  sendFast(connections: number, isOver: () => boolean): Promise<number>;
}

/**
 * Maximum number of deliveries without a response. When it is reached, the load waits; a forge that is slower than its
 * events does not drop any either.
 */
const maxInFlight = 64;
const tickMs = 20;

/** Creates deliveries of all kinds, mixed according to their shares, in a fixed order. */
export function createLoad(target: LoadTarget): Load {
  const order = Object.entries(kinds).flatMap(([kind, { share }]) =>
    Array<Kind>(Math.round(share * 100)).fill(kind as Kind),
  );
  let sent = 0;
  let last: Made | undefined;

  const next = (): { readonly kind: Kind; readonly made: Made } => {
    // 37 and 100 have no common factor, so the kinds take turns.
    const kind = order[(sent * 37) % order.length] ?? 'foreign';
    sent += 1;
    if (kind === 'repeated' && last !== undefined) return { kind, made: last };
    const made = make(kind === 'repeated' ? 'foreign' : kind, sent, target);
    if (kind !== 'forged' && kind !== 'large') last = made;
    return { kind, made };
  };
  const send = async (sender: Sender): Promise<boolean> => {
    const { kind, made } = next();
    const startMs = performance.now();
    const { status, text } = await sender.send(`${target.url}/webhook`, made);
    // A killed server refuses connections at once.
    if (status === 0) await pause(5);
    const isNew = status === 202;
    const uuid = isNew ? made.headers['x-gitea-delivery'] : undefined;
    const wrong = kinds[kind].statuses.includes(status)
      ? undefined
      : `${kind} ${status === 0 ? text : status}`;
    target.onAnswer({ uuid, wrong, ms: performance.now() - startMs });
    return isNew;
  };

  return {
    async sendAt(perSecond, isOver) {
      const sender = createSender(maxInFlight);
      const inFlight = new Set<Promise<unknown>>();
      let due = 0;
      let atMs = performance.now();
      while (!isOver()) {
        await pause(tickMs);
        const nowMs = performance.now();
        due = Math.min(due + ((nowMs - atMs) / 1_000) * perSecond, perSecond);
        atMs = nowMs;
        for (; due >= 1 && inFlight.size < maxInFlight; due -= 1) {
          const sending: Promise<unknown> = send(sender).finally(() => inFlight.delete(sending));
          inFlight.add(sending);
        }
      }
      await Promise.all(inFlight);
      sender.close();
    },
    async sendFast(connections, isOver) {
      const sender = createSender(connections);
      let accepted = 0;
      const line = async (): Promise<void> => {
        while (!isOver()) if (await send(sender)) accepted += 1;
      };
      await Promise.all(Array.from({ length: connections }, line));
      sender.close();
      return accepted;
    },
  };
}

type Made = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

function make(kind: Exclude<Kind, 'repeated'>, number: number, target: LoadTarget): Made {
  const sender = { id: 5, login: 'ada' };
  const about = { at: number, sender, pad: 'x'.repeat(kind === 'large' ? target.tooLargeBytes : 600) };
  const issue = target.issues[number % target.issues.length];
  const elsewhere = {
    id: 900_000 + (number % 40),
    full_name: `else/tool-${number % 40}`,
    owner: { id: 9, login: 'else' },
  };
  const payload =
    kind === 'served'
      ? { action: 'edited', number: issue?.number, issue, repository: target.repository, ...about }
      : {
          ref: 'refs/heads/main',
          before: String(number),
          after: `${number}a`,
          repository: elsewhere,
          ...about,
        };
  const type = { served: 'issues', unknown: 'moon_landing' }[kind as 'served'] ?? 'push';
  const body = JSON.stringify(payload);
  const headers = headersOf(body, type, target);
  const signature = headers['x-gitea-signature'] ?? '';
  const forged = { ...headers, 'x-gitea-signature': signature.split('').toReversed().join('') };
  return { body, headers: kind === 'forged' ? forged : headers };
}
