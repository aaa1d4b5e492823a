import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createActionMemory } from '../../src/actions/memory.ts';
import { notify } from '../../src/actions/notify.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import type { Client } from '../../src/client/client.ts';
import { applyPlan } from '../../src/engine/apply.ts';
import { makePlan } from '../../src/engine/plan.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import type { Message, SendMessage } from '../../src/platform/http/message-sender.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainRule } from '../support/plain-rule.ts';

const url = 'https://chat.example.org/T0K3N';
const secrets = createNamedSecrets(new Map([['CHAT', url]]), new Uint8Array(32));
const rule = plainRule();

/**
 * The fate of a message: received and recorded; not received; or received while the process ends before recording it.
 */
const fate = fc.constantFrom('taken', 'taken', 'not taken', 'lost');
const step = fc.record({
  text: fc.constantFrom('a', 'b', 'c'),
  when: fc.constantFrom(true, true, true, false),
  fate,
  /** Number of times the message is planned concurrently: by a webhook and by a sweep about the same subject. */
  plans: fc.integer({ min: 1, max: 2 }),
});

it('every change of the content is received, with one id per message', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const memory = createActionMemory();
      const context = makeContext({ memory, secrets });
      const received: Message[] = [];
      const expected: { readonly text: string; readonly key: string }[] = [];
      /** Model: the content recorded last, and the number of recorded messages. */
      let last: string | null = null;
      let number = 0;

      for (const { text, when, fate: how, plans } of steps) {
        const send: SendMessage = async (message) => {
          if (how === 'not taken') throw new ReeveError('message-unsent', 'the receiver answered 503');
          received.push(message);
          if (how === 'lost') throw new Error('the process ends here');
        };
        const given = { to: { secret: 'CHAT' }, key: 'main', text, when };
        const planned = await Promise.all(
          Array.from({ length: plans }, async () => {
            const changes = await notify.plan(given, makeFacts(), context);
            const proposal = { rule, step: '1', action: notify as never, arguments: given, context, changes };
            return makePlan([proposal]).changes;
          }),
        );
        for (const changes of planned)
          await applyPlan({ changes, facts: makeFacts(), client: {} as Client, secrets, send });

        if (!when) {
          last = null;
          continue;
        }
        if (text === last || how === 'not taken') continue;
        // A lost message is sent again for each of its plans.
        const times = how === 'lost' ? plans : 1;
        for (let time = 0; time < times; time += 1) expected.push({ text, key: `${number} ${text}` });
        if (how === 'lost') continue;
        last = text;
        number += 1;
      }

      expect(received.map(({ content }) => content)).toEqual(expected.map(({ text }) => text));
      const idOf = new Map(expected.map(({ key }, place) => [key, received[place]?.id]));
      expect(received.map(({ id }) => id)).toEqual(expected.map(({ key }) => idOf.get(key)));
      expect(new Set(idOf.values()).size).toBe(idOf.size);
      expect(received.every((message) => message.url === url && message.secret === 'CHAT')).toBe(true);
    }),
    { numRuns: process.env.LONG ? 5_000 : 300 },
  );
});
