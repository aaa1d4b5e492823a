import { createHmac, randomUUID } from 'node:crypto';
import { authorization, secret } from './secrets.ts';

export type WebhookRequest = { method: 'POST'; headers: Record<string, string>; body: string };

/** Returns a push of about 8 KB with headers as a forge sends them; no two are alike, so that none is a repeat. */
export function makeRequest(repositoryId = 7): WebhookRequest {
  const uuid = randomUUID();
  const commit = {
    id: uuid,
    message: 'a commit message of ordinary length',
    added: [],
    removed: [],
    modified: ['src/a.ts'],
  };
  const repository = {
    id: repositoryId,
    name: 'tool',
    full_name: 'acme/tool',
    owner: { id: 3, login: 'acme' },
  };
  const commits = Array.from({ length: 52 }, () => commit);
  const sender = { id: 5, login: 'ada' };
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before: uuid,
    after: uuid,
    commits,
    repository,
    sender,
  });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    authorization,
    'x-gitea-delivery': uuid,
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
    'x-gitea-signature': signature,
    'x-github-delivery': uuid,
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { method: 'POST', headers, body };
}
