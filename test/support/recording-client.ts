import { capabilitiesOf } from '../../src/client/capabilities.ts';
import type { Client } from '../../src/client/client.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';

/** Write as it would have been sent. */
type Sent = { readonly operation: Operation; readonly input: AnyInput };

/** Creates a test double of a client that sends nothing and records its writes. Reads through this client fail. */
export function makeRecordingClient(): Client & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const client: Client & { sent: Sent[] } = {
    sent,
    requests: 0,
    denials: 0,
    requestList: { requests: [], leftOut: 0 },
    counted: () => client,
    capabilities: async () => capabilitiesOf('1.27.0'),
    async call() {
      throw new Error('nothing is read through this client');
    },
    // biome-ignore lint/correctness/useYield: it is never read.
    async *items() {
      throw new Error('nothing is read through this client');
    },
    // biome-ignore lint/correctness/useYield: it is never read.
    async *pages() {
      throw new Error('nothing is read through this client');
    },
    async send(operation: Operation, input: AnyInput) {
      sent.push({ operation, input });
      return undefined;
    },
  };
  return client;
}
