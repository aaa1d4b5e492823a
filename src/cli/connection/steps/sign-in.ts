import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import type { OAuth2Application } from '../../../contract/resources/oauth2.ts';
import { redirectUri } from '../../../server/dashboard/sign-in/forge-sign-in.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { type Finding, ok, wrong } from '../finding.ts';

const applicationName = 'Reeve';

type SignInSettings = Settings['signIn'];

/** Returns Reeve’s OAuth2 application among the applications of the account. */
export async function findApplication(
  client: Client,
  signIn: SignInSettings,
): Promise<OAuth2Application | undefined> {
  let named: OAuth2Application | undefined;
  for await (const application of client.items(operations.listOAuth2Applications, {})) {
    if (application.client_id === signIn?.clientId) return application;
    if (application.name === applicationName) named ??= application;
  }
  return named;
}

/** Returns the problem of the application for sign-in; undefined if there is none. */
export function faultOf(
  application: OAuth2Application | undefined,
  dashboard: string,
  signIn: SignInSettings,
): string | undefined {
  if (application === undefined) return 'there is none';
  if (signIn === undefined) return 'its secret is unknown';
  if (application.client_id !== signIn.clientId) return 'the settings name another one';
  const redirects = application.redirect_uris;
  return redirects.includes(redirectUri(dashboard))
    ? undefined
    : `it redirects to ${redirects.join(', ') || 'nowhere'}`;
}

/** Registers the OAuth2 application for sign-in to the dashboard, or corrects the existing one. */
export async function setUpSignIn(
  client: Client,
  dashboard: string,
  signIn: SignInSettings,
  plan: boolean,
): Promise<{ readonly finding: Finding; readonly signIn?: NonNullable<SignInSettings> }> {
  const application = await findApplication(client, signIn);
  const fault = faultOf(application, dashboard, signIn);
  if (fault === undefined)
    return { finding: ok(`users sign in with the OAuth2 application ${application?.name}`) };
  const what = `the OAuth2 application ${applicationName} ${application ? 'gets a new secret' : 'is registered'} (${fault}); users are redirected to ${redirectUri(dashboard)}`;
  if (plan) return { finding: { state: 'planned', text: what } };
  const body = { name: applicationName, redirect_uris: [redirectUri(dashboard)], confidential_client: true };
  const made = application
    ? await client.call(operations.editOAuth2Application, { params: { id: application.id }, body })
    : await client.call(operations.createOAuth2Application, { body });
  if (!made.client_id || !made.client_secret) {
    return {
      finding: wrong(
        'the forge created an OAuth2 application but returned no secret',
        'delete it on the forge and run the command again',
      ),
    };
  }
  return {
    finding: { state: 'changed', text: what },
    signIn: { clientId: made.client_id, clientSecret: made.client_secret },
  };
}
