import type { Notice } from '../store.ts';
import type { Connections } from './connections.ts';

/**
 * Sends notifications between the processes of a schema through the server. The id of the sender alone means new work;
 * a notice follows the id after a space.
 */
type Announcer = {
  /** Notifies the other processes of new work. */
  announce(): void;
  announceNotice(notice: Notice): void;
  /** Sends the pending notifications. */
  finish(): Promise<void>;
};

/** Minimum interval between notifications to other processes. */
const announceMs = 20;
/** Maximum payload in bytes, because the server limits it. */
const maxPayload = 7_000;
/** Maximum number of notices sent at once. More are combined into one. */
const maxNotices = 200;

/** Creates the announcer. A lost notification only delays the others until their next poll. */
export function createAnnouncer(
  database: Connections,
  channel: string,
  sender: { readonly id: string | undefined },
): Announcer {
  const waiting = new Map<string, Notice | undefined>();
  let sending: Promise<void> | undefined;
  let rest: NodeJS.Timeout | undefined;

  const send = (): void => {
    if (waiting.size === 0 || rest !== undefined || sending !== undefined) return;
    const payloads = payloadsOf([...waiting.values()], sender.id ?? '');
    waiting.clear();
    sending = database
      .query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [channel, payloads])
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        sending = undefined;
        rest = setTimeout(() => {
          rest = undefined;
          send();
        }, announceMs).unref();
      });
  };
  const add = (key: string, notice?: Notice): void => {
    waiting.set(key, notice);
    send();
  };
  return {
    announce: () => add(''),
    announceNotice: (notice) => add(`${notice.topic} ${notice.key}`, notice),
    async finish() {
      await sending;
      clearTimeout(rest);
      rest = undefined;
      send();
      await sending;
      clearTimeout(rest);
    },
  };
}

function payloadsOf(notices: readonly (Notice | undefined)[], sender: string): readonly string[] {
  const texts = notices.map((notice) => (notice ? `${sender} ${notice.topic} ${notice.key}` : sender));
  const isTooMuch =
    notices.length > maxNotices ||
    texts.some((text) => Buffer.byteLength(text) > maxPayload || text.includes('\0'));
  return isTooMuch ? [sender, `${sender} everything `] : texts;
}

/** Parses a notification. A notification without a notice announces work. */
export function readNotification(payload: string): { readonly from: string; readonly notice?: Notice } {
  const [from = '', topic, ...key] = payload.split(' ');
  if (topic === undefined) return { from };
  return { from, notice: isTopic(topic) ? { topic, key: key.join(' ') } : { topic: 'everything', key: '' } };
}

const topics: Readonly<Record<Notice['topic'], true>> = {
  rules: true,
  repository: true,
  facts: true,
  everything: true,
};

/** Returns whether the topic is known. A later version may use topics that this version does not know. */
function isTopic(text: string): text is Notice['topic'] {
  return Object.hasOwn(topics, text);
}
