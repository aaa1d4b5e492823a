/** Somebody at the dashboard, without a browser: keeps the cookie, follows nothing. */
export type Visitor = {
  /** Asks for a page by its path. */
  get(path: string): Promise<{ status: number; text: string; headers: Headers }>;
  /** Presses the button whose form leads to a path, on the page where it stands. */
  press(page: string, action: string): Promise<{ status: number; location: string | null }>;
};

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
  return {
    get,
    async press(page, action) {
      const { text } = await get(page);
      const found = new RegExp(
        `action="[./]*${action}"><input type="hidden" name="mark" value="(\\w+)"`,
      ).exec(text);
      const answer = await fetch(`${url}/${action}`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams({ mark: found?.[1] ?? '' }),
        redirect: 'manual',
      });
      return { status: answer.status, location: answer.headers.get('location') };
    },
  };
}
