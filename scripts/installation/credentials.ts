import { createHmac, randomUUID } from 'node:crypto';

/** The `Authorization` header and the secret that an installation has unless it is given others. */
export const authorization = 'Bearer only-for-drills-on-loopback';
export const secret = 'only-for-drills-on-loopback';

/** Returns the headers of a delivery, signed as the forge signs. */
export function headersOf(body: string | Buffer, eventType: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization,
    'x-gitea-delivery': randomUUID(),
    'x-gitea-event': eventType,
    'x-gitea-event-type': eventType,
    'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
  };
}
