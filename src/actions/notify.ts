import { z } from 'zod';
import { type Subject, subjectKinds } from '../contract/events/subject.ts';
import { condition, defineAction, template } from './action.ts';
import { irreversible } from './inverses.ts';
import { fingerprintSecret, SecretForm } from './secret-form.ts';
import {
  digestOf,
  messageOperation,
  type OutgoingMessage,
  outgoingMessageOf,
  recallMessage,
  rememberMessage,
  subjectKey,
  touchMessage,
} from './sent-messages.ts';

/** Maximum size of a message, in bytes. */
const maxBytes = 64 * 1024;

type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A JSON value whose strings are templates. */
const JsonForm: z.ZodType<JsonValue> = z.lazy(() =>
  z.union([
    template({ lines: true }),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(JsonForm),
    z.record(z.string(), JsonForm),
  ]),
);

const NotifyForm = z
  .strictObject({
    to: SecretForm.meta({
      description:
        'The secret with the URL of the receiver: `{ secret: NAME }`. It begins with https:// unless its host is listed under `notify-hosts` in the operator file.',
    }),
    text: template({ lines: true })
      .min(1)
      .max(60_000)
      .optional()
      .meta({ description: 'The message as plain text.' }),
    json: z.record(z.string(), JsonForm).optional().meta({
      description:
        'The message as JSON, instead of `text`. Its texts may contain expressions; a text that is one expression has the type of its value.',
    }),
    key: template().min(1).max(100).default('main').meta({
      description:
        'Distinguishes the messages of one rule about one subject: each key has a last content. A key that changes, for example with the week, repeats a message.',
    }),
    when: condition().optional().meta({
      description:
        'The message is sent while this condition holds; default: always. Once it was false, the same content is sent again.',
    }),
  })
  .refine((given) => (given.text === undefined) !== (given.json === undefined), {
    message: 'specify either text or json',
  });
type NotifyForm = z.output<typeof NotifyForm>;

/** Sends a message to a receiver other than the forge, once for each change of its content. */
export const notify = defineAction<NotifyForm>({
  name: 'notify',
  meaning:
    'Posts a text or JSON to the URL that a secret contains, such as a chat’s incoming webhook. A message is sent once: again only if its content differs from the last one of its key about the same subject, or if `when` was false in between. Delivery is at least once: after a crash between sending and recording, the same message is sent again with the same `Idempotency-Key` header. If the receiver does not take it (5xx, 429, no answer within 10 s), it is tried three times at once, and later with its delivery. Redirects are not followed. Only public addresses are connected to, and those that the operator lists (`notify-hosts`). The CI action sends no messages. A message cannot be taken back.',
  example: `uses: notify
with:
  to: { secret: CHAT_HOOK }
  when: issue.state == "open" && labels.exists(l, l.name == "urgent")
  json: { text: "Urgent: \${{ issue.title }} \${{ issue.html_url }}" }
`,
  arguments: NotifyForm,
  of: subjectKinds,
  // No request is sent to the forge.
  needs: { access: 'anyone', scopes: [] },
  describesState: false,
  needsMemory: true,
  granted: false,
  onlyFor: 'operator',
  visibleTo: 'administrators',
  inverses: { [messageOperation]: irreversible('a message that was sent cannot be taken back') },
  adoption: undefined,
  facts: () => [],
  async plan(given, { subject }, context) {
    const { to, key, when = true } = given;
    const fingerprint = fingerprintSecret(to, context) ?? '';
    const place = digestOf(subjectKey(subject), context.rule, key, to.secret);
    const known = await recallMessage(context.memory, place);
    if (!when) {
      await touchMessage(place, null, known, context);
      return [];
    }
    const { type, content, value } = contentOf(given);
    const digest = digestOf(type, content);
    const isSent = known?.digest === digest;
    if (isSent) await touchMessage(place, digest, known, context);
    const number = (known?.number ?? 0) + (isSent ? 0 : 1);
    // The fingerprint distinguishes two installations that send to the same receiver, because their fingerprint keys
    // differ.
    const id = `${place}.${number}.${digestOf(digest, fingerprint)}`;
    return [
      {
        action: 'notify',
        operation: messageOperation,
        input: { body: { to, id, type, content } satisfies OutgoingMessage },
        target: `message:${context.rule}/${key} to ${to.secret}${whereOf(subject)}`,
        value,
        before: isSent ? value : known?.digest ? 'another message' : null,
        after: value,
        // An empty list still causes a new plan immediately before sending, because another run may have sent the
        // message in the meantime.
        reads: [],
        ...(isSent
          ? { already: true, reason: 'already sent with this content' }
          : { reason: known?.digest ? 'its content has changed' : 'the rule sends a message' }),
      },
    ];
  },
  async remember(change, _answer, context) {
    const { id, type, content } = outgoingMessageOf(change.input);
    const [place = '', number] = id.split('.');
    await rememberMessage(place, { digest: digestOf(type, content), number: Number(number) }, context);
  },
});

function contentOf({ text, json }: NotifyForm): { type: string; content: string; value: unknown } {
  const isText = text !== undefined;
  const content = isText ? text : JSON.stringify(json);
  const bytes = Buffer.byteLength(content);
  if (bytes > maxBytes) throw new Error(`the message has ${bytes} bytes; the maximum is ${maxBytes}`);
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
  return { type, content, value: isText ? text : json };
}

function whereOf({ index, ref, milestone, thread }: Subject): string {
  if (index !== undefined) return ` on #${index}`;
  if (ref !== undefined) return ` on ${ref}`;
  if (milestone !== undefined) return ` on milestone ${milestone}`;
  return thread === undefined ? '' : ` on thread ${thread}`;
}
