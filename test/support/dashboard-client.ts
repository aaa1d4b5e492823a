/** Dashboard client without a browser. It keeps the session cookie and does not follow redirects. */
export type DashboardClient = {
  /** Requests a page by its path. */
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; headers: Headers }>;
  /** Presses the button of the page whose form submits to the path `action`, with additional fields. */
  submit(page: string, action: string, fields?: Readonly<Record<string, string>>): Promise<Sent>;
  /** Presses a button like `submit`, and returns the resulting page. */
  show(
    page: string,
    action: string,
    fields?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }>;
  /** Submits a form with this form token and additional fields. */
  post(action: string, mark: string, fields?: Readonly<Record<string, string>>): Promise<Sent>;
};

type Sent = { readonly status: number; readonly location: string | null };

/** Signs in with the password and returns the signed-in client. */
export async function signInWithPassword(url: string, password: string): Promise<DashboardClient> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ password }),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`the dashboard answered ${answer.status} to its password`);
  return createDashboardClient(url, answer.headers.get('set-cookie')?.split(';')[0] ?? '');
}

/** Returns a client with this cookie. */
export function createDashboardClient(url: string, cookie: string): DashboardClient {
  const get: DashboardClient['get'] = async (path, headers) => {
    const answer = await fetch(`${url}${path}`, { headers: { ...headers, cookie }, redirect: 'manual' });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const sendForm = (action: string, mark: string, fields: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/${action}`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ ...fields, mark }),
      redirect: 'manual',
    });
  const send: DashboardClient['post'] = async (action, mark, fields) => {
    const answer = await sendForm(action, mark, fields);
    return { status: answer.status, location: answer.headers.get('location') };
  };
  const markOf = async (page: string, action: string): Promise<string> => {
    const { text } = await get(page);
    const form = new RegExp(`action="[./]*${action}"><input type="hidden" name="mark" value="(\\w+)"`);
    return form.exec(text)?.[1] ?? '';
  };
  return {
    get,
    post: send,
    async submit(page, action, fields) {
      return send(action, await markOf(page, action), fields);
    },
    async show(page, action, fields) {
      const answer = await sendForm(action, await markOf(page, action), fields);
      return { status: answer.status, text: await answer.text() };
    },
  };
}
