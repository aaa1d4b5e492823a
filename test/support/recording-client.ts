import { capabilitiesOf } from '../../src/client/capabilities.ts';
import type { Client } from '../../src/client/client.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';

/** One write as it would have left. */
type Sent = { readonly operation: Operation; readonly input: AnyInput };

/** A double of a client that sends nothing and keeps what it was told to send. Reading through it fails. */
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
