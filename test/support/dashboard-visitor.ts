/** A visitor of the dashboard without a browser: keeps the cookie, follows no redirects. */
export type Visitor = {
  /** Asks for a page by its path. */
  get(path: string): Promise<{ status: number; text: string; headers: Headers }>;
  /** Presses the button whose form leads to a path, on the page where it stands. */
  press(page: string, action: string): Promise<Sent>;
  /** Sends a form with this mark. */
  send(action: string, mark: string): Promise<Sent>;
};

type Sent = { readonly status: number; readonly location: string | null };

/** Signs in with the password and returns who did. */
export async function visitWithPassword(url: string, password: string): Promise<Visitor> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ password }),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`the dashboard answered ${answer.status} to its password`);
  return visitorWith(url, answer.headers.get('set-cookie')?.split(';')[0] ?? '');
}

/** Returns who has this cookie. */
export function visitorWith(url: string, cookie: string): Visitor {
  const get: Visitor['get'] = async (path) => {
    const answer = await fetch(`${url}${path}`, { headers: { cookie }, redirect: 'manual' });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const send: Visitor['send'] = async (action, mark) => {
    const answer = await fetch(`${url}/${action}`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ mark }),
      redirect: 'manual',
    });
    return { status: answer.status, location: answer.headers.get('location') };
  };
  return {
    get,
    send,
    async press(page, action) {
      const { text } = await get(page);
      const form = new RegExp(`action="[./]*${action}"><input type="hidden" name="mark" value="(\\w+)"`);
      return send(action, form.exec(text)?.[1] ?? '');
    },
  };
}
