import { nameOfScope, type Pause, type PauseScope } from '../../../engine/bounds/pauses.ts';
import { count } from '../../../platform/count.ts';
import { type Html, html } from '../../../platform/http/html.ts';
import { personLink } from '../links.ts';
import type { PageRequest } from '../page-handler.ts';

/** Maximum number of pauses on the overview; `reeve pause` prints all. */
const shown = 50;

/** Pause of one rule or repository. */
type NamedScope = Exclude<PauseScope, { readonly kind: 'all' }>;

/** Returns a text per active pause, with the button that ends the pause. */
export function pauseLines(
  pauses: readonly Pause[],
  pageRequest: PageRequest,
): readonly { readonly text: Html; readonly action?: Html }[] {
  const lines = pauses.slice(0, shown).map((pause) => describePause(pause, pageRequest, ''));
  const rest = pauses.length - shown;
  return rest > 0
    ? [...lines, { text: html`And ${count(rest, 'more pause')}; <code>reeve pause</code> prints all.` }]
    : lines;
}

/** Returns the menu that pauses all writes, a rule or a repository. It opens without a script. */
export function pauseMenu(pauses: readonly Pause[], pageRequest: PageRequest): Html {
  const isWhole = pauses.some(({ scope }) => scope.kind === 'all');
  const all = isWhole
    ? undefined
    : pageRequest.button('pauses', 'Pause all writes', hiddenFields({ kind: 'all' }));
  const field = html`<label>Rule or OWNER/REPO <input name="name" required autocomplete="off"></label> `;
  return html`<details class="menu"><summary class="button">Pause</summary><div>
<p>A pause stops writes, starting with the next request. Deliveries are kept and run after the pause.</p>
${all}${pageRequest.button('pauses', 'Pause its writes', field)}</div></details>`;
}

/**
 * Returns the pauses of a rule or repository with the buttons that end them; without a pause, the button that starts
 * one.
 */
export function pauseControl(
  scope: NamedScope,
  pauses: readonly Pause[],
  pageRequest: PageRequest,
  back: string,
): Html {
  if (pauses.length > 0)
    return html`${pauses.map((pause) => {
      const { text, action } = describePause(pause, pageRequest, back);
      return html`<div>${text} ${action}</div>`;
    })}`;
  const { kind, name } = scope;
  return pageRequest.button('pauses', `Pause ${kind} ${name}`, hiddenFields({ kind, name, back }));
}

function describePause(
  { scope, at, by }: Pause,
  pageRequest: PageRequest,
  back: string,
): { readonly text: Html; readonly action: Html } {
  const { kind } = scope;
  const { time, forgeUrl } = pageRequest;
  const what = kind === 'all' ? 'all writes' : `${kind} ${scope.name}`;
  const fields = hiddenFields({ kind, name: nameOfScope(scope), back });
  return {
    text: html`Paused: ${what}, since ${time(at)} by ${personLink(forgeUrl, by)}`,
    action: pageRequest.button('pauses/end', `Resume ${what}`, fields),
  };
}

function hiddenFields(fields: Readonly<Record<string, string>>): Html {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}
