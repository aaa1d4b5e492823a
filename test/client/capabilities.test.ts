import { afterEach, describe, expect, it } from 'vitest';
import {
  type Capability,
  capabilitiesOf,
  findCapabilities,
  unsupportedReason,
} from '../../src/client/capabilities.ts';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

describe('the capabilities of a version', () => {
  const cases: readonly [string, Capability, boolean][] = [
    ['1.27.0', 'bypass_allowlist', true],
    ['1.27.0+dev-1277-g9d3f04eb7e', 'bypass_allowlist', true],
    ['1.26.3', 'bypass_allowlist', false],
    ['1.26.3', 'hook_names', true],
    ['1.25.4', 'hook_names', false],
    ['1.25.4', 'contents_ext', true],
    ['1.24.0', 'contents_ext', false],
    ['1.22.6', 'branch_protection_priority', false],
    ['2.0.0', 'runner_disabled', true],
    ['1.27.0', 'apply_to_admins', false],
    ['15.0.3+gitea-1.22.0', 'bypass_allowlist', false],
    ['15.0.3+gitea-1.22.0', 'status_events', false],
    ['1.24.0', 'hook_package_edit', true],
    ['1.23.8', 'hook_package_edit', false],
    ['15.0.3+gitea-1.22.0', 'hook_package_edit', false],
    ['1.26.3', 'hook_header_removal', true],
    ['15.0.3+gitea-1.22.0', 'hook_header_removal', false],
    ['15.0.3+gitea-1.22.0', 'apply_to_admins', true],
    ['17.0.0-dev-1024-abc+gitea-1.22.0', 'label_delete_by_name', true],
    ['1.24.0', 'branches_before_tags', true],
    ['1.23.8', 'branches_before_tags', false],
    ['15.0.3+gitea-1.22.0', 'branches_before_tags', false],
    ['1.25.0', 'organization_public_again', true],
    ['1.24.7', 'organization_public_again', false],
    ['15.0.3+gitea-1.22.0', 'organization_public_again', false],
    ['', 'bypass_allowlist', true],
  ];

  it.each(cases)('%s, %s: %s', (version, capability, expected) => {
    expect(capabilitiesOf(version).has[capability]).toBe(expected);
  });

  it('names what is missing, and nothing if all is supported', () => {
    expect(unsupportedReason(capabilitiesOf('1.25.0'), ['contents_ext', 'hook_names'])).toBe(
      'this forge (1.25.0) does not support names of hooks',
    );
    expect(unsupportedReason(capabilitiesOf('1.27.0'), ['contents_ext', 'hook_names'])).toBeUndefined();
  });
});

describe('detecting the capabilities of a forge', () => {
  let server: BareServer;
  afterEach(() => server.close());

  async function askWith(answers: Readonly<Record<string, unknown>>) {
    server = await startBareServer((request, reply) => {
      const answer = answers[request.path.replace('/api/v1', '')];
      json(reply, answer ?? { message: 'not found' }, answer === undefined ? 404 : 200);
    });
    const client = createClient({ url: server.url });
    return { found: await findCapabilities(client), client };
  }

  it('takes one request if the version is shown', async () => {
    const { found, client } = await askWith({ '/version': { version: '1.26.3' } });

    expect(found.has.hook_names).toBe(true);
    expect(found.has.bypass_allowlist).toBe(false);
    expect(client.requests).toBe(1);
  });

  it('distinguishes Gitea and Forgejo by their settings if the version is hidden', async () => {
    const settings = { max_response_items: 50, default_paging_num: 30 };
    const forgejo = await askWith({ '/version': { version: 'hidden' }, '/settings/api': settings });
    await server.close();
    const gitea = await askWith({
      '/version': { version: 'hidden' },
      '/settings/api': { ...settings, default_max_response_size: 104_857_600 },
    });

    expect(forgejo.found.has.apply_to_admins).toBe(true);
    expect(gitea.found.has.apply_to_admins).toBe(false);
    expect(gitea.found.has.hook_names).toBe(true);
  });

  it.each([
    ['1.27.0', true],
    ['v1.22.6', true],
    ['15.0.3+gitea-1.22.0', true],
    ['13.0.2', false],
    ['2.0.0', false],
    ['development', false],
    ['15.0.3-gitea-1.22.0', false],
    ['', false],
  ])('is certain about %j: %s', async (version, expected) => {
    const { found } = await askWith({ '/version': { version }, '/settings/api': { max_response_items: 50 } });

    expect(found.isCertain).toBe(expected);
  });

  it('recognizes a Forgejo release by its number alone', async () => {
    const { found } = await askWith({ '/version': { version: '13.0.2' }, '/settings/api': {} });

    expect(found.has.apply_to_admins).toBe(true);
    expect(found.version).toBe('13.0.2');
  });

  it('happens once for all clients that share a connection, and again after an outage', async () => {
    let version: string | undefined = '1.26.3';
    server = await startBareServer((_request, reply) => {
      if (version === undefined) reply.destroy();
      else json(reply, { version });
    });
    const client = createClient({ url: server.url, sleep: async () => {} });
    const counted = client.counted();
    await counted.capabilities();
    await counted.capabilities();
    expect((await client.counted().capabilities()).has.bypass_allowlist).toBe(false);
    expect(server.requests).toHaveLength(1);

    version = undefined;
    await expect(counted.call(operations.getVersion, {})).rejects.toMatchObject({
      code: 'forge-unreachable',
    });
    version = '1.27.0';

    expect((await counted.capabilities()).has.bypass_allowlist).toBe(true);
  });

  it('falls back to the safe capabilities if the forge shows no version', async () => {
    await expect(askWith({})).rejects.toMatchObject({ code: 'settings' });
    const client = createClient({ url: server.url });

    expect(await client.capabilities()).toMatchObject({ isCertain: false });
  });

  it('fails for a URL without an API', async () => {
    await expect(askWith({})).rejects.toMatchObject({ code: 'settings' });
  });
});
