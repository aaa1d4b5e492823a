import type { PutRunners } from './place.ts';

const about = (name: string) => ({ name, version: 'v1.0.0', labels: ['linux'] });

/** Returns what registers runners at a server, by the protocol that runners speak (Connect, in JSON). */
export function registerRunners(url: string): PutRunners {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { token: string };
  };
  return async (organization, token, count) => {
    const path = `/api/v1/orgs/${organization}/actions/runners/registration-token`;
    const registration = await post(path, {}, { authorization: `token ${token}` });
    for (let at = 0; at < count; at += 1) {
      const name = `runner-${at}`;
      await post('/api/actions/runner.v1.RunnerService/Register', {
        ...about(name),
        token: registration.token,
      });
    }
  };
}

/** Runners that were put into an embedded forge, by its address: the control route takes those of the whole forge. */
const put = new Map<string, object[]>();

/** Returns what puts runners into an embedded forge through its control route. */
export function putRunnersByControl(url: string, controlToken: string): PutRunners {
  const all = put.get(url) ?? [];
  put.set(url, all);
  return async (organization, _token, count) => {
    for (let at = 0; at < count; at += 1) {
      all.push({ name: `runner-${at}`, owner: organization, labels: ['linux'], state: 'idle' });
    }
    const response = await fetch(`${url}/-/control/runners`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(all),
    });
    if (!response.ok) throw new Error(`runners: ${response.status} ${await response.text()}`);
  };
}
