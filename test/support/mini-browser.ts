/** Page as a browser without scripts sees it. */
export type BrowserPage = { readonly url: string; readonly status: number; readonly text: string };

/** Keeps cookies by origin, follows redirects and submits forms: the browser features that sign-in needs. */
export interface MiniBrowser {
  go(url: string): Promise<BrowserPage>;
  /** Submits the form of a page whose target path ends in `action`, with its hidden fields and the given fields. */
  submit(page: BrowserPage, action: string, fields?: Readonly<Record<string, string>>): Promise<BrowserPage>;
  /** Returns the cookies that the browser would send to an address. */
  cookiesOf(url: string): string;
}

/** Opens a new browser without history or cookies. */
export function openMiniBrowser(): MiniBrowser {
  const jars = new Map<string, Map<string, string>>();
  const cookiesOf = (url: string): string =>
    [...(jars.get(new URL(url).origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');

  const ask = async (url: string, body?: URLSearchParams, hops = 0): Promise<BrowserPage> => {
    const cookie = cookiesOf(url);
    const answer = await fetch(url, {
      ...(body ? { method: 'POST', body } : {}),
      headers: cookie ? { cookie } : {},
      redirect: 'manual',
    });
    const jar = jars.get(new URL(url).origin) ?? new Map<string, string>();
    jars.set(new URL(url).origin, jar);
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...flags] = line.split(';');
      const [name = '', ...value] = pair.split('=');
      if (flags.some((flag) => /max-age=0\b/i.test(flag))) jar.delete(name.trim());
      else jar.set(name.trim(), value.join('='));
    }
    const location = answer.headers.get('location');
    if (location !== null && hops < 10) return ask(new URL(location, url).href, undefined, hops + 1);
    return { url, status: answer.status, text: await answer.text() };
  };

  return {
    go: (url) => ask(url),
    submit(page, action, fields = {}) {
      const forms = [...page.text.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)];
      const [, target = '', inside = ''] = forms.find(([, path = '']) => path.endsWith(action)) ?? [];
      const hidden = [...inside.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
      const values = hidden.map(([, name = '', value = '']) => [name, plain(value)] as [string, string]);
      return ask(new URL(target, page.url).href, new URLSearchParams([...values, ...Object.entries(fields)]));
    },
    cookiesOf,
  };
}

function plain(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#34;', '"')
    .replaceAll('&#43;', '+')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
